#!/usr/bin/env bash
# The drop-in on a CUDA device. Returns 77 where there is none. Usage: on_device.sh LASOLVE PROGRAM-THAT-CALLS-LAPACK
set -uo pipefail
lasolve=$(realpath "$1") program=$(realpath "$2") bad=0
cd "$(mktemp -d)" || exit 1
trap 'rm -rf -- "$PWD"' EXIT
if ! "$lasolve" uniform:n=64 --device cuda --quiet >/dev/null 2>said; then
  cat said
  exit 77
fi

# expect WORDS ARGUMENTS...: of lasolve run, with every system on the device
expect() {
  local said code products
  said=$("$lasolve" run --device cuda --crossover 0 --device-crossover 0 --json caught.json "${@:2}" 2>&1)
  code=$?
  products=$(awk '/"products_of_device"/ { print $2 + 0 }' caught.json)
  [[ $code == 0 && $said == *"$1"* && $products -gt 0 && $said != *'the CPU computes'* ]] || { echo "${*:2}: $code, $products products: $said" && bad=1; }
}

expect 'on cuda:0' -- "$program" large
expect 'by naive on cuda:0' --gemm naive --block-size 5 -- "$program"
said=$("$lasolve" run --device cuda:99 --crossover 0 --device-crossover 0 -- "$program" 2>&1)
[[ $? == 0 && $(grep -c 'the CPU computes what the device cannot' <<<"$said") == 1 ]] || { echo "of cuda:99: $said" && bad=1; }
exit "$bad"
