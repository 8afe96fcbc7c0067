// tiled: shared-memory tiles, one element of C a thread.
// Idea     Each element of A and B is read from memory once for each 32 × 32 tile of C instead of once for each element.
// Tiles    BM = BN = BK = 32; 1024 threads; 16.5 KiB shared (f64). Rows are padded by one so that a tile can be stored
//          either way round without bank conflicts, and so is read coalesced from a matrix or its transpose.
// Traffic  2·32·32·32 flop per 2·32·32·8 bytes = 4 flop/byte (f64) before L2.
// Expect   bound by shared memory: 2 loads a FMA. About 9 TFLOP/s (f32), 1.6 times coalesced.
// Source   NVIDIA, CUDA C++ Programming Guide, "Shared memory"
#include "gemm/cuda/tile.cuh"

namespace lasolve {

constexpr int tile = 32;

/// Element (i, j) of op(X), or 0 outside of it.
template <class T>
__device__ T element_or_zero(Operand<T, Cuda> X, std::int64_t i, std::int64_t j) {
  return i < X.rows() && j < X.cols() ? element(X, i, j) : T(0);
}

template <class T>
__global__ void __launch_bounds__(tile* tile)
    tiled_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  __shared__ T As[tile][tile + 1];  // As: (BK, BM)
  __shared__ T Bs[tile][tile + 1];  // Bs: (BN, BK)
  const TileOrigin origin = tile_origin(C, tile, tile);
  const int x = threadIdx.x, y = threadIdx.y;
  T sum = 0;
  for (std::int64_t l = 0; l < A.cols(); l += tile) {
    if (A.op() == Op::none)
      As[y][x] = element_or_zero(A, origin.i + x, l + y);
    else
      As[x][y] = element_or_zero(A, origin.i + y, l + x);
    if (B.op() == Op::none)
      Bs[y][x] = element_or_zero(B, l + x, origin.j + y);
    else
      Bs[x][y] = element_or_zero(B, l + y, origin.j + x);
    __syncthreads();
#pragma unroll
    for (int s = 0; s < tile; ++s) sum += As[s][x] * Bs[y][s];
    __syncthreads();  // before the next tiles overwrite these
  }
  const std::int64_t i = origin.i + x, j = origin.j + y;
  if (i < C.rows() && j < C.cols()) update(C, i, j, alpha, sum, beta);
}

template <class T>
static void tiled(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  tiled_kernel<T><<<tiles_of(C, tile, tile), dim3(tile, tile), 0, q.stream()>>>(alpha, A, B, beta, C);
  CUDA_CHECK_LAUNCH();
}

extern const GemmBackend<Cuda> gemm_cuda_tiled;
const GemmBackend<Cuda> gemm_cuda_tiled{
    .name = "tiled",
    .summary = "shared-memory tiles, one element of C a thread",
    .f64 = tiled<double>,
    .f32 = tiled<float>,
};

}  // namespace lasolve
