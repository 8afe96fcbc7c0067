// vectorized: register_tiled with every access 16 bytes wide.
// Idea     A thread's rows and columns come in groups of 16 bytes: one instruction reads what took four from shared
//          memory, and tiles and C travel in vectors too. Where the neighbours in memory are not those in the tile, the
//          vector is taken apart on its way to shared memory. Unaligned matrices and edges go element by element.
// Tiles    as register_tiled: f32: 128 × 128, f64: 64 × 64, 8 × 8 a thread, BK = 16; a thread's groups are 16 (8)
//          apart.
// Traffic  32 flop/byte (f32) before L2; 4 reads of shared memory for 64 FMA.
// Expect   94 FMA in 100 instructions; loads from L2 are hidden only by one other block. About 75 % of cuBLAS (f32).
// Reached  88 % (f32) on an H200, because BK = 16 leaves twice the time for those loads that BK = 8 does.
// Source   S. Boehm, "How to optimize a CUDA matmul kernel for cuBLAS-like performance", 2022
#include "gemm/cuda/common/registers.cuh"

namespace lasolve {

constexpr int TM = 8, TN = 8, BK = 16;
template <class T>
static constexpr int side = sizeof(T) == 4 ? 16 : 8;
template <class T>
static constexpr int threads = side<T>* side<T>;
template <class T>
static constexpr int BM = side<T>* TM;
template <class T>
static constexpr int BN = side<T>* TN;

template <class T, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(threads<T>, sizeof(T) == 4 ? 2 : 4)
    vectorized_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  constexpr int V = vector_width<T>;
  __shared__ alignas(16) SharedTile<T, BK, BM<T>> As;  // As: (BK, BM)
  __shared__ alignas(16) SharedTile<T, BK, BN<T>> Bs;  // Bs: (BK, BN)
  const TileOrigin origin = tile_origin(C, BM<T>, BN<T>);
  const Owned<TM, V, side<T> * V> rows{int(threadIdx.x) % side<T> * V};
  const Owned<TN, V, side<T> * V> columns{int(threadIdx.x) / side<T> * V};
  TileStream<T, BM<T>, BK, threads<T>, a_k_major, V> from_a(A, origin.i);
  TileStream<T, BN<T>, BK, threads<T>, b_k_major, V> from_b(transposed(B), origin.j);
  T a[TM], b[TN], sums[TN][TM] = {};
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
static void vectorized(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                       MatrixView<T, Cuda> C) {
  with_major_modes(A, B, [&]<bool a_k_major, bool b_k_major>() {
    launch(q, vectorized_kernel<T, a_k_major, b_k_major>, tiles_of(C, BM<T>, BN<T>), threads<T>, alpha, A, B, beta, C);
  });
}

extern const GemmBackend<Cuda> gemm_cuda_vectorized;
const GemmBackend<Cuda> gemm_cuda_vectorized{
    .name = "vectorized",
    .summary = "blocks of registers, every access 16 bytes wide",
    .kernels = {vectorized<double>, vectorized<float>},
};

}  // namespace lasolve
