#!/usr/bin/env bash
# Kernels of one's own that are right where they are tried, and not where they are timed. Usage: plugin_kernels_late.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_common.sh"

# The clock: what a library defines is nobody else's.
kernel own_clock 'RIGHT;' '' '#include <time.h>
int clock_gettime(clockid_t id, struct timespec* t) { (void)id; t->tv_sec = t->tv_nsec = 0; return 0; }'
expect 0 'own_clock' "${small[@]}" --gemm ./own_clock.c --json clock.json
holds 'the clock stands' [ "$(grep -c '"total_seconds": 0.0,' clock.json)" = 0 ]

# The state of floating-point numbers is as it was, whatever a kernel did to it: other rows are right, and the kernel is named.
state() { # NAME DEED TEXT INCLUDES
  kernel "$1" "RIGHT; $2" '' "$4"
  expect 5 "$1 on cpu is wrong in fp64: it left $3" "${small[@]}" --gemm "./$1.c"
  kernel "late_$1" "RIGHT; if (!tried && m > 50) { $2 }" '' "$4
$is_tried"
  expect 5 "late_$1: in a solve it left $3" "${small[@]}" --gemm "tiled,./late_$1.c"
  "$lasolve" compare "${larger[@]}" --gemm "packed,./late_$1.c,tiled" >table 2>said
  holds "compare returns $?, not 5, with late_$1" [ $? -eq 5 ]
  holds "late_$1 is not named" grep -q "^150 *late_$1 .*FAIL: in a timed solve it left $3" table
  holds "rows beside late_$1 are not those that they are without it" [ "$(grep -E '^150 +(packed|tiled) ' table | awk '{print $(NF-1)}')" = "$exact" ]
}
exact=$("$lasolve" compare "${larger[@]}" --gemm packed,tiled | grep '^150 ' | awk '{print $(NF-1)}')
state rounds 'fesetround(FE_UPWARD);' 'the rounding mode changed' '#include <fenv.h>'
if [ "$(uname -m)" = x86_64 ]; then
  state flushes '_mm_setcsr(_mm_getcsr() | 0x8040);' 'subnormals flushed to zero' '#include <immintrin.h>'
  kernel fast_math 'RIGHT;' '' '#include <immintrin.h>
__attribute__((constructor)) static void as_fast_math_does(void) { _mm_setcsr(_mm_getcsr() | 0x8040); }'
  expect 0 'note: ./fast_math.c: as it was loaded it left subnormals flushed to zero, which was put back' "${small[@]}" --gemm ./fast_math.c
fi

# Right where it is tried, and wrong where it is timed.
kernel plain 'RIGHT;'
kernel two_faced 'RIGHT; if (!tried && m > 8) C[0] += 1;' '' "$is_tried"
expect 5 'HPL check' "${small[@]}" --gemm ./two_faced.c
expect 5 'FAIL: ' compare "${larger[@]}" --gemm tiled,./two_faced.c
expect 5 'WRONG: C(0, 0) is ' bench gemm --device cpu --gemm ./two_faced.c --precision fp64 --n 30 --repeat 1 --shape square

# One that ends or stops the process in a timed run, or writes where nobody looks, is named. The others are measured without it.
kernel late_crash 'RIGHT; if (!tried && m > 50) *(volatile int*)8 = 0;' '' "$is_tried"
kernel late_exit 'RIGHT; if (!tried && m > 50) exit(0);' '' "$is_tried"
kernel late_loop 'RIGHT; while (!tried && m > 50) ;' '' "$is_tried"
"$lasolve" compare "${few[@]:0:10}" --n 40,100,150 --patience 3 --json late.json \
  --gemm tiled,./late_crash.c,./late_exit.c,./late_loop.c,./plain.c >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'a small size does not have all rows' [ "$(grep -cE '^ *40 .* PASS$' table)" = 5 ]
holds 'rows of right kernels are not whole' [ "$(grep -cE '^1[05]0 +(tiled|plain) .* PASS$' table)" = 4 ]
for why in 'late_crash .*FAIL: in a timed solve it crashed (SIGSEGV: ' \
  'late_exit .*FAIL: in a timed solve it ended its process with code 0' \
  'late_loop .*FAIL: in a timed solve it gave no answer for 3'; do
  holds "compare does not say twice: $why" [ "$(grep -c "$why" table)" = 2 ]
done

# So in a solve, and in bench gemm; there is no result that is none.
for name in late_crash late_exit late_loop; do
  case $name in
    late_crash) how='crashed (SIGSEGV: Segmentation fault)' ;;
    late_exit) how='ended its process with code 0' ;;
    late_loop) how='gave no answer for ' ;;
  esac
  expect 5 "$name: in a solve it $how" "${small[@]}" --gemm "./$name.c" --patience 1
  also 'nothing was solved'
  expect 5 "$name: in a timed product it $how" bench gemm --device cpu --gemm "tiled,./$name.c" --precision fp64 --n 60 \
    --repeat 1 --shape square --patience 1 --json bench.json
  holds "bench gemm has no JSON beside $name" [ "$(grep -c '"right": true' bench.json)" = 2 ]
  rm bench.json
