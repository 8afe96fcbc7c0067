// naive: one thread for each element of C, neighbouring threads in neighbouring columns: uncoalesced on purpose.
// Idea     The definition of the product, one dot product a thread, with the index that a row-major habit suggests.
// Tiles    16 × 16 threads; threadIdx.x is the column. Operands of fp16 and bf16 are multiplied as fp32.
// Traffic  the threads of a warp read elements of B that are a column apart: a 32-byte sector for each 4 or 8 bytes.
// Expect   bound by transactions in L1 and L2: about 1 TFLOP/s (f32), a sixth of coalesced.
// Reached  1.0 TFLOP/s (f32) and 0.5 (f64) on an H200, where columns begin at multiples of 128 bytes.
// Source   folklore; the first rung of every ladder
#include "gemm/cuda/common/tile.cuh"

namespace lasolve {

constexpr int tile = 16;

template <class T, class In>
__global__ void naive_kernel(T alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  const TileOrigin origin = tile_origin(C, tile, tile);
  const std::int64_t i = origin.i + threadIdx.y, j = origin.j + threadIdx.x;
  if (i >= C.rows() || j >= C.cols()) return;
  T sum = 0;
  for (std::int64_t l = 0; l < A.cols(); ++l) sum += T(element(A, i, l)) * T(element(B, l, j));
  update(C, i, j, alpha, sum, beta);
}

template <class T, class In = T>
static void naive(const void*, Queue<Cuda>& q, T alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, T beta,
                  MatrixView<T, Cuda> C) {
  launch(q, naive_kernel<T, In>, tiles_of(C, tile, tile), dim3(tile, tile), alpha, A, B, beta, C);
}

extern const GemmBackend<Cuda> gemm_cuda_naive;
const GemmBackend<Cuda> gemm_cuda_naive{
    .name = "naive",
    .summary = "one thread for each element of C, uncoalesced on purpose",
    .kernels = {naive<double>, naive<float>, naive<float, fp16>, naive<float, bf16>},
};

}  // namespace lasolve
