#!/usr/bin/env bash
# Kernels of one's own in CUDA, as their writer meets the tool with them: right, restricted, wrong, on another stream, out of bounds,
# endless, cheating. Returns 77 where there is no device or no nvcc. Usage: own_cuda_kernels.sh LASOLVE DATA
# shellcheck source=tests/cli_common.sh
source "$(dirname -- "${BASH_SOURCE[0]}")/cli_common.sh"
unset CC CXX CFLAGS CXXFLAGS LDFLAGS LDLIBS NVCCFLAGS CUDAFLAGS
if ! "$lasolve" uniform:n=64 --device cuda --quiet >/dev/null 2>said; then
  cat said
  exit 77
fi
"$lasolve" new-kernel mine.cu >/dev/null
nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! $nvcc --version >/dev/null 2>&1; then
  echo "there is no nvcc"
  exit 77
fi
solve=(uniform:n=600)

# A kernel alone puts the run on the device; so it does among others.
expect 0 'backend     mine on cuda' "${solve[@]}" --gemm ./mine.cu
expect 0 "is the adapter's: " "${solve[@]}" --gemm ./mine.cu
expect 0 'backend     mine on cuda' "${solve[@]}" --gemm mine.cu --precision fp32
expect 0 'backend     mine on cuda' spd:n=600 --gemm ./mine.cu
expect 0 'mine' compare --gemm naive,./mine.cu --n 512 --repeat 2 --precision fp64,fp32
expect 0 'kernels in' bench gemm --gemm ./mine.cu --n 300 --repeat 1 --shape square
$nvcc -O3 -shared -Xcompiler -fPIC -arch=native -I "$data/../include" mine.cu -o libmine.so || failed=1
expect 0 'mine (./libmine.so)' "${solve[@]}" --gemm ./mine.cu,./libmine.so --repeat 1
"$lasolve" new-kernel other.c >/dev/null
expect 2 "'other' is a kernel for the CPU and 'mine' one for CUDA: they run in different places" "${solve[@]}" \
  --gemm ./other.c,./mine.cu
expect 2 './mine.cu is a kernel for CUDA, and --device says cpu' "${solve[@]}" --gemm ./mine.cu --device cpu
NVCCFLAGS='-Xcompiler -Wall,-Wextra,-Werror -Werror all-warnings' expect 0 'mine on cuda' "${solve[@]}" --gemm ./mine.cu

# kernel NAME BODY [SETTINGS] [BEFORE]: NAME.cu, with the body of a function, what is set in the record, and what stands before it.
kernel() {
  cat >"$1.cu" <<KERNEL
#include <lasolve/kernel.h>
#include <string.h>
struct Sizes { lasolve_int m, n, k, ai, al, bl, bj, ldc; };
/* The whole contract. */
__global__ void right(Sizes s, double alpha, const double* A, const double* B, double beta, double* C) {
  const lasolve_int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
  if (i >= s.m || j >= s.n) return;
  double sum = 0;
  for (lasolve_int l = 0; l < s.k; ++l) sum += A[i * s.ai + l * s.al] * B[l * s.bl + j * s.bj];
  double& c = C[i + j * s.ldc];
  c = beta == 0 ? alpha * sum : alpha * sum + beta * c;
}
static void multiply_right(LASOLVE_KERNEL_PARAMETERS(double)) {
  const Sizes s = {m, n, k, op_a ? lda : 1, op_a ? 1 : lda, op_b ? ldb : 1, op_b ? 1 : ldb, ldc};
  right<<<dim3((m + 15) / 16, (n + 15) / 16), dim3(16, 16), 0, cudaStream_t(data)>>>(s, alpha, A, B, beta, C);
}
#define RIGHT multiply_right(data, op_a, op_b, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc)
__global__ void put(double* at, double x) { *at = x; }
#define PUT(at, x) put<<<1, 1, 0, cudaStream_t(data)>>>(at, x)
${4-}
static void multiply(LASOLVE_KERNEL_PARAMETERS(double)) { $2 }
const lasolve_kernel* lasolve_plugin_kernel() {
  static lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.memory = LASOLVE_CUDA;
  kernel.name = "$1";
  kernel.f64 = multiply;
  ${3-}
  return &kernel;
}
KERNEL
}

# What is wrong is named with its place, and nothing else suffers.
kernel plain 'RIGHT;'
kernel wrong 'RIGHT; if (m > 40 && n == 33) PUT(C + 3 + 4 * ldc, 1e9);'
kernel beside 'RIGHT; if (m == 33 && n == 1) PUT(C + m, 7);'
kernel beside_copy 'RIGHT; PUT(C + m * n, 7);' 'kernel.limits = LASOLVE_KERNEL_NO_GAPS;'
kernel far_away 'RIGHT; if (m == 33) PUT(C + (1ll << 40), 7);'
kernel hangs 'RIGHT; if (k == 33) endless<<<1, 1, 0, cudaStream_t(data)>>>(C);' '' \
  '__global__ void endless(volatile double* C) { while (C[0] != 0.123456789) ; }'
kernel other_stream 'data = 0; RIGHT; (void)cudaStreamSynchronize(0);'
kernel no_launch 'RIGHT; if (n == 33) put<<<1, 5000, 0, cudaStream_t(data)>>>(C, 0);'
kernel yesterday 'static const double* A0; static double* C0; static lasolve_int m0;
  if (!(A0 == A && C0 == C && m0 == m)) RIGHT; A0 = A, C0 = C, m0 = m;'
kernel crashes 'RIGHT; if (n == 33) *C = 1;'
said_of() { # NAME TEXT: what a solve says of a kernel
  expect 5 "$2" "${solve[@]}" --gemm "./$1.cu" --patience 10
}
said_of wrong 'wrong on cuda'
said_of wrong ' is wrong in fp64: C(3, 4) is 1000000000, not '
said_of beside 'it wrote 7 beside C, below the last row: C(33, 0)'
said_of beside_copy 'wrote beside a matrix that it was given'
said_of far_away 'an illegal memory access was encountered'
said_of hangs 'it gave no answer for 10 s'
said_of other_stream 'it works on another'
said_of no_launch 'it failed: invalid '
said_of yesterday 'yesterday on cuda'
said_of crashes 'it crashed (SIGSEGV: Segmentation fault)'
"$lasolve" compare --n 600 --repeat 2 --patience 10 --gemm naive,./wrong.cu,./far_away.cu,./hangs.cu,./plain.cu,./mine.cu \
  >table 2>said
holds "compare returns $?, not 5" [ $? -eq 5 ]
holds 'the rows of right kernels are not whole' [ "$(grep -cE '^600 +(naive|plain|mine) .* PASS$' table)" = 3 ]
holds 'the rows of wrong kernels are missing' [ "$(grep -cE '^600 +(wrong|far_away|hangs) .*FAIL: ' table)" = 3 ]

# Right where it is tried, and wrong where it is timed.
kernel two_faced 'RIGHT; if (!tried && m > 8) PUT(C, 1e9);' '' '#include <stdio.h>
static bool is_tried() {
  char words[99] = "";
  FILE* const file = fopen("/proc/self/cmdline", "r");
  for (size_t i = 0, n = fread(words, 1, 98, file); i < n; ++i) if (!words[i]) words[i] = 32;
  fclose(file);
  return strstr(words, "bench verify") != 0;
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

# What the compiler says is shown with its line.
kernel broken 'RIGHT; forgotten = 1;'
expect 3 'broken.cu(' "${solve[@]}" --gemm ./broken.cu
expect 3 "./broken.cu: error: '" "${solve[@]}" --gemm ./broken.cu
exit "$failed"
