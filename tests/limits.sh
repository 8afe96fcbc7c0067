#!/usr/bin/env bash
# The tool under limits of memory, threads and processes: it does with less, or says what it lacks, and soon.
# Usage: limits.sh LASOLVE
set -u
lasolve=$1 failed=0
export XDG_CACHE_HOME=/nowhere # what the user has tuned does not count

# expect CODE TEXT COMMAND...: the command ends soon with the code and says the text.
expect() {
  local code=$1 text=$2 said got
  shift 2
  said=$(timeout 60 "$@" 2>&1)
  got=$?
  if [ $got -ne "$code" ] || [[ $said != *"$text"* ]]; then
    printf '%s\n  expected %s and "%s", got %s:\n%s\n' "$*" "$code" "$text" $got "$said"
    failed=1
  fi
}
limited() { # KIB COMMAND...: of address space
  (ulimit -v "$1" && exec "${@:2}")
}
export -f limited
small=(--matrix uniform:n=200 --device cpu)

LD_DEBUG=files "$lasolve" --version 2>&1 | grep -i openblas && echo 'OpenBLAS is loaded where nothing is computed' && failed=1

# The least address space in which the tool starts, in MiB: what its libraries map, which is little but for CUDA's.
least() {
  local below=0 enough=8192 middle
  while ((enough - below > 1)); do
    middle=$(((below + enough) / 2))
    if (limited $((middle * 1024)) timeout 60 "$lasolve" --version >/dev/null 2>&1); then enough=$middle; else below=$middle; fi
  done
  echo "$enough"
}
start=$(least)
# with_mib MIB COMMAND...: with so much more than that.
with_mib() {
  limited $(((start + $1) * 1024)) "${@:2}"
}
export -f with_mib
export start

expect 0 'passed' bash -c 'with_mib 30 "$@"' - "$lasolve" "${small[@]}"
expect 6 'memory' bash -c 'with_mib 30 "$@"' - "$lasolve" --matrix uniform:n=4000 --device cpu
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
"$lasolve" generate uniform:n=2000 --output "$work/A.csv"
for mib in 40 70 100; do # which is too little for the file, its matrix, or the factors
  expect 6 ' free' bash -c "with_mib $mib"' "$@"' - "$lasolve" "$work/A.csv" --device cpu --threads 1
done
if "$lasolve" "${small[@]}" --gemm blas --quiet 2>/dev/null; then
  expect 0 "'packed' was used: 'blas' cannot run here: not enough host memory" bash -c 'with_mib 70 "$@"' - "$lasolve" "${small[@]}"
  expect 6 "'blas' cannot run here: not enough host memory" bash -c 'with_mib 70 "$@"' - "$lasolve" "${small[@]}" --gemm blas
  solvers=(compare --matrix uniform:n=100 --device cpu --gemm naive --baseline-solvers openblas --warmup 0 --repeat 2)
  expect 6 'not enough host memory' bash -c 'with_mib 70 "$@"' - "$lasolve" "${solvers[@]}"
  for mib in 200 400 700; do # enough, or not, for a buffer of each processor, and for one of each thread
    expect 0 'openblas' bash -c "with_mib $mib"' "$@"; [[ $? == [06] ]]' - "$lasolve" "${solvers[@]}"
  done
fi

solvers=(compare --matrix uniform:n=300 --device cpu --gemm packed --unverified --warmup 0 --repeat 2 --baseline-solvers eigen --threads 4)
for mib in 40 90 150 200 300; do # the same for Eigen's threads
  expect 0 '' bash -c "with_mib $mib"' "$@"; [[ $? == [06] ]]' - "$lasolve" "${solvers[@]}"
done

# in_cgroup CONTROLLER FILE VALUE COMMAND...: in a cgroup of our own, where that may be made.
in_cgroup() {
  local group=/sys/fs/cgroup/$1/lasolve-test-$$ file=$2
  if [ ! -e "/sys/fs/cgroup/$1" ]; then
    group=/sys/fs/cgroup/lasolve-test-$$
    [ "$file" != memory.limit_in_bytes ] || file=memory.max
  fi
  mkdir "$group" 2>/dev/null || return 77
  if ! echo "$3" 2>/dev/null >"$group/$file"; then
    rmdir "$group"
    return 77
  fi
  (echo "$BASHPID" >"$group/cgroup.procs" && exec "${@:4}")
  local status=$?
  rmdir "$group"
  return $status
}
export -f in_cgroup
if bash -c 'in_cgroup memory memory.limit_in_bytes 200M true' 2>/dev/null; then
  expect 6 'memory' bash -c 'in_cgroup memory memory.limit_in_bytes 200M "$@"' - "$lasolve" --matrix uniform:n=8000 --device cpu
  expect 0 'passed' bash -c 'in_cgroup memory memory.limit_in_bytes 200M "$@"' - "$lasolve" "${small[@]}"
fi
if bash -c 'in_cgroup pids pids.max 1 true' 2>/dev/null; then
  expect 0 '"threads": 1' bash -c 'in_cgroup pids pids.max 1 "$@"' - "$lasolve" --matrix uniform:n=600 --device cpu --gemm packed --threads 4 --json -
  expect 0 '"threads": 3' bash -c 'in_cgroup pids pids.max 3 "$@"' - "$lasolve" --matrix uniform:n=600 --device cpu --gemm packed --threads 4 --json -
fi
exit $failed
