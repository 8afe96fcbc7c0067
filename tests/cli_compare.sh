#!/usr/bin/env bash
# Backends compared, and what is said while it takes. Usage: cli_compare.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
two=(uniform:n=600 --device cpu --gemm 'naive,tiled' --block-size 64)

expect 0 'the median of 5 runs in turns' "${two[@]}"
expect 0 'one run;' "${two[@]}" --repeat 1 --warmup 0
expect 0 'one panel holds the matrix' uniform:n=20 --device cpu --gemm naive,tiled
expect 5 '--matrix spd is for Cholesky' compare -f cholesky --n 32 --gemm tiled
"$lasolve" compare -f cholesky --n 32,48 --device cpu --gemm tiled,naive,packed --unverified --repeat 1 >table 2>said
holds 'what a matrix is not is said for each backend' [ "$(cat table said | grep -c 'spd is for Cholesky')" = 1 ]
holds 'not all are named' grep -q '^lasolve: tiled, naive, packed in fp64 at n = 32, 48: ' said
holds 'a row does not say it in brief' [ "$(grep -c ' FAIL: not positive definite$' table)" = 6 ]
expect 5 'or assume it (--assume-suitable); --matrix diagdom is so' compare -f lu-nopivot --n 32 --device cpu --gemm tiled --unverified
expect 0 'PASS' compare -f lu-nopivot --n 32 --device cpu --gemm tiled --unverified --repeat 2 --assume-suitable
"$lasolve" "${two[@]}" --json runs.json >table
holds 'backends are not run five times' [ "$(grep -c '"runs": 5' runs.json)" = 2 ]
seconds=$(sed -n '/^gemm /,/^factor s/p' table | sed '1d;$d' | awk '{print $3}')
holds 'the table is not sorted by time' sort -n -c <<<"$seconds"
holds 'the slowest is not the measure' grep -q ' 1\.00 x ' table
holds 'there is no spread' grep -qE ' x +[0-9]+ % ' table
holds 'a note of all is said more than once' \
  [ "$("$lasolve" spd:n=60 --triangle upper --factorization auto --device cpu --gemm naive,tiled,coalesced | grep -c '^note')" -le 1 ]
expect 4 'singular' <(printf '1 2\n2 4\n') --device cpu --gemm naive,tiled

# Progress is for a terminal, from the first second on, and --quiet silences it.
if command -v script >/dev/null; then
  script -qec "'$lasolve' uniform:n=1900 --device cpu --threads 1 --gemm naive --no-condition" /dev/null >terminal
  holds 'a terminal sees no progress' grep -qE 'solving: [0-9]+ %, [0-9]+ (s|min) left; factoring' terminal
  script -qec "'$lasolve' uniform:n=1000 --device cpu --threads 1 --gemm naive,tiled --repeat 4" /dev/null >terminal
  holds 'the runs are not counted' grep -qE 'solving with (naive|tiled) \(run [0-9]+ of 10\): [0-9]+ %' terminal
  "$lasolve" generate uniform:n=1200 -o rhs.npy
  script -qec "'$lasolve' spd:n=1200 --rhs rhs.npy --device cpu --threads 1 --gemm naive --output x.mtx" /dev/null >terminal
  holds 'nothing is said while it is solving' grep -q '; solving with the factors' terminal
  script -qec "'$lasolve' uniform:n=1900 --device cpu --threads 1 --gemm naive --no-condition --quiet" /dev/null >terminal
  holds '--quiet does not silence progress' [ ! -s terminal ]
fi
holds 'progress goes to what is no terminal' [ -z "$("$lasolve" uniform:n=1900 --device cpu --threads 1 --gemm naive --no-condition 2>&1 >/dev/null)" ]
exit "$failed"
