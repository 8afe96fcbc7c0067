#!/usr/bin/env bash
# lasolve bench gemm: what it prints, writes and refuses. Usage: cli_bench.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"

bench=(bench gemm --device cpu --n 65 --k 17 --repeat 2 --threads 2)
expect 0 'of ref.' "${bench[@]}" --gemm tiled,coalesced
expect 0 'tiled' bench gemm --device cpu --gemm tiled --shape 67x45x129 --precision fp32
expect 0 '"share_of_reference": 1.0' "${bench[@]}" --gemm auto --json -
expect 0 'fp64,trailing,65,65,17,-1,1,naive,cpu,yes,' "${bench[@]}" --gemm naive --csv -
expect 0 'no CUDA device took part' "${bench[@]}" --gemm naive --copies
expect 0 '--copies' bench --help
expect 0 'fp64,trailing,40,40,9,' bench gemm --device cpu --gemm naive --shape trailing --n 20:40:x2 --k 3:9:6 --repeat 1 --csv -
expect 2 '--k takes BEGIN:END:xFACTOR' bench gemm --k 3:9
expect 0 '' "${bench[@]}" --quiet --json bench.json --csv bench.csv
expect 2 'takes gemm' bench lu
expect 2 'lasolve bench gemm' bench
expect 2 "did you mean '--repeat'" bench gemm --repaet 3
expect 2 "did you mean 'trailing'" bench gemm --shape trialing
expect 2 "did you mean 'tiled'" bench gemm --gemm tilde
expect 2 'not '"'64x64'" bench gemm --shape 64x64
expect 2 'at least 1' bench gemm --n 0
expect 2 '--k is for' bench gemm --shape square --k 3
expect 0 'fp16,trailing,65,65,17,-1,1,naive,cpu,yes,' "${bench[@]}" --gemm naive --precision bf16,fp16 --csv -
expect 2 'at least 1' "${bench[@]}" --patience 0
expect 2 "not 'fp8'" bench gemm --precision fp8
expect 2 'none of these GEMM backends offers tf32' bench gemm --device cpu --gemm packed,eigen --precision fp32,tf32
expect 6 '' bench gemm --device cuda:99
expect 6 'cannot' "${bench[@]}" --json /nowhere/x.json

holds "bench.csv has too few lines" [ "$(wc -l <bench.csv)" -gt 8 ]
if command -v python3 >/dev/null; then holds "bench.json is no JSON" python3 -c 'import json; json.load(open("bench.json"))'; fi
exit $failed
