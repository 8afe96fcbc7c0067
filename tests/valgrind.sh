#!/usr/bin/env bash
# A build for other machines runs on a processor without wide vectors: that of valgrind. Usage: valgrind.sh TOOL DATA LEVELS
set -u
tool=$1 data=$2 levels=$3

skip() { echo "skipped: $1" && exit 77; }
[[ $levels != one_level ]] || skip 'this build is for this machine alone'
command -v valgrind >/dev/null || skip 'there is no valgrind'
exec valgrind --error-exitcode=99 "$tool" --matrix "$data/A.mtx" --device cpu --gemm packed
