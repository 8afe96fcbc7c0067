// coalesced: one thread for each element of C, neighbouring threads in neighbouring rows.
// Idea     C and A are column-major, so neighbouring rows are neighbours in memory: a warp reads A and writes C in whole
//          lines, and reads one element of B together. (With op(A) = Aᵀ the rows are a column apart again.)
// Tiles    16 × 16 threads; threadIdx.x is the row.
// Traffic  2 loads a FMA, served by L1 and L2.
// Expect   bound by L1: about 5 TFLOP/s (f32), five times naive.
// Source   NVIDIA, CUDA C++ Best Practices Guide, "Coalesced access to global memory"
#include "gemm/cuda/tile.cuh"

namespace lasolve {

constexpr int tile = 16;

template <class T>
__global__ void coalesced_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  const TileOrigin origin = tile_origin(C, tile, tile);
  const std::int64_t i = origin.i + threadIdx.x, j = origin.j + threadIdx.y;
  if (i >= C.rows() || j >= C.cols()) return;
  T sum = 0;
  for (std::int64_t l = 0; l < A.cols(); ++l) sum += element(A, i, l) * element(B, l, j);
  update(C, i, j, alpha, sum, beta);
}

template <class T>
static void coalesced(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  coalesced_kernel<T><<<tiles_of(C, tile, tile), dim3(tile, tile), 0, q.stream()>>>(alpha, A, B, beta, C);
  CUDA_CHECK_LAUNCH();
}

extern const GemmBackend<Cuda> gemm_cuda_coalesced;
const GemmBackend<Cuda> gemm_cuda_coalesced{
    .name = "coalesced",
    .summary = "one thread for each element of C, neighbours in neighbouring rows",
    .f64 = coalesced<double>,
    .f32 = coalesced<float>,
};

}  // namespace lasolve
