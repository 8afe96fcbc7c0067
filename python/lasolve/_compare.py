"""What GEMM backends and other recipes are worth in whole solves; backends may be functions of Python's."""

from __future__ import annotations

import itertools
import random
import statistics
import time
from collections.abc import Sequence
from typing import Any

from . import _core
from ._arrays import on_device
from ._gemm import Gemm
from ._solve import solve
from ._table import Table
from ._tool import generate


def backends(device: str = "cpu") -> list[str]:
    """The names of the GEMM backends that can run on "cpu" or "cuda"."""
    return _core.backends(device)


def _name(gemm):
    return gemm if isinstance(gemm, str) else gemm.name


def compare(
    gemm: Sequence[str | Gemm] | None = None, n: int | Sequence[int] = (256, 512, 1024), *, matrix: str = "uniform",
    device: str = "cpu", repeat: int = 5, seed: int = 1, **options: Any,
) -> Table:  # fmt: skip
    """Solve the same systems by several recipes, in turns, and say what each is worth.

    A recipe is a GEMM backend with options. Where an option is a list, each of its values makes a recipe.

    Each runs once before the clock. Then all run in random order, `repeat` times, and medians are told. With verdicts on what is
    faster, and with more backends of the tool, `python -m lasolve compare` does more; it does not know functions of Python's.

    Parameters
    ----------
    gemm : sequence of str or Gemm, optional
        None: all that run on the device. Speed-ups are over the first, with the first value of each option.
    n : int or sequence of int
    matrix : str
        A generator, such as "uniform" or "spd".
    device : {"cpu", "cuda"}
        On CUDA the matrices are torch's or CuPy's, on the device.
    repeat : int
    **options
        As of `solve`, or lists of such values: ``schedule=["right-looking", "crout"]``.

    Returns
    -------
    Table
        n, gemm, each option that is a list, seconds of the whole solve (its median), speedup, spread (of the middle half of the runs, over the median), gflops
        of the factorization, gemm_share of the time and gemm_gflops of the products, backward_error, outcome.

    Raises
    ------
    numpy.linalg.LinAlgError, ValueError
        As `solve`.
    """
    lists = {name: value for name, value in options.items() if isinstance(value, (list, tuple))}
    if empty := [name for name, values in lists.items() if not values]:
        raise ValueError(f"lasolve: {empty[0]} is an empty list")
    gemm = list(gemm or backends(device))
    choices = [dict(zip(lists, values)) for values in itertools.product(*lists.values())]
    contestants = [(g, chosen) for chosen in choices for g in gemm]
    order = random.Random(seed)
    rows = []
    for size in [n] if isinstance(n, int) else n:
        a = generate(matrix, n=size)
        a, b = on_device(device, a, a.sum(axis=1))
        runs = [[] for _ in contestants]
        for turn in range(1 + repeat):
            for c in order.sample(range(len(contestants)), len(contestants)):
                g, chosen = contestants[c]
                report = solve(a, b, gemm=g, device=device, return_report=True, **{**options, **chosen})[1]
                if turn:
                    runs[c].append(report)
                time.sleep(min(report.total_seconds, 0.05))  # rested, so that none pays for the one before
        first = statistics.median(r.total_seconds for r in runs[0])
        rows += [_row({"n": size, "gemm": _name(g), **chosen}, runs[c], first) for c, (g, chosen) in enumerate(contestants)]
    return Table(rows, by=["gemm", *lists])


def _row(what, reports, first):
    reports = sorted(reports, key=lambda r: r.total_seconds)
    seconds, count = statistics.median(r.total_seconds for r in reports), len(reports)
    middle = reports[count // 2]
    gemm_seconds, gemm_flops = middle.phases.get("gemm", 0.0), middle.phase_flops.get("gemm", 0.0)
    return {
        **what,
        "seconds": seconds,
        "speedup": first / seconds,
        "spread": (reports[(3 * count) // 4].total_seconds - reports[count // 4].total_seconds) / seconds,
        "gflops": statistics.median(r.factor_gflops for r in reports),
        "gemm_share": gemm_seconds / middle.total_seconds,
        "gemm_gflops": gemm_flops / gemm_seconds / 1e9 if gemm_seconds else None,
        "backward_error": middle.backward_error,
        "outcome": middle.outcome,
    }
