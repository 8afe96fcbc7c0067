"""A bar for progress=True: tqdm's where there is tqdm."""

import sys


def bar():
    """A function of the fraction that is done."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _plain
    shown = tqdm(total=100, desc="factoring", unit="%", leave=False)

    def show(fraction):
        shown.update(round(100 * fraction) - shown.n)
        if fraction >= 1:
            shown.close()

    return show


def _plain(fraction):
    done = round(30 * fraction)
    sys.stderr.write(f"\rfactoring [{'#' * done}{'.' * (30 - done)}] {fraction:4.0%}" + ("\n" if fraction >= 1 else ""))
    sys.stderr.flush()
