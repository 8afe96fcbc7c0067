#!/usr/bin/env python3
"""Whole calls from Python on a CUDA device: lasolve.solve beside torch.linalg.solve and cupy.linalg.solve, for Cholesky beside
torch's cholesky and cholesky_solve. Columns of `baseline_solvers --whole-call` are those of the C++ library.

    bench/python_calls.py [--n 256,1024] [--nrhs 1] [--from-host] [--by-columns] [--rounds 5]

Milliseconds by the wall clock, the median of the rounds, in turns, in fp64, as there: each round repeats small calls for 10 ms, in
another order, after a rest of one call, and the first does not count. What cannot be imported is left out. --by-columns: A lies in memory
by columns, as in C++.
"""
import argparse
import random
import statistics
import time

import torch

try:
    import lasolve
except ImportError:
    lasolve = None
try:
    import cupy
except ImportError:
    cupy = None


def by_torch(method, A, B):
    if method == "lu":
        return torch.linalg.solve(A, B)
    return torch.cholesky_solve(B, torch.linalg.cholesky(A))


def by_cupy(method, A, B):
    return torch.from_dlpack(cupy.linalg.solve(cupy.from_dlpack(A), cupy.from_dlpack(B)))


def by_lasolve(method, A, B):
    return lasolve.solve(A, B, factorization=method)


def by_lasolve_bare(method, A, B):
    return lasolve.solve(A, B, factorization=method, check=False, check_finite=False, condition=False)


def milliseconds(call):
    calls, begin = 0, time.perf_counter()
    while calls == 0 or time.perf_counter() - begin < 0.01:
        call()
        calls += 1
    return 1e3 * (time.perf_counter() - begin) / calls


def a_round(calls):
    took = {}
    for name in random.sample(list(calls), len(calls)):
        took[name] = milliseconds(calls[name])
        time.sleep(min(0.1, 1e-3 * took[name]))
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="64,128,256,512,1024,2048,4096,8192,16384")
    parser.add_argument("--nrhs", type=int, default=1)
    parser.add_argument("--from-host", action="store_true")
    parser.add_argument("--by-columns", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for n in map(int, options.n.split(",")):
        A = torch.rand(n, n, dtype=torch.float64) * 2 - 1
        B = torch.rand(n, options.nrhs, dtype=torch.float64)
        for method in "lu", "cholesky":
            system = A if method == "lu" else (A + A.T) / 2 + 2 * n * torch.eye(n, dtype=torch.float64)
            if options.by_columns:
                system = system.T.contiguous().T
            there = system.cuda(), B.cuda()
            solvers = {"torch": by_torch}
            if cupy and method == "lu":
                solvers["cupy"] = by_cupy
            if lasolve:
                solvers |= {"lasolve": by_lasolve, "lasolve, bare": by_lasolve_bare}

            def call_of(solve):
                def from_host():
                    return solve(method, system.cuda(), B.cuda()).cpu()

                def on_device():
                    X = solve(method, *there)
                    if solve not in (by_lasolve, by_lasolve_bare):  # which return when X is there, as in C++
                        torch.cuda.synchronize()
                    return X

                return from_host if options.from_host else on_device

            calls = {name: call_of(solve) for name, solve in solvers.items()}
            for name, call in calls.items():
                residual = (system @ call().cpu() - B).abs().max().item()
                if not residual < 1e-9 * n:
                    raise SystemExit(f"{name}: the solution is not accurate: {residual}")
            rounds = [a_round(calls) for _ in range(options.rounds + 1)][1:]
            medians = {name: statistics.median(r[name] for r in rounds) for name in calls}
            print(f"{n:>7} {method:<9}fp64  {options.nrhs:>4} rhs  "
                  + "  ".join(f"{name} {ms:.4f} ms" for name, ms in medians.items()), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
