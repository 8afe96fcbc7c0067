#!/usr/bin/env bash
# lasolve run: what it says and returns. Usage: run.sh LASOLVE PROGRAM-THAT-CALLS-LAPACK
set -uo pipefail
lasolve=$(realpath "$1") program=$(realpath "$2") bad=0
cd "$(mktemp -d)" || exit 1
trap 'rm -rf -- "$PWD"' EXIT

# expect CODE WORDS ARGUMENTS...: of lasolve run
expect() {
  local said code
  said=$("$lasolve" run "${@:3}" 2>&1)
  code=$?
  [[ $code == "$1" && $said == *"$2"* ]] || { echo "run ${*:3}: $code, not $1 and '$2': $said" && bad=1; }
}

expect 0 'products' --crossover 0 -- "$program"
expect 0 'by naive on the CPU' --crossover 0 --gemm naive --block-size 5 -- "$program"
CUDA_VISIBLE_DEVICES='' expect 0 'the CPU computes what the device cannot: no CUDA device' --device cuda --gemm cublas --crossover 0 --device-crossover 0 -- "$program"
CUDA_VISIBLE_DEVICES='' expect 0 'by tiled on the CPU' --device auto --gemm tiled --crossover 0 --device-crossover 0 -- "$program"
expect 2 "did you mean 'cuda'" --device gpu -- true
expect 6 'needs a CUDA device' --gemm cublas -- true
expect 9 'no call of LAPACK was caught' -- true
expect 3 'no call of LAPACK was caught' -- sh -c 'exit 3'
expect 143 '' -- sh -c 'kill $$'
expect 2 "did you mean 'tiled'" --gemm tild -- true
expect 2 'one word too many' true
expect 2 'run takes a program behind --' --crossover 0 --
expect 2 'whole number' --crossover few -- true
expect 6 'cannot run ./nowhere' -- ./nowhere
expect 0 '' -q --crossover 0 --json caught.json -- "$program"
for field in '"exit_code": 0' '"routine": "dgesv"' '"products"'; do
  grep -q "$field" caught.json || { echo "caught.json has no $field" && bad=1; }
done
# A signal that comes to the tool alone ends the program as well.
TMPDIR=$PWD "$lasolve" run -q -- sh -c 'echo $$ >begun; exec sleep 100' 2>/dev/null &
until [ -s begun ] || ! kill -0 $!; do sleep 0.02; done
kill -s TERM $!
wait $!
[[ $? == 143 && ! -d /proc/$(<begun) && -z $(find . -name 'lasolve-run-*') ]] || { echo 'SIGTERM: its program or its file is left' && bad=1; }
# A word of the environment that makes no sense is said once, and the program runs. With one thread, since OpenBLAS hangs
# in a forked child of a program that it had several in.
said=$(OMP_NUM_THREADS=1 LASOLVE_GEMM=tild LD_PRELOAD=$(dirname -- "$lasolve")/liblasolve_lapack.so "$program" 2>&1)
[[ $(grep -c "did you mean 'tiled'" <<<"$said") == 1 ]] || { echo "of LASOLVE_GEMM: $said" && bad=1; }
exit "$bad"