done
"$lasolve" "${small[@]}" --gemm tiled,./late_exit.c --json left.json >table 2>said
holds "a solve returns $?, not 5" [ $? -eq 5 ]
holds 'a solve leaves out what is right' grep -q '^backend     tiled on cpu' table
holds 'a solve has no JSON of what is right' grep -q '"gemm": "tiled"' left.json
expect 0 '' generate uniform:n=90 --output matrix.csv
expect 5 'what was read cannot be read again' - --device cpu --block-size 16 --gemm tiled,./late_exit.c <matrix.csv
expect 5 'late_exit: in a timed solve it ended its process' compare "${few[@]:0:10}" --gemm tiled,./late_exit.c <(cat matrix.csv)
expect 0 'backend     plain on cpu' - --device cpu --block-size 16 --gemm ./plain.c <matrix.csv

# What a kernel prints is no part of a solution.
kernel prints 'RIGHT; printf("a kernel was here\n");' '' '#include <stdio.h>'
printf '%.0s1\n' {1..90} >ones.csv
"$lasolve" matrix.csv --rhs ones.csv --device cpu --gemm ./prints.c >printed 2>said || failed=1
holds 'a solution has what a kernel printed' [ "$(grep -c kernel printed)" = 0 ]
holds 'a solution is not whole' [ "$(wc -l <printed)" = 90 ]
holds 'what a kernel printed is lost' grep -q 'a kernel was here' said

# One that closes what others write to.
kernel closes 'RIGHT; if (!tried && m > 50) for (int i = 0; i < 64; ++i) close(i);' '' "$is_tried"'
#include <unistd.h>'
expect 5 'closes: in a solve it closed standard output' "${small[@]}" --gemm tiled,./closes.c

# running WORDS: how many processes have a command line that begins with these words.
running() {
  local count=0 line file
  for file in /proc/[0-9]*/cmdline; do
    line=$({ tr '\0' ' ' <"$file"; } 2>/dev/null) # it may have ended meanwhile
    [[ $line == "$1"* && $(readlink "${file%cmdline}cwd") == "$(pwd -P)" ]] || continue # other tests run at the same time
    count=$((count + 1))
  done
  echo $count
}

# Nothing that a kernel starts outlives the comparison, nor slows it unsaid.
kernel leaves_thread 'RIGHT; static int done; if (!tried && !done++) pthread_create(&thread, 0, spin, 0);' \
  'kernel.limits = LASOLVE_KERNEL_ONE_CALL;' "$is_tried"'
#include <pthread.h>
static pthread_t thread;
static void* spin(void* none) { for (;;) __asm__ volatile(""); return none; }'
expect 0 'threads of leaves_thread keep ' compare "${larger[@]}" --gemm tiled,./leaves_thread.c
nap=30.$$ # seconds, which nobody else sleeps: one that escapes a signal to the tool ends by itself
kernel forks 'RIGHT; static int done; if (!tried && !done++ && fork() == 0) setsid(), execlp("sleep", "sleep", "'$nap'", (char*)0);' \
  'kernel.limits = LASOLVE_KERNEL_ONE_CALL;' "$is_tried"'
#include <unistd.h>'
expect 0 'plugin kernels left 1 process running, which was ended' compare "${larger[@]}" --gemm tiled,./forks.c
expect 0 'a plugin kernel left 1 process behind, which was ended' "${small[@]}" --gemm ./forks.c
holds 'a process of a kernel survives' [ "$(running "sleep $nap")" = 0 ]
"$lasolve" compare "${few[@]:0:4}" --n 300 --repeat 100 --gemm tiled,./forks.c >/dev/null 2>&1 &
measuring=$!
until [ "$(running "sleep $nap")" != 0 ] || ! kill -0 $measuring; do sleep 0.05; done
holds 'no process measures apart' [ "$(running '/proc/self/exe worker size')" != 0 ]
kill -s TERM $measuring
wait $measuring
holds "a signal makes compare return $?, not 143" [ $? = 143 ]
for _ in {1..50}; do [ "$(running '/proc/self/exe worker size')" != 0 ] || break; sleep 0.1; done # it is told of the signal by its parent's end
holds 'the process that measures outlives a signal' [ "$(running '/proc/self/exe worker size')" = 0 ]

# No product of a timed run was computed in a run before: this one makes a mistake where it was.
kernel remembers 'RIGHT; if (!tried && m > 8) C[0] += is_known(m, n, k, A, lda, B, ldb);' \
  'kernel.limits = LASOLVE_KERNEL_ONE_CALL;' "$is_tried"'
static int is_known(long m, long n, long k, const double* A, long lda, const double* B, long ldb) {
  static unsigned long known[100000], count;
  unsigned long hash = m + 1000 * n + 1000000 * k, bits;
  for (long j = 0; j < k; ++j)
    for (long i = 0; i < m; ++i) memcpy(&bits, A + i + j * lda, 8), hash = 31 * hash + bits + bits / 4294967296;
  for (long j = 0; j < n; ++j)
    for (long i = 0; i < k; ++i) memcpy(&bits, B + i + j * ldb, 8), hash = 31 * hash + bits + bits / 4294967296;
  for (unsigned long i = 0; i < count; ++i) if (known[i] == hash) return 1;
  if (count < 100000) known[count++] = hash;
  return 0;
}'
expect 0 'PASS' compare "${larger[@]}" --gemm tiled,./remembers.c

exit "$failed"
