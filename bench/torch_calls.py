#!/usr/bin/env python3
"""Whole calls of PyTorch beside those of `peers --whole-call`: torch.linalg.solve and, for Cholesky, cholesky and cholesky_solve.

    bench/torch_calls.py [--n 256,1024] [--nrhs 1] [--from-host] [--rounds 5]

Milliseconds by the wall clock, the median of the rounds, in fp64. Each round repeats small calls for 10 ms.
"""
import argparse
import statistics
import time

import torch


def solve(method, A, B):
    if method == "lu":
        return torch.linalg.solve(A, B)
    return torch.cholesky_solve(B, torch.linalg.cholesky(A))


def milliseconds(call, rounds):
    call()
    medians = []
    for _ in range(rounds):
        calls, begin = 0, time.perf_counter()
        while calls == 0 or time.perf_counter() - begin < 0.01:
            call()
            calls += 1
        medians.append(1e3 * (time.perf_counter() - begin) / calls)
    return statistics.median(medians)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", default="64,128,256,512,1024,2048,4096,8192,16384")
    parser.add_argument("--nrhs", type=int, default=1)
    parser.add_argument("--from-host", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for n in map(int, options.n.split(",")):
        A = torch.rand(n, n, dtype=torch.float64) * 2 - 1
        B = torch.rand(n, options.nrhs, dtype=torch.float64)
        for method in "lu", "cholesky":
            system = A if method == "lu" else (A + A.T) / 2 + 2 * n * torch.eye(n, dtype=torch.float64)

            def from_host():
                return solve(method, system.cuda(), B.cuda()).cpu()

            there = system.cuda(), B.cuda()

            def on_device():
                X = solve(method, *there)
                torch.cuda.synchronize()
                return X

            call = from_host if options.from_host else on_device
            residual = (system @ call().cpu() - B).abs().max().item()
            if not residual < 1e-9 * n:
                raise SystemExit(f"the solution is not accurate: {residual}")
            print(f"{n:>7} {method:<9}fp64  {options.nrhs:>4} rhs  torch {milliseconds(call, options.rounds):>11.4f} ms", flush=True)


if __name__ == "__main__":
    main()
