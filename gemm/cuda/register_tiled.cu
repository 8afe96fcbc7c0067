// register_tiled: shared-memory tiles, a block of registers of C a thread.
// Idea     A thread owns 8 rows and 8 columns of C. An element that it reads from shared memory meets 8 others in
//          registers, where `tiled` needs two reads for one product.
// Tiles    f32: BM = BN = 128, 16 × 16 threads, two blocks a multiprocessor; f64: BM = BN = 64, 8 × 8 threads, four
//          blocks. 8 × 8 a thread, whose rows and columns are 16 (8) apart, so that neighbouring threads read
//          neighbouring banks. BK = 16. While one block waits for its tiles, another computes.
// Traffic  2·128·128 flop per 2·128·4 bytes = 32 flop/byte (f32) before L2; 16 reads of shared memory for 64 FMA.
// Expect   bound by issue: 80 FMA in 100 instructions if no load is waited for. About 60 % of cuBLAS (f32).
// Reached  70 % of cuBLAS (f32) at 8192³ on an H200.
// Source   V. Volkov and J. Demmel, "Benchmarking GPUs to tune dense linear algebra", SC 2008
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
    register_tiled_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  __shared__ SharedTile<T, BK, BM<T>> As;  // As: (BK, BM)
  __shared__ SharedTile<T, BK, BN<T>> Bs;  // Bs: (BK, BN)
  const TileOrigin origin = tile_origin(C, BM<T>, BN<T>);
  const Owned<TM, 1, side<T>> rows{int(threadIdx.x) % side<T>};
  const Owned<TN, 1, side<T>> columns{int(threadIdx.x) / side<T>};
  TileStream<T, BM<T>, BK, threads<T>, a_k_major, 1> from_a(A, origin.i);
  TileStream<T, BN<T>, BK, threads<T>, b_k_major, 1> from_b(transposed(B), origin.j);
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
static void register_tiled(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                           MatrixView<T, Cuda> C) {
  with_major_modes(A, B, [&]<bool a_k_major, bool b_k_major>() {
    launch(q, register_tiled_kernel<T, a_k_major, b_k_major>, tiles_of(C, BM<T>, BN<T>), threads<T>, alpha, A, B, beta,
           C);
  });
}

extern const GemmBackend<Cuda> gemm_cuda_register_tiled;
const GemmBackend<Cuda> gemm_cuda_register_tiled{
    .name = "register_tiled",
    .summary = "shared-memory tiles, a block of registers of C a thread",
    .kernels = {register_tiled<double>, register_tiled<float>},
};

}  // namespace lasolve
