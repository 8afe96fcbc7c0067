# Sourced by the tests of the tool with kernels of one's own, behind cli_common.sh.
# shellcheck shell=bash disable=SC2034,SC2154
small=(uniform:n=150 --device cpu --threads 2 --block-size 16)
few=(--device cpu --threads 2 --repeat 2 --warmup 0 --block-size 16 --n 60)
larger=("${few[@]:0:10}" --n 150)
export TMPDIR=$work/tmp
mkdir tmp
unset CC CXX CFLAGS CXXFLAGS LDFLAGS LDLIBS CUDACXX NVCCFLAGS CUDAFLAGS

# kernel NAME BODY [SETTINGS] [BEFORE]: NAME.c, with the body of a function, what is set in the record, and what stands before it.
kernel() {
  cat >"$1.c" <<KERNEL
#include <lasolve/kernel.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#define WHOLE_CONTRACT(T)                                                                              \\
  for (lasolve_int j = 0; j < n; ++j) {                                                                \\
    for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] = beta == 0 ? 0 : beta * C[i + j * ldc];        \\
    for (lasolve_int l = 0; l < k; ++l) {                                                              \\
      const T b = alpha * (op_b ? B[j + l * ldb] : B[l + j * ldb]);                                    \\
      if (op_a) for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[l + i * lda] * b;              \\
      else for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] += A[i + l * lda] * b;                   \\
    }                                                                                                  \\
  }
${4-}
static void right(LASOLVE_KERNEL_PARAMETERS(double)) { WHOLE_CONTRACT(double) }
#define RIGHT right(data, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc)
static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) { $2 }
const lasolve_kernel* lasolve_plugin_kernel(void) {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.name = "$1";
  kernel.f64 = multiply;
  ${3-}
  return &kernel;
}
KERNEL
}

# Before a kernel's function: whether this process is one that tries it.
is_tried='#include <stdio.h>
static int tried;
__attribute__((constructor)) static void look(void) {
  char words[99] = "";
  FILE* const file = fopen("/proc/self/cmdline", "r");
  for (size_t i = 0, n = fread(words, 1, 98, file); i < n; ++i) if (!words[i]) words[i] = 32;
  fclose(file);
  tried = strstr(words, "worker verify") != 0;
}'
