"""The ladder: a bar for each backend, as long as it is fast."""
from colours import COLOURS
from measured import seconds, three_digits


def ladder_bars(axes, names, times, quartiles, reference, styles, marks):
    """How many times as fast each is as the reference, an index; bars begin at the top. Thin lines span the middle half of the runs.
    A bar is hollow where the marks of its lines are."""
    base = times[reference]
    speeds = [base / t for t in times]
    for row, (speed, style, mark) in enumerate(zip(speeds, styles, marks)):
        bar = axes.barh(row, speed, height=0.66, facecolor=style["markerfacecolor"], edgecolor=style["color"], linewidth=1.2)
        bar[0].set_gid(mark)
        low, _, high = quartiles[row]
        axes.plot([base / high, base / low], [row, row], color=COLOURS["ink"], linewidth=1.2, solid_capstyle="butt")
        axes.annotate(f"{seconds(times[row])}, {three_digits(speed)} ×", xy=(max(speed, base / low), row), xytext=(4, 0),
                      textcoords="offset points", va="center", fontsize=8.5)
    axes.set_yticks(range(len(names)), names, family="monospace")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.5 * max(speeds))
    axes.locator_params(axis="x", nbins=5)
    axes.set_xlabel(f"times as fast as {names[reference]}", loc="center" if len(names[reference]) < 20 else "right")
    axes.tick_params(left=False)
