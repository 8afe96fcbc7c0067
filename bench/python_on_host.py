#!/usr/bin/env python3
"""Calls from Python on the CPU: a small and a large system beside numpy.linalg.solve and scipy.linalg.solve, the import, and the memory that
the large system takes with overwrite_a and without.

    bench/python_on_host.py [--n 4] [--large 4000] [--rounds 300]

Microseconds are the least of the rounds, which take the solvers in turns. Seconds of the large system are the least and the median of nine
turns; each call comes after a rest, until the threads of the library before spin no more. Memory is the growth of the peak of a process in its
call, over the bytes of A.
"""
import argparse
import statistics
import subprocess
import sys
import time

import numpy as np

import lasolve

try:
    import scipy.linalg
except ImportError:
    scipy = None

PEAK = """
import numpy as np, {module}
def peak():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) * 1024
warm = np.eye(600)
{module}.solve(warm, np.ones(600))
a, b = np.empty(({n}, {n}), order="{order}"), np.ones({n})
np.random.default_rng(1).random(out=a if a.flags.c_contiguous else a.T)  # without another array
before = peak()
{module}.solve(a, b{more})
print((peak() - before) / a.nbytes)
"""


def said_by(text):
    return float(subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout)


def least_microseconds(calls, rounds, repeats=200):
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            begin = time.perf_counter()
            for _ in range(repeats):
                call()
            least[name] = min(least[name], 1e6 * (time.perf_counter() - begin) / repeats)
    return least


def seconds_in_turns(calls, turns=9, rest=0.1):
    spent = {name: [] for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            time.sleep(rest)
            begin = time.perf_counter()
            call()
            spent[name].append(time.perf_counter() - begin)
    return {name: (min(its), statistics.median(its)) for name, its in spent.items()}


def beside_numpy(n):
    """A call of ours, and a refined one, in turns with numpy's, of matrices by rows and by columns."""
    for order in "CF":
        a = np.asarray(np.random.default_rng(1).random((n, n)), order=order)
        b = np.ones(n)
        for said, more in (("", {}), (", precision='fp32'", {"precision": "fp32"})):
            seconds = seconds_in_turns({"numpy": lambda: np.linalg.solve(a, b), "lasolve": lambda: lasolve.solve(a, b, **more)})
            (least, median), (their_least, their_median) = seconds["lasolve"], seconds["numpy"]
            print(f"lasolve.solve(a, b{said}), order {order}, n = {n}: {least:.3f} s, {their_least / least:.2f} times as fast as numpy; "
                  f"medians {median:.3f} s, {their_median / median:.2f} times")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=4)
    parser.add_argument("--large", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=300)
    options = parser.parse_args()
    a = np.random.default_rng(1).random((options.n, options.n)) + options.n * np.eye(options.n)
    b = np.ones(options.n)
    calls = {"lasolve": lambda: lasolve.solve(a, b), "numpy": lambda: np.linalg.solve(a, b)}
    if scipy:
        calls["scipy"] = lambda: scipy.linalg.solve(a, b)
    for name, least in least_microseconds(calls, options.rounds).items():
        print(f"{name:8} n = {options.n}: {least:6.2f} us a call")
    beside_numpy(options.large)
    text = "import numpy, time; begin = time.perf_counter(); import lasolve; print(time.perf_counter() - begin)"
    print(f"import lasolve, behind numpy: {1e3 * min(said_by(text) for _ in range(10)):.1f} ms")
    for module in ["lasolve"] + ["scipy.linalg"] * bool(scipy):
        for order in "FC":
            for more in ("", ", overwrite_a=True"):
                grown = said_by(PEAK.format(module=module, n=options.large, order=order, more=more))
                print(f"{module}.solve(a, b{more}), order {order}, n = {options.large}: {grown:.2f} times the bytes of a")


if __name__ == "__main__":
    main()
