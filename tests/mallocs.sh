#!/usr/bin/env bash
# The tool when an allocation fails, whichever it is: it ends well, or with exit status 6, and leaves nothing half-written.
# Usage: mallocs.sh LASOLVE SHIM [SAMPLES]: so many of the allocations of each command line; 0: every one.
set -u
lasolve=$1 shim=$2 samples=${3:-12} failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work/cache
export CUDA_VISIBLE_DEVICES= # the driver of a card crashes where an allocation of its own fails
mkdir in out

# run VARIABLE ARGUMENTS...: the tool with the shim, told what to do by a variable of the environment. It writes to out/.
run() {
  rm -rf out
  mkdir out
  timeout 300 env LD_PRELOAD="$shim" "$1" "$lasolve" "${@:2}" >said 2>&1 </dev/null
}

# try WHEN ARGUMENTS...: with the allocation(s) that fail.
try() {
  run "LASOLVE_FAIL_MALLOC=$1" "${@:2}"
  local status=$? left
  left=$(find out -type f ! -name 'x.*' -printf '%f ')
  if [[ ($status != 0 && $status != 6) || -n $left ]]; then
    printf 'lasolve %s\n  without allocation %s: exit status %s, left behind: %s\n' "${*:2}" "$1" "$status" "$left"
    head -c 500 said | sed 's/^/    /'
    failed=1
  fi
}

# every_allocation ARGUMENTS...
every_allocation() {
  local count k step
  if ! run "LASOLVE_COUNT_MALLOCS=$work/count" "$@"; then
    printf 'lasolve %s\n  fails where all allocations are made:\n' "$*"
    sed 's/^/    /' said
    failed=1
    return
  fi
  read -r count <count
  step=$((samples == 0 ? 1 : (count + samples - 1) / samples))
  # A sample that begins elsewhere for each command line, so that all together see much of what they share. In it one allocation fails,
  # or all from it on, in turns.
  for ((k = samples == 0 ? 1 : 1 + (started++ * 7) % step; k <= count; k += step)); do
    if ((samples == 0 || ++tried % 2 == 1)); then try "$k" "$@"; fi
    if ((samples == 0 || tried % 2 == 0)); then try "$k+" "$@"; fi
  done
  echo "$count allocations: lasolve $*"
}
# sparsely ARGUMENTS...: a command line that takes seconds each time, of which the others do all but the last part.
sparsely() {
  local samples=$(((samples + 3) / 4)) # 0 stays: every one
  every_allocation "$@"
}
started=0 tried=0

"$lasolve" generate uniform:n=150 --output in/a.mtx
"$lasolve" generate spd:n=200 --output in/s.npy
"$lasolve" generate uniform:n=90 --output in/a.mtx.gz
printf '%%%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 4\n2 2 5\n3 3 6\n2 1 1\n' >in/c.mtx
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n' >in/b.mtx
printf '4,1,0\n1,5,0\n0,0,6\n' >in/c.csv
gzip -k in/c.csv

cpu=(--device cpu --threads 2)
every_allocation --version
every_allocation --help
every_allocation list
every_allocation --matrix in/a.mtx "${cpu[@]}" --output out/x.mtx --json out/x.json
every_allocation --matrix in/s.npy "${cpu[@]}" --output out/x.npy --json -
every_allocation --matrix in/a.mtx.gz "${cpu[@]}" --gemm packed --precision fp32 --output out/x.mtx.gz
every_allocation --matrix in/c.mtx --rhs in/b.mtx "${cpu[@]}" --output out/x.npy.gz
every_allocation in/c.csv --rhs in/b.mtx "${cpu[@]}"
every_allocation in/c.csv.gz "${cpu[@]}" --output out/x.tsv
every_allocation help --man
every_allocation --matrix uniform:n=300 "${cpu[@]}" --gemm packed --json out/x.json
every_allocation --matrix uniform:n=64 "${cpu[@]}" --gemm all --repeat 2 --quiet --json out/x.json
every_allocation --matrix randsvd:n=100 "${cpu[@]}" --schedule left-looking --transpose
every_allocation --matrix uniform:n=100 "${cpu[@]}" --in-place
every_allocation compare "${cpu[@]}" --n 64,70 --gemm tiled --unverified --repeat 2 --json out/x.json --csv out/x.csv --trace out/x.t
sparsely compare "${cpu[@]}" --n 64 --gemm tiled --unverified --repeat 2 --attribution --json out/x.json # which measures the machine
"$lasolve" tune "${cpu[@]}" --n 64 --gemm tiled --quiet # which the next reads
every_allocation --matrix uniform:n=64 "${cpu[@]}" --json out/x.json
every_allocation list --tuned
every_allocation generate bem:n=100 --output out/x.mtx.gz --threads 2
sparsely bench gemm --device cpu --gemm tiled,packed --shape 67x45x129 --repeat 2 --threads 2 --json out/x.json --csv out/x.csv # which tries them
exit $failed
