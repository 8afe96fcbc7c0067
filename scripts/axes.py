"""Axes of the pictures: how large they are, how their scales are written, and the names of lines."""
import math

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import matplotlib.ticker

from colours import COLOURS

WIDTH = 4.4  # inches: on a phone text is as large as that around it
plt.rcParams.update(
    {
        "svg.fonttype": "none",  # text stays text
        "svg.hashsalt": "lasolve",  # the same picture from the same figures
        "font.family": "sans-serif",
        "font.size": 9.5,
        **dict.fromkeys(["text.color", "axes.labelcolor", "xtick.color", "ytick.color"], COLOURS["ink"]),
        "axes.edgecolor": COLOURS["muted"],
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.max_open_warning": 0,
    }
)


def figure_of(lines, names=()):
    """Wider where names beside the axes are long."""
    width = WIDTH + 0.08 * max(0, max(map(len, names), default=0) - 20)
    return plt.subplots(figsize=(width, max(2.2, 1.2 + 0.27 * lines)), layout="constrained")


def legend_above(axes, columns, handle=1.2):
    longest = max(map(len, axes.get_legend_handles_labels()[1]), default=0)
    columns = max(1, min(columns, 72 // (longest + 4)))
    axes.legend(loc="lower left", bbox_to_anchor=(-0.12, 1), ncols=columns, frameon=False, fontsize=8, columnspacing=1, handlelength=handle,
                handletextpad=0.5)


def plain_logarithmic(axis, write="{:g}".format):
    """A scale whose numbers are written out: 20, not 2 × 10¹. Where it is short there are more of them."""
    set_scale = axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale
    low, high = axis.axes.get_xlim() if axis.axis_name == "x" else axis.axes.get_ylim()
    set_scale("log")
    axis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5) if high < 1e3 * low else (1,)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda x, _: write(x)))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def rate(gflops):
    return f"{gflops:g}" if gflops < 1e4 else f"{gflops:,.0f}".replace(",", " ")


def round_seconds(s):
    return f"{1e6 * s:g} µs" if s < 0.999e-3 else f"{1e3 * s:g} ms" if s < 0.999 else f"{s:g} s"


def scales_against_n(axes, sizes, write):
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    plain_logarithmic(axes.yaxis, write)
    axes.set_xticks(sizes[::-(-len(sizes) // 6)], [str(n) for n in sizes[::-(-len(sizes) // 6)]])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlabel("n")
    axes.grid(color=COLOURS["grid"], linewidth=0.6)
    axes.set_axisbelow(True)


def kept_apart(positions, gap, top):
    """The positions, in increasing order, moved as far as it takes: a gap apart, and none above the top."""
    placed = []
    for position in positions:
        placed.append(max(position, placed[-1] + gap) if placed else position)
    return [min(position, top - gap * above) for position, above in zip(placed, reversed(range(len(placed))))]


def name_at_ends(axes, ends, n):
    """At n each line's mark and name, as high as its end is: (y, name, style). All are drawn before, so that the scale is known."""
    low, high = map(math.log, axes.get_ylim())
    line = 0.17 / (axes.figure.get_figheight() - 0.7) * (high - low)  # inches of the figure without the scale below
    ends = sorted(ends, key=lambda end: end[0])
    for (_, name, style), at in zip(ends, kept_apart([math.log(y) for y, _, _ in ends], line, high)):
        axes.plot([n], [math.exp(at)], **style, markersize=4.5, clip_on=False)
        axes.annotate(name, xy=(n, math.exp(at)), xytext=(6, 0), textcoords="offset points", color=style["color"],
                      fontsize=8.5, va="center", annotation_clip=False)
    axes.set_ylim(math.exp(low), math.exp(high))
