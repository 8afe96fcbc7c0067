#!/usr/bin/env bash
# Kernels as they are found: with int indices, for square matrices alone, with OpenMP, with a buffer of a fixed size, for aligned operands;
# and those that are wrong, or lose digits, as such kernels are. Usage: plugin_kernels_wild.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
# shellcheck source=tests/plugin_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/plugin_common.sh"

# says TEXT: it stands in what a command said, whatever its line breaks are.
says() { holds "nowhere is '$1'" grep -qF -- "$1" <(tr -s ' \n' ' ' <said); }

cat >theirs.h <<'THEIRS'
static void dgemm_int(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
}
static void square_dgemm(int n, double* A, double* B, double* C) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      double cij = C[i + j * n];
      for (int k = 0; k < n; k++) cij += A[i + k * n] * B[k + j * n];
      C[i + j * n] = cij;
    }
}
#define MOST 96
static double room[MOST * MOST];
static void dgemm_packed(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
  if (m > MOST || k > MOST) abort();
  for (int l = 0; l < k; l++) memcpy(room + l * MOST, A + l * lda, m * sizeof(double));
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) C[i + j * ldc] += room[i + l * MOST] * B[l + j * ldb];
}
static void dgemm_omp(int m, int n, int k, const double* A, int lda, const double* B, int ldb, double* C, int ldc) {
#pragma omp parallel for
  for (int j = 0; j < n; j++)
    for (int l = 0; l < k; l++)
      for (int i = 0; i < m; i++) C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];
}
THEIRS
adds='LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS | LASOLVE_KERNEL_INT_INDICES'
theirs='#include "theirs.h"'
kernel int_lda 'dgemm_int(m, n, k, A, lda, B, ldb, C, ldc);' "kernel.limits = $adds;" "$theirs"
kernel square 'if (m != n || m != k || lda != n || ldb != n || ldc != n) abort();
  square_dgemm(n, (double*)A, (double*)B, C);' \
  "kernel.limits = $adds | LASOLVE_KERNEL_NO_GAPS | LASOLVE_KERNEL_SQUARE;" "$theirs"
kernel buffer 'dgemm_packed(m, n, k, A, lda, B, ldb, C, ldc);' \
  "kernel.limits = $adds | LASOLVE_KERNEL_ONE_CALL; kernel.m_largest = kernel.k_largest = MOST;" "$theirs"
kernel openmp 'dgemm_omp(m, n, k, A, lda, B, ldb, C, ldc);' "kernel.limits = $adds | LASOLVE_KERNEL_ONE_CALL;" "$theirs
#ifndef _OPENMP
#error no OpenMP
#endif"
must_be_aligned='for (lasolve_int l = 0; l < k; ++l) if ((size_t)(A + l * lda) % 256) abort();
  if ((size_t)B % 256 || (size_t)C % 256 || ldc % 32) abort();
  dgemm_int(m, n, k, A, lda, B, ldb, C, ldc);'
kernel aligned "$must_be_aligned" "kernel.limits = $adds; kernel.alignment = 256;" "$theirs"
right=(int_lda square buffer openmp aligned)
list=$(printf ',./%s.c' "${right[@]}")
"$lasolve" "${small[@]}" --gemm "${list#,}" --repeat 1 >table 2>said
holds "right kernels make a solve return $?, not 0" [ $? = 0 ]
for name in "${right[@]}"; do
  holds "$name has no line" [ "$(grep -c "^$name " table)" = 1 ]
done
holds 'the adapter does not say alignment' grep -q 'aligned: .*alignment' table

# Each in one way, and told once, with what helps.
kernel reads_c 'for (lasolve_int j = 0; j < n; ++j) for (lasolve_int i = 0; i < m; ++i) C[i + j * ldc] *= beta;
  beta = 1; RIGHT;'
kernel skips_zeros 'for (lasolve_int j = 0; j < n; ++j) for (lasolve_int i = 0; i < m; ++i) {
    double sum = 0;
    for (lasolve_int l = 0; l < k; ++l) if (B[l + j * ldb] != 0) sum += A[i + l * lda] * B[l + j * ldb];
    C[i + j * ldc] = beta == 0 ? alpha * sum : alpha * sum + beta * C[i + j * ldc];
  }' 'kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES;'
kernel square_unsaid 'for (lasolve_int j = 0; j < m; ++j) for (lasolve_int i = 0; i < m; ++i) for (lasolve_int l = 0; l < m; ++l)
    C[i + j * ldc] += A[i + l * lda] * B[l + j * ldb];' 'kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ADDS;'
kernel adds_unsaid 'dgemm_int(m, n, k, A, lda, B, ldb, C, ldc);' \
  'kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ASSIGNS;' "$theirs"
kernel adds_alone 'dgemm_int(m, n, k, A, lda, B, ldb, C, ldc);' \
  'kernel.limits = LASOLVE_KERNEL_NO_TRANSPOSES | LASOLVE_KERNEL_ASSIGNS | LASOLVE_KERNEL_ONE_CALL;' "$theirs"
