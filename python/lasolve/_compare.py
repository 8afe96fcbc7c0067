"""What GEMM backends are worth in whole solves, those that are functions of Python's among them."""

from __future__ import annotations

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
    """Solve the same systems with several GEMM backends, in turns, and say what each is worth.

    Each runs once before the clock. Then all run in random order, `repeat` times, and medians are told. With verdicts on what is
    faster, and with more backends of the tool, `python -m lasolve compare` does more; it does not know functions of Python's.

    Parameters
    ----------
    gemm : sequence of str or Gemm, optional
        The first is the one that speed-ups are over. None: all that run on the device.
    n : int or sequence of int
    matrix : str
        A generator, such as "uniform" or "spd".
    device : {"cpu", "cuda"}
        On CUDA the matrices are torch's or CuPy's, on the device.
    repeat : int
    **options
        As of `solve`.

    Returns
    -------
    Table
        n, gemm, seconds of the whole solve (its median), speedup, spread (of the middle half of the runs, over the median), gflops
        of the factorization, gemm_share of the time and gemm_gflops of the products, backward_error, outcome.

    Raises
    ------
    numpy.linalg.LinAlgError, ValueError
        As `solve`.
    """
    contestants = list(gemm or backends(device))
    order = random.Random(seed)
    rows = []
    for size in [n] if isinstance(n, int) else n:
        a = generate(matrix, n=size)
        a, b = on_device(device, a, a.sum(axis=1))
        runs = {_name(g): [] for g in contestants}
        for turn in range(1 + repeat):
            for g in order.sample(contestants, len(contestants)):
                report = solve(a, b, gemm=g, device=device, return_report=True, **options)[1]
                if turn:
                    runs[_name(g)].append(report)
                time.sleep(min(report.total_seconds, 0.05))  # rested, so that none pays for the one before
        first = statistics.median(r.total_seconds for r in runs[_name(contestants[0])])
        rows += [_row(size, name, reports, first) for name, reports in runs.items()]
    return Table(rows)


def _row(n, name, reports, first):
    reports = sorted(reports, key=lambda r: r.total_seconds)
    seconds, count = statistics.median(r.total_seconds for r in reports), len(reports)
    middle = reports[count // 2]
    gemm_seconds, gemm_flops = middle.phases.get("gemm", 0.0), middle.phase_flops.get("gemm", 0.0)
    return {
        "n": n,
        "gemm": name,
        "seconds": seconds,
        "speedup": first / seconds,
        "spread": (reports[(3 * count) // 4].total_seconds - reports[count // 4].total_seconds) / seconds,
        "gflops": statistics.median(r.factor_gflops for r in reports),
        "gemm_share": gemm_seconds / middle.total_seconds,
        "gemm_gflops": gemm_flops / gemm_seconds / 1e9 if gemm_seconds else None,
        "backward_error": middle.backward_error,
        "outcome": middle.outcome,
    }
