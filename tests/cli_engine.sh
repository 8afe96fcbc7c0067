#!/usr/bin/env bash
# The tool with several processes, by ScaLAPACK. Usage: cli_engine.sh LASOLVE DATA
# shellcheck source=tests/cli_ranks.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_ranks.sh"

expect 2 "did you mean 'scalapack'" uniform:n=5 --engine scalapak
expect 2 '--ranks are of an engine' uniform:n=5 --ranks 2
expect 2 'does not take --gemm' uniform:n=5 --engine scalapack --gemm tiled
expect 2 'takes --precision fp64 or fp32, not tf32' uniform:n=5 --engine scalapack --precision tf32

# Of cuSOLVERMp, what is missing is said: here a library that is none.
mkdir libraries && echo none >libraries/libnccl.so.2
said=$(LASOLVE_CUSOLVERMP=$PWD/none:$PWD/libraries "$lasolve" uniform:n=5 --engine cusolvermp 2>&1)
holds "cuSOLVERMp that is missing ends otherwise: $said" [ $? -eq 6 ]
if [[ $said == *'is not in this build'* ]]; then
  also 'a toolkit of CUDA 13, then cmake once more and the target lasolve_cusolvermp'
else
  also "the engine cusolvermp cannot load $PWD/libraries/libnccl.so.2: "
fi

said=$("$lasolve" uniform:n=5 --engine scalapack 2>&1)
if [[ $said == *'is not in this build'* ]]; then
  holds 'what an engine needs is not said' grep -q libscalapack-openmpi-dev <<<"$said"
  ((failed)) || echo 'skipped: this build has no ScaLAPACK'
  exit $((failed ? 1 : 77))
fi
command -v mpirun >/dev/null || { echo 'skipped: there is no mpirun'; exit 77; }

said=$(PMI_SIZE=2 "$lasolve" uniform:n=5 --engine scalapack 2>&1)
holds "processes of another MPI than the engine's are not told from one process" [ $? -eq 6 ]
also '2 processes were started'

# ranks COUNT CODE TEXT ARGUMENTS...: so many processes end with the code and say the text.
ranks() {
  local count=$1 code=$2 text=$3
  shift 3
  said=$(mpirun -n "$count" "$lasolve" --engine scalapack "$@" 2>&1)
  local got=$?
  if [ $got -ne "$code" ] || [[ $said != *"$text"* || $said == *'lasolve: interrupted'* ]]; then
    printf 'mpirun -n %s lasolve --engine scalapack %s\n  expected %s and "%s", got %s:\n%s\n' "$count" "$*" "$code" "$text" $got "$said"
    failed=1
  fi
}

# once TEXT: what was said last has this text, and one time only.
once() { holds "not said once: $1 in: $said" [ "$(grep -cF -- "$1" <<<"$said")" = 1 ]; }

# A file of each kind, on fewer blocks than ranks and on several, an odd order.
"$lasolve" "$data/A.mtx" -b "$data/b.mtx" --device cpu -q -o one.txt
ranks 4 0 passed "$data/A.mtx" -b "$data/b.mtx" -o several.txt
also '4 ranks in a grid of 2 x 2'
also 'LU with partial pivoting in fp64'
once 'outcome'
same one.txt several.txt
"$lasolve" generate uniform:n=131,seed=3 -o A.npy
"$lasolve" generate uniform:n=131,seed=4 -o B.txt
cut -d ' ' -f 1-3 B.txt >B3.txt
"$lasolve" A.npy -b B3.txt -t --device cpu -q -o one.txt
ranks 2 0 passed A.npy -b B3.txt -t --block-size 16 -o several.txt
also '3 columns'
same one.txt several.txt
"$lasolve" generate spd:n=97 -o spd.mtx
ranks 4 0 'method      Cholesky in fp64' spd.mtx --block-size 8 --json report.json
holds 'JSON lacks the engine' grep -q '"version": "ScaLAPACK [0-9.]* with ' report.json
holds 'JSON lacks the block size' grep -q '"block_size": 8' report.json
holds 'JSON lacks the recipe' grep -q '"executor": "ranks"' report.json
holds 'JSON does not say that the first recipe was taken' grep -q '"recipe": 0' report.json
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 4\n3 3 4\n3 1 1\n' >few.mtx
printf '6\n4\n6\n' >b3.txt
ranks 4 0 '' few.mtx -b b3.txt -q --block-size 1
holds "a symmetric file of coordinates: $said" [ "$(xargs printf '%.9f ' <<<"$said")" = '1.200000000 1.000000000 1.200000000 ' ]

