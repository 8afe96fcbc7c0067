// warp_tiled: vectorized, with a tile of C a warp.
// Idea     A warp owns 64 × 32 of C instead of 128 × 16. So its threads ask shared memory for fewer different rows and
//          columns, and the banks serve a vector of a warp in one pass instead of two. Blocks are smaller and there are
//          more of them: fewer warps wait at a barrier, and more can compute meanwhile.
// Tiles    BM = 128, BN = 64, BK = 16; 64 × 32 a warp, 8 × 8 a thread, 128 threads; four blocks a multiprocessor (f32),
//          two (f64).
// Traffic  2·128·64 flop per (128 + 64)·4 bytes = 21 flop/byte (f32) before L2; 4 reads of shared memory for 64 FMA.
// Expect   bound by issue: the next tiles are still loaded and stored by the same threads. About 90 % of cuBLAS (f32).
// Reached  95 % (f32) on an H200.
// Source   A. Kerr et al., "CUTLASS: fast linear algebra in CUDA C++", NVIDIA 2017
#include "gemm/cuda/common/registers.cuh"

namespace lasolve {

constexpr int BK = 16;
template <class T>
using Tiles = WarpTiles<T, TileSizes{.BM = 128, .BN = 64, .WM = 64, .WN = 32, .TM = 8, .TN = 8}>;

template <class T, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Tiles<T>::threads, sizeof(T) == 4 ? 4 : 2)
    warp_tiled_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  using W = Tiles<T>;
  __shared__ alignas(16) SharedTile<T, BK, W::BM> As;  // As: (BK, BM)
  __shared__ alignas(16) SharedTile<T, BK, W::BN> Bs;  // Bs: (BK, BN)
  const TileOrigin origin = tile_origin(C, W::BM, W::BN);
  const auto rows = W::rows();
  const auto columns = W::columns();
  TileStream<T, W::BM, BK, W::threads, a_k_major, W::V> from_a(A, origin.i);
  TileStream<T, W::BN, BK, W::threads, b_k_major, W::V> from_b(transposed(B), origin.j);
  T a[W::TM], b[W::TN], sums[W::TN][W::TM] = {};
  for (int t = 0; t < ceil_div(A.cols(), BK); ++t) {
    load_tile(As[0], from_a, t);
    load_tile(Bs[0], from_b, t);
    __syncthreads();
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
static void warp_tiled(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                       MatrixView<T, Cuda> C) {
  using W = Tiles<T>;
  with_major_modes(A, B, [&]<bool a_k_major, bool b_k_major>() {
    launch(q, warp_tiled_kernel<T, a_k_major, b_k_major>, tiles_of(C, W::BM, W::BN), W::threads, alpha, A, B, beta, C);
  });
}

extern const GemmBackend<Cuda> gemm_cuda_warp_tiled;
const GemmBackend<Cuda> gemm_cuda_warp_tiled{
    .name = "warp_tiled",
    .summary = "blocks of registers, a tile of C a warp",
    .kernels = {warp_tiled<double>, warp_tiled<float>},
};

}  // namespace lasolve
