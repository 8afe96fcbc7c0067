#!/usr/bin/env bash
# The tool with a GPU for each of several processes, by cuSOLVERMp. Usage: cuda_engine.sh LASOLVE DATA
# shellcheck source=tests/cli_ranks.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_ranks.sh"

command -v mpirun >/dev/null || { echo 'skipped: there is no mpirun'; exit 77; }
said=$("$lasolve" uniform:n=5 --engine cusolvermp 2>&1)
nowhere=${LASOLVE_CUSOLVERMP:-}${VIRTUAL_ENV:-} # else what it cannot load is a failure
if [[ $said == *'is not in this build'* || $said == *'finds no GPU'* || (-z $nowhere && $said == *'cannot load'*) ]]; then
  echo "skipped: $said"
  exit 77
fi
gpus=$(nvidia-smi -L | wc -l)

# rcond FILE: that of a report, as a number.
rcond() { sed -En 's/^ *"rcond": ([-+.0-9e]+),$/\1/p' "$1"; }

"$lasolve" generate uniform:n=331,seed=3 -o A.npy
"$lasolve" generate uniform:n=331,seed=4 -o B.txt
cut -d ' ' -f 1-3 B.txt >B3.txt
"$lasolve" generate spd:n=297 -o spd.mtx
printf '%s\n2 2\n1\n2\n2\n4\n' "$array" >singular.mtx
printf '%s\n2 2\n1\n2\n2\n1\n' "$array" >indefinite.mtx
"$lasolve" A.npy -b B3.txt --device cpu -q -o plain.txt --json plain.json
"$lasolve" A.npy -b B3.txt -t --device cpu -q -o transposed.txt

for ranks in 1 2 4; do
  ((ranks <= gpus)) || break
  on=(--engine cusolvermp --ranks "$ranks")
  grid=$(((ranks + 2) / 3)) # 1 × 1, 1 × 2, 2 × 2

  # Files and generators, right-hand sides of them, plain and transposed; the condition takes solves of both.
  expect 0 passed A.npy -b B3.txt -o several.txt --json report.json --block-size 32 "${on[@]}"
  also "$ranks rank"
  also "in a grid of $grid x "
  also 'LU with partial pivoting in fp64'
  also '3 columns'
  same plain.txt several.txt
  holds "JSON lacks the engine's version" grep -Eq '"version": "cuSOLVERMp [0-9.]+ with NCCL [0-9.]+ and ' report.json
  holds "rcond is $(rcond report.json) with $ranks ranks, and $(rcond plain.json) by the CPU" awk \
    -v a="$(rcond report.json)" -v b="$(rcond plain.json)" 'BEGIN { exit !(a > b / 2 && a < b * 2) }'
  expect 0 passed A.npy -b B3.txt -t -o several.txt --block-size 32 "${on[@]}"
  same transposed.txt several.txt
  expect 0 'the true answer is 1' uniform:n=1500 --in-place "${on[@]}"
  expect 0 'method      Cholesky in fp64' spd.mtx --block-size 32 "${on[@]}"
  also passed

  # fp32, refined; fewer blocks than ranks; rows and columns of very different size.
  expect 0 'refinement classical' uniform:n=700 --precision fp32 --block-size 64 "${on[@]}"
  also 'in fp32'
  expect 0 'Cholesky in fp32' spd:n=700 --precision fp32 --block-size 64 "${on[@]}"
  expect 0 solved uniform:n=1 "${on[@]}"
  expect 0 solved uniform:n=100 "${on[@]}"
  expect 0 'with rows and columns scaled' graded:n=90,bits=200 --block-size 32 "${on[@]}"

  # What cannot be solved ends as with one process.
  expect 4 'column 1' singular.mtx "${on[@]}"
  expect 4 'order 2' indefinite.mtx -f cholesky "${on[@]}"
  expect 0 'LU was used instead of Cholesky' indefinite.mtx "${on[@]}"
  expect 5 'no digit of the solution can be trusted' hilbert:n=100 --block-size 32 -q "${on[@]}"
done

# NVLink multicast stays off, whatever is set.
said=$(NCCL_NVLS_ENABLE=1 NCCL_DEBUG=INFO "$lasolve" uniform:n=300 --engine cusolvermp 2>&1)
also 'NCCL_NVLS_ENABLE set by environment to 0'

expect 2 'takes blocks from 32 x 32 on' uniform:n=50 --block-size 16 --engine cusolvermp
expect 6 'takes a GPU for each rank' uniform:n=5 --engine cusolvermp --ranks $((gpus + 1))
expect 6 'ranks would do' uniform:n=1000000 --in-place --engine cusolvermp

exit $failed
