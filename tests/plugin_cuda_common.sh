# Sourced by the tests of the tool with CUDA kernels of one's own, behind cli_common.sh. They return 77 where there is no device or no
# nvcc.
# shellcheck shell=bash disable=SC2034,SC2154
unset CC CXX CFLAGS CXXFLAGS LDFLAGS LDLIBS NVCCFLAGS CUDAFLAGS
if ! "$lasolve" uniform:n=64 --device cuda --quiet >/dev/null 2>said; then
  cat said
  exit 77
fi
nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if ! $nvcc --version >/dev/null 2>&1; then
  echo "there is no nvcc"
  exit 77
fi
solve=(uniform:n=600)

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