wrong=tiled,./reads_c.c,./skips_zeros.c,./square_unsaid.c,./adds_unsaid.c,./adds_alone.c
if [ "$(uname -m)" = x86_64 ]; then
  kernel unaligned '__asm__ volatile("movapd %0, %%xmm0" : : "m"(*(const double(*)[2])A) : "xmm0"); RIGHT;'
  wrong+=,./unaligned.c
fi
"$lasolve" "${small[@]}" --gemm "$wrong" --repeat 1 >table 2>said
holds "wrong kernels make a solve return $?, not 5" [ $? = 5 ]
for name in reads_c adds_unsaid adds_alone; do
  holds "$name is not told why" grep -q "$name on cpu .*; C held NaN before the call: it reads C where beta is 0, or adds to C" said
done
holds 'a kernel that reads C is told to be called by one core' [ "$(grep -c 'one c' said)" = 0 ]
says 'kernel.limits with LASOLVE_KERNEL_ADDS is for one that makes C + A B'
says '0 times NaN and 0 times infinity are NaN: it leaves out steps with a zero'
says 'square_unsaid on cpu is wrong in fp64'
says 'the kernel itself got m = '
if [ "$(uname -m)" = x86_64 ]; then
  says 'unaligned on cpu is wrong in fp64: it crashed (SIGSEGV: Segmentation fault); the processor did not take an address'
  says 'kernel.alignment says at multiples of how many bytes its operands begin'
fi
holds 'a fault is told more than once' [ "$(grep -c ' is wrong in fp64' said)" = "$(tr -cd , <<<"$wrong" | wc -c)" ]

# It keeps to the contract, and loses six digits of a matrix whose rows differ in size: every table says so.
kernel one_exponent 'double *a = cut(A, lda, op_a, m, k), *b = cut(B, ldb, !op_b, n, k);
  const double *A0 = A, *B0 = B; (void)A0, (void)B0;
  A = a, B = b, lda = k, ldb = k, op_a = LASOLVE_TRANSPOSE, op_b = LASOLVE_NONE; RIGHT; free(a), free(b);' '' \
  'static double* cut(const double* X, long ld, int along, long lines, long length) {
  double* const all = malloc(sizeof(double) * lines * length);
  for (long i = 0; i < lines; ++i) {
    double most = 0;
    for (long l = 0; l < length; ++l) {
      const double x = fabs(along ? X[l + i * ld] : X[i + l * ld]);
      if (isfinite(x) && x > most) most = x;
    }
    const double unit = most == 0 ? 1 : ldexp(1, ilogb(most) - 60);
    for (long l = 0; l < length; ++l) {
      const double x = along ? X[l + i * ld] : X[i + l * ld];
      all[l + i * length] = isfinite(x) ? nearbyint(x / unit) * unit : x;
    }
  }
  return all;
}'
lost='keeps to norms, not to each element: an element of (A D)(D^-1 B)'
expect 0 "warning: one_exponent in fp64 $lost" "${small[@]}" --gemm ./one_exponent.c
expect 0 "warning: one_exponent in fp64 $lost" "${small[@]}" --gemm tiled,./one_exponent.c --repeat 1
expect 0 "warning: one_exponent in fp64 $lost" compare "${few[@]}" --gemm tiled,./one_exponent.c --json compare.json
holds 'a row has no warning' [ "$(grep -c "$lost" compare.json)" -ge 1 ]
expect 0 "warning: one_exponent on cpu in fp64 $lost" bench gemm --device cpu --gemm ./one_exponent.c --precision fp64 --n 30 \
  --repeat 1 --shape square --json bench.json
holds 'the grade is not in JSON' grep -qE '"element_error_over_bound": ([1-9][0-9]{6,}|[0-9.]+e[+])' bench.json
holds 'what is right is warned of' [ "$(grep -c warning: <("$lasolve" "${small[@]}" --gemm ./int_lda.c))" = 0 ]

# A kernel that has one precision names it.
kernel only_fp32 '(void)data;' 'kernel.f64 = NULL, kernel.f32 = single;' \
  'static void single(LASOLVE_KERNEL_PARAMETERS(float)) { WHOLE_CONTRACT(float) }'
expect 2 "only_fp32 has --precision fp32" "${small[@]}" --gemm ./only_fp32.c
expect 0 'only_fp32 on cpu' "${small[@]}" --gemm ./only_fp32.c --precision fp32

# An error that begins where C is large is one of a system that is as large.
kernel drifts 'RIGHT; if (m >= 500 && n >= 500) for (lasolve_int j = 0; j < n; ++j) for (lasolve_int i = 0; i < m; ++i)
  C[i + j * ldc] *= 1 + 1e-11;' 'kernel.limits = LASOLVE_KERNEL_ONE_CALL;'
expect 0 '' "${small[@]}" --gemm ./drifts.c
expect 5 'drifts on cpu is wrong in fp64: C(' uniform:n=520 --device cpu --threads 2 --gemm ./drifts.c
exit "$failed"