# Precisions, and a matrix that is made again.
ranks 4 0 'refinement classical' uniform:n=150 --precision fp32 --block-size 16 --in-place
also 'the true answer is 1'
expect 0 'in a grid of 1 x 2' uniform:n=64 --engine scalapack --ranks 2 -f lu

# Rows and columns of very different size are judged as by one process.
ranks 4 0 'with rows and columns scaled' graded:n=90,bits=200 --block-size 16
also 'solved'
ranks 3 0 'scaled      rows and columns' graded:n=90,bits=60 --block-size 16 --equilibrate on

# What cannot be solved ends as with one process.
printf '%s\n2 2\n1\n2\n2\n4\n' "$array" >singular.mtx
printf '%s\n2 2\n1\n2\n2\n1\n' "$array" >indefinite.mtx
ranks 2 4 'column 1' singular.mtx -o no.mtx --block-size 1
once 'no solution was written'
holds 'a solution of a singular system was written' [ ! -e no.mtx ]
ranks 2 4 'order 2' indefinite.mtx -f cholesky --block-size 1
ranks 2 0 'LU was used instead of Cholesky' indefinite.mtx --block-size 1 --json report.json
holds 'JSON does not say that the second recipe was taken' grep -q '"recipe": 1' report.json
ranks 2 5 'larger than the HPL check allows' growth:n=120 --refine none --block-size 8
ranks 2 5 'no digit of the solution can be trusted' hilbert:n=100 --block-size 8 -q
once 'no digit'

# What is wrong is said once, also where one rank alone sees it; nothing hangs.
printf '%s\n2 2\n1\n2\n3,5\n4\n' "$array" >comma.mtx
ranks 2 3 'comma.mtx:5:1: error: expected a number' comma.mtx
once 'error:'
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n2 1 1e308\n1 2 1e308\n' >both.mtx
ranks 4 3 'found both' both.mtx --block-size 1
once 'error:'
ranks 2 6 '5 ranks would do' uniform:n=100000
once 'would do'
ranks 2 6 'cannot' uniform:n=5 -o /nowhere/x.mtx
once '/nowhere'
ranks 2 2 'no matrix'
once 'no matrix'
# The first rank speaks, also where it begins last.
printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != 0 ] || sleep 1\nexec "$@"\n' >late.sh
said=$(mpirun -n 3 sh late.sh "$lasolve" --engine scalapack 2>&1)
code=$?
holds "mpirun says $code where the first rank begins late" [ $code -eq 2 ]
once 'no matrix'

ranks 3 2 'leave --ranks out' uniform:n=5 --ranks 2
once 'leave --ranks out'
ranks 2 0 'Solves A X = B' --help
once 'Solves A X = B'
said=$(mpirun -n 2 "$lasolve" uniform:n=5 2>&1)
once '2 processes were started, and each solves all of the system'

# More ranks than blocks, a prime number of them; NaN in the part of one.
ranks 3 0 'solved' uniform:n=1
printf '%s\n3 3\n1\n2\n3\n4\n5\nnan\n7\n8\n10\n' "$array" >nan.mtx
ranks 4 3 'nan.mtx:8:1: error: expected a finite number' nan.mtx --block-size 1
once 'error:'
"$lasolve" convert nan.mtx --allow-nonfinite -o nan.npy
ranks 4 5 'larger than the HPL check allows' nan.npy --block-size 1 --allow-nonfinite

# A rank that is killed ends the others.
mpirun -n 3 "$lasolve" --engine scalapack uniform:n=7000 >killed.txt 2>&1 &
mpirun=$!
for _ in $(seq 100); do
  mapfile -t pids < <(pgrep -P "$mpirun")
  ((${#pids[@]} == 3)) && break
  sleep 0.05
done
sleep 0.5
kill -KILL "${pids[2]}"
wait "$mpirun"
code=$?
holds "mpirun says $code where a rank was killed" [ $code -ne 0 ]
for _ in $(seq 100); do
  grep -qs '^State:.[RSD]' "/proc/${pids[0]}/status" "/proc/${pids[1]}/status" || break # gone, or waited for by nobody
  sleep 0.1
done
holds 'a rank is left' [ -z "$(grep -s '^State:.[RSD]' "/proc/${pids[0]}/status" "/proc/${pids[1]}/status")" ]
holds 'several ranks say that they were interrupted' [ "$(grep -c interrupted killed.txt)" -le 1 ]
holds 'an answer was given by what is left' [ "$(grep -c outcome killed.txt)" = 0 ]

exit $failed
