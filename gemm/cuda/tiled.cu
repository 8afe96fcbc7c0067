// tiled: shared-memory tiles, one element of C a thread.
// Idea     Each element of A and B is read from memory once for each 32 × 32 tile of C instead of once for each
//          element.
// Tiles    BM = BN = BK = 32; 1024 threads, two blocks a multiprocessor, so that one computes while the other waits for
//          its tiles; 17 KiB shared (f64). Rows are padded by 16 bytes: four elements of B (f32) are read at once, and
//          a tile can be stored either way round, so it is read coalesced from a matrix or its transpose.
// Traffic  2·32·32·32 flop per 2·32·32·8 bytes = 4 flop/byte (f64) before L2.
// Expect   bound by shared memory: 2 loads a FMA. About 9 TFLOP/s (f32), 1.6 times coalesced.
// Reached  8.6 TFLOP/s (f32) on an H200, 17 % of cuBLAS and 1.4 times coalesced, for which L1 does much of the same.
// Source   NVIDIA, CUDA C++ Programming Guide, "Shared memory"
#include "gemm/cuda/common/tile.cuh"

namespace lasolve {

constexpr int tile = 32;
template <class T>
using Tile = T[tile][tile + 16 / sizeof(T)];

/// The element of each tile of op(X) that this thread brings, one tile after the other along k. Neighbours in memory go to
/// neighbouring threads.
template <class T>
struct Carrier {
  int r, l;  // which: row of op(X), and along k
  const T* from;
  std::int64_t step, left;  // to the next tile; how much of k there is from this element on

  /// Rows below the last are read as the last: no element of C comes of them.
  __device__ Carrier(Operand<T, Cuda> X, std::int64_t origin)
      : r(X.op() == Op::none ? threadIdx.x : threadIdx.y),
        l(X.op() == Op::none ? threadIdx.y : threadIdx.x),
        from(X.data() + min(origin + r, X.rows() - 1) * X.row_stride() + l * X.col_stride()),
        step(tile * X.col_stride()),
        left(X.cols() - l) {}
  /// 0 beyond k.
  __device__ T next() {
    const T x = left > 0 ? *from : T(0);
    from += step;
    left -= tile;
    return x;
  }
};

template <class T>
__global__ void __launch_bounds__(tile* tile, 2)
    tiled_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  __shared__ alignas(16) Tile<T> As;  // As: (BK, BM)
  __shared__ alignas(16) Tile<T> Bs;  // Bs: (BN, BK)
  const TileOrigin origin = tile_origin(C, tile, tile);
  Carrier<T> a(A, origin.i), b(transposed(B), origin.j);
  const int x = threadIdx.x, y = threadIdx.y;
  T sum = 0;
  for (std::int64_t l = 0; l < A.cols(); l += tile) {
    As[a.l][a.r] = a.next();
    Bs[b.r][b.l] = b.next();
    __syncthreads();
#pragma unroll
    for (int s = 0; s < tile; ++s) sum += As[s][x] * Bs[y][s];
    __syncthreads();  // before the next tiles overwrite these
  }
  const std::int64_t i = origin.i + x, j = origin.j + y;
  if (i < C.rows() && j < C.cols()) update(C, i, j, alpha, sum, beta);
}

template <class T>
static void tiled(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                  MatrixView<T, Cuda> C) {
  launch(q, tiled_kernel<T>, tiles_of(C, tile, tile), dim3(tile, tile), alpha, A, B, beta, C);
}

extern const GemmBackend<Cuda> gemm_cuda_tiled;
const GemmBackend<Cuda> gemm_cuda_tiled{
    .name = "tiled",
    .summary = "shared-memory tiles, one element of C a thread",
    .kernels = {tiled<double>, tiled<float>},
};

}  // namespace lasolve
