// warp_tiled: vectorized, with a tile of C a warp.
// Idea     A warp owns a square of C, so that its 32 threads ask shared memory for few different rows and columns, and a
//          thread owns twice as much of it: 6 vectors from shared memory for 128 FMA, and the banks serve a warp's vector
//          in one or two turns instead of two or four.
// Tiles    f32: BM = BN = 128, 64 × 64 a warp, 8 × 16 a thread; f64: 128 × 64, 64 × 32 a warp, 8 × 8 a thread. BK = 8;
//          128 threads; two blocks a multiprocessor.
// Traffic  32 flop/byte (f32) before L2; 6 reads of shared memory for 128 FMA.
// Expect   bound by the wait for the tiles from L2, which one other block has to fill. About 90 % of cuBLAS (f32).
// Source   A. Kerr et al., "CUTLASS: fast linear algebra in CUDA C++", NVIDIA 2017
#include "gemm/cuda/registers.cuh"

namespace lasolve {

constexpr int BK = 16;
template <class T>
using Tiles =
    std::conditional_t<sizeof(T) == 4, WarpTiles<T, 128, 64, 64, 32, 8, 8>, WarpTiles<T, 128, 64, 64, 32, 8, 8>>;

template <class T>
__global__ void __launch_bounds__(Tiles<T>::threads, sizeof(T) == 4 ? 3 : 2)
    warp_tiled_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  using W = Tiles<T>;
  __shared__ alignas(16) SharedTile<T, BK, W::BM> As;  // As: (BK, BM)
  __shared__ alignas(16) SharedTile<T, BK, W::BN> Bs;  // Bs: (BK, BN)
  const TileOrigin origin = tile_origin(C, W::BM, W::BN);
  const auto rows = W::rows();
  const auto columns = W::columns();
  TileLoader<T, W::BM, BK, W::threads, W::V> to_a;
  TileLoader<T, W::BN, BK, W::threads, W::V> to_b;
  T a[W::TM], b[W::TN], sums[W::TN][W::TM] = {};
  to_a.read(A, origin.i, 0);
  to_b.read(transposed(B), origin.j, 0);
  for (std::int64_t l = 0; l < A.cols(); l += BK) {
    to_a.write(As);
    to_b.write(Bs);
    __syncthreads();
    to_a.read(A, origin.i, l + BK);
    to_b.read(transposed(B), origin.j, l + BK);
#pragma unroll
    for (int s = 0; s < BK; ++s) {
      load_fragment(a, As[s], rows);
      load_fragment(b, Bs[s], columns);
      add_outer_product(sums, a, b);
    }
    __syncthreads();  // before the next tiles overwrite these
  }
  update_tile(C, origin, rows, columns, alpha, sums, beta);
}

template <class T>
static void warp_tiled(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  using W = Tiles<T>;
  warp_tiled_kernel<T><<<tiles_of(C, W::BM, W::BN), W::threads, 0, q.stream()>>>(alpha, A, B, beta, C);
  CUDA_CHECK_LAUNCH();
}

extern const GemmBackend<Cuda> gemm_cuda_warp_tiled;
const GemmBackend<Cuda> gemm_cuda_warp_tiled{
    .name = "warp_tiled",
    .summary = "blocks of registers, a tile of C a warp",
    .f64 = warp_tiled<double>,
    .f32 = warp_tiled<float>,
};

}  // namespace lasolve
