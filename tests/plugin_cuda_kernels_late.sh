#!/usr/bin/env bash
# CUDA kernels of one's own that are right where they are tried, and wrong where they are timed.
# Usage: plugin_cuda_kernels_late.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_cuda_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_cuda_common.sh"

kernel plain 'RIGHT;'
kernel two_faced 'RIGHT; if (!tried && m > 8) PUT(C, 1e9);' '' '#include <stdio.h>
static bool is_tried() {
  char words[99] = "";
  FILE* const file = fopen("/proc/self/cmdline", "r");
  for (size_t i = 0, n = fread(words, 1, 98, file); i < n; ++i) if (!words[i]) words[i] = 32;
  fclose(file);
  return strstr(words, "worker verify") != 0;
}
static const bool tried = is_tried();'
expect 5 'HPL check' "${solve[@]}" --gemm ./two_faced.cu
expect 5 'FAIL: ' compare --n 600 --repeat 2 --gemm naive,./two_faced.cu
expect 5 'WRONG: C(0, 0) is ' bench gemm --gemm ./two_faced.cu --precision fp64 --n 300 --repeat 1 --shape square
kernel late_guard 'RIGHT; if (!tried) PUT(C + m * n, 7);' 'kernel.limits = LASOLVE_KERNEL_NO_GAPS;' \
  "$(sed -n '/^#include <stdio.h>/,/^static const bool tried/p' two_faced.cu)"
expect 5 'wrote beside a matrix that it was given' compare --n 600 --repeat 2 --gemm naive,./late_guard.cu

kernel late_far 'RIGHT; if (!tried) PUT(C + (1ll << 40), 7);' '' \
  "$(sed -n '/^#include <stdio.h>/,/^static const bool tried/p' two_faced.cu)"
"$lasolve" compare --n 600,700 --repeat 2 --gemm naive,./late_far.cu,./plain.cu >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'rows beside one that spoils the device are not whole' [ "$(grep -cE '^[67]00 +(naive|plain) .* PASS$' table)" = 4 ]
holds 'what spoils the device is not named' [ "$(grep -c '^[67]00 *late_far .*FAIL: in a timed solve: ' table)" = 2 ]
exit "$failed"
