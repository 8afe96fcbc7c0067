"""The ladder: a bar for each backend, as long as it is fast."""
from report_page import seconds


def shares_of_reference(names, times):
    """Behind each time its part of the rate of what experts made; nothing where they take no part."""
    reference = next((n for n in ("cublas", "blas", "eigen") if n in names), None)
    if not reference:
        return [""] * len(names)
    best = times[names.index(reference)]
    return [f", {100 * best / t:.0f} % of {reference}" if name != reference else "" for name, t in zip(names, times)]


def ladder_bars(axes, names, times, colour):
    """How many of each are done in the time of the slowest; the fastest at the bottom."""
    slowest = max(times)
    shares = shares_of_reference(names, times)
    axes.barh(names, [slowest / t for t in times], color=colour, height=0.7)
    for row, t in enumerate(times):
        axes.annotate(seconds(t) + shares[row], xy=(slowest / t, row), xytext=(4, 0), textcoords="offset points", va="center",
                      fontsize=9)
    axes.set_xlim(0, 1.55 * slowest / min(times))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(f"whole solves, in the time of one with {names[times.index(slowest)]}")
    axes.tick_params(left=False)
    for name in axes.get_yticklabels():
        name.set_family("monospace")
