#!/usr/bin/env bash
# How the project is built: by what CONTRIBUTING.md says, with toolkits that are too old, and by the scripts, which meet a cmake,
# a ninja and an nvidia-smi of ours. Usage: building.sh SOURCES
set -u
sources=$1 failed=0
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
unset CUDACXX CXX CODE PRESET LASOLVE_CMAKE_ARGS

# expect MESSAGE COMMAND...: the command succeeds, or the message and the log are shown.
expect() {
  if ! "${@:2}"; then
    echo "$1"
    sed 's/^/  /' "$work/log"
    failed=1
  fi
}
# program NAME: makes an executable of standard input, that is found first.
program() { (echo '#!/bin/bash'; cat) >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
mkdir "$work/bin" "$work/tree"
tar -C "$sources" --exclude='./build*' --exclude=./.git --exclude=./out -cf - . | tar -C "$work/tree" -xf -
cd "$work/tree" || exit 1
logged() { "$@" >"$work/log" 2>&1; }

# CONTRIBUTING.md's commands and presets, each from a clean tree; ninja is only asked what it would do.
real=$(command -v cmake)
program cmake <<<'case $* in --build*) dry=(-- -n) ;; esac; exec '"$real"' "$@" "${dry[@]}"'
section=$(sed -n '/^## Build and test/,/^## Measure/p' CONTRIBUTING.md)
commands=$(sed -n 's/^    \(cmake .*[^ ]\) *#.*/\1/p; s/^| `\([a-z]*\)` | `build.*`\(-D[^`]*\)`.*/cmake --preset \1 \2 \&\& cmake --build --preset \1/p
  s/^| `\([a-z]*\)` | `build.*/cmake --preset \1 \&\& cmake --build --preset \1/p' <<<"$section" | sort -u)
expect 'CONTRIBUTING.md has no commands' [ -n "$commands" ]
while read -r command; do
  rm -rf build*
  expect "CONTRIBUTING.md builds nothing: $command" grep -q -e '--build' <<<"$command"
  expect "CONTRIBUTING.md: $command" logged env PATH="$work/bin:$PATH" bash -c "$command"
done <<<"$commands"
rm -rf build* "$work/bin/cmake"

# Toolkits.
program nvcc <<<'echo "Cuda compilation tools, release $NVCC_VERSION, V$NVCC_VERSION.1"; [ "$1" = --version ]'
export CUDACXX=$work/bin/nvcc
for version in 11.8 12.4; do
  words="a CUDA toolkit of 12.5 or later is needed, and $CUDACXX is of $version"
  export NVCC_VERSION=$version
  expect "AUTO with nvcc $version" logged cmake --preset release -DLASOLVE_CUDA=AUTO
  expect "AUTO does not say: $words" grep -q "^-- No CUDA: $words; this is a CPU build" "$work/log"
  expect 'AUTO has CUDA' [ -z "$(grep -l '\.cu\.o' build/build.ninja)" ]
  expect "ON is no error with nvcc $version" eval '! logged cmake --preset release -DLASOLVE_CUDA=ON'
  expect "ON does not say: $words" eval 'tr -s " \n" " " <"$work/log" | grep -q "LASOLVE_CUDA is ON, but $words"'
done
NVCC_VERSION=99.0 expect 'AUTO with an nvcc that does not compile' logged cmake --preset release -DLASOLVE_CUDA=AUTO
expect 'AUTO does not say that nvcc does not compile' grep -q "and $CUDACXX does not compile here" "$work/log"
rm -rf build
unset CUDACXX

# The scripts.
: >scripts/packages.txt
: >scripts/test-packages.txt
program cmake <<'E2'
echo "-- No such thing"
echo "$*" >>cmake.log
mkdir -p build && touch build/build.ninja
E2
program ninja <<'E2'
for k in 1 2 3 4 5 6 7 8; do echo "[$k/8] Building $k"; done
[ ! -e stuck ] || { trap 'echo interrupted >ended; exit 2' INT; touch begun; sleep 20 & wait; }
[ ! -e broken ] || { echo 'FAILED: it is broken'; exit 1; }
printf '#!/bin/bash\necho "solved $*"\n' >build/lasolve
chmod +x build/lasolve
E2
program ctest </dev/null
no_gpu() { program nvidia-smi <<<'echo "No devices were found"; exit 6'; }
gpu() { program nvidia-smi <<<"printf '%s\n' $*"; }
program nvcc <<<'printf "compute_%s\n" 80 86 90'
solve() { PATH=$work/bin:$PATH scripts/solve "$@"; }
# shellcheck disable=SC2317 # they are called by expect
configured() { [ "$(cat cmake.log 2>/dev/null)" = "$1" ] && rm -f cmake.log; }
# shellcheck disable=SC2120
solve_logged() { logged solve "$@"; }

no_gpu
expect 'scripts/solve' solve_logged --matrix x
expect 'the tool was not run' grep -qx 'solved --matrix x' "$work/log"
expect 'not for the CPU' configured '--preset release -DLASOLVE_CUDA=OFF'
expect 'does not say for whom' grep -q 'for the CPU' "$work/log"
expect 'what CMake says is not passed on' grep -qx 'lasolve: No such thing' "$work/log"
expect 'no progress' grep -qx 'lasolve: building, 4 of 8' "$work/log"
expect 'a line a step' [ "$(grep -c 'building,' "$work/log")" -le 5 ]
expect 'standard output has more than that of the tool' [ "$(solve a 2>/dev/null)" = 'solved a' ]
expect 'configured again' configured ''
gpu 9.0
expect 'scripts/solve' solve_logged
expect 'not for the GPU that has come' configured '--preset release -DLASOLVE_CUDA=AUTO -DLASOLVE_CUDA_ARCHITECTURES=90a-real'
no_gpu
expect 'scripts/solve' solve_logged
expect 'configured again where the GPU is gone' configured ''
gpu 8.6 9.0 8.6
expect 'scripts/solve' solve_logged
expect 'not for both GPUs' configured '--preset release -DLASOLVE_CUDA=AUTO -DLASOLVE_CUDA_ARCHITECTURES=86-real;90a-real'
gpu 12.0
expect 'scripts/solve' solve_logged
expect 'not for a GPU that the toolkit does not know' configured '--preset release -DLASOLVE_CUDA=AUTO -ULASOLVE_CUDA_ARCHITECTURES'
gpu 8.6
expect 'scripts/solve' solve_logged
expect 'configured again for what the build has' configured ''
gpu 7.5
rm -rf build
expect 'scripts/solve' solve_logged
expect 'for a GPU that is too old' configured '--preset release -DLASOLVE_CUDA=OFF'
logged env PATH="$work/bin:$PATH" scripts/test
expect 'scripts/test configures again what is for the CPU' configured ''
rm -rf build
logged env PATH="$work/bin:$PATH" scripts/test
expect 'scripts/test compiles for CUDA without a GPU' configured '--preset release -DLASOLVE_CUDA=OFF'
gpu 8.6
logged env PATH="$work/bin:$PATH" scripts/test
expect 'scripts/test does not compile for the GPU' configured '--preset release -DLASOLVE_CUDA=AUTO -DLASOLVE_CUDA_ARCHITECTURES=86-real'
rm -f build/.code
expect 'scripts/solve' solve_logged
expect 'a build by hand was configured again' configured ''

script -qec "PATH=$work/bin:$PATH scripts/solve" /dev/null >"$work/log" </dev/null
expect 'a terminal: no line that counts' grep -q $'\r.*building, 1 of 8\r.*building, 2 of 8' "$work/log"
touch broken
solve_logged
expect 'a failed build: the code' [ $? = 70 ]
expect 'a failed build: not said' grep -q 'the build failed' "$work/log"
expect 'a failed build: no log' grep -q 'FAILED: it is broken' "$work/log"
rm broken
touch stuck
PATH=$work/bin:$PATH setsid env --default-signal scripts/solve >"$work/log" 2>&1 &
until [ -e begun ] || ! kill -0 $!; do sleep 0.02; done
kill -s INT -- -$! # as a terminal does, to all of them
wait $!
expect 'interrupted: the code' [ $? = 130 ]
expect 'ninja was not interrupted' [ -e ended ]
expect 'interrupted: not quiet' eval '! grep -q "failed\|FAILED\|Terminated" "$work/log"'
exit $failed
