// How operands of tf32 products lie in memory: rounded, and in pieces that are byte for byte what wgmma reads from shared
// memory, a row of 16 along k in 64 bytes.
#pragma once

#include "gemm/cuda/hopper.cuh"
#include "gemm/cuda/tile.cuh"

namespace lasolve::tensor_tf32 {

using namespace hopper;

constexpr int BK = 16, row_bytes = BK * 4;
constexpr int pack_rows = 64, pack_depth = 32;  // of an operand, by a block of threads

/// Packs 64 × 32 of X (rows × k), from row0 and l0 on, in pieces of P × BK of which k varies fastest.
template <int P>
__device__ void pack(Operand<float, Cuda> X, std::int64_t row0, std::int64_t l0, int k_pieces, float* packed,
                     float (&turned)[pack_depth][pack_rows + 1]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float x[8];
  const auto fetch = [&](int r, int l) {
    return row0 + r < X.rows() && l0 + l < X.cols() ? element(X, row0 + r, l0 + l) : 0.f;
  };
  if (X.op() == Op::none) {  // rows are contiguous
#pragma unroll
    for (int t = 0; t < 8; ++t) x[t] = fetch(lane + t % 2 * 32, warp * 4 + t / 2);
#pragma unroll
    for (int t = 0; t < 8; ++t) turned[warp * 4 + t / 2][lane + t % 2 * 32] = x[t];
    __syncthreads();
#pragma unroll
    for (int t = 0; t < 8; ++t) x[t] = turned[lane][warp + t * 8];
  } else {
#pragma unroll
    for (int t = 0; t < 8; ++t) x[t] = fetch(warp + t * 8, lane);
  }
  float* to = packed + (row0 / P * k_pieces + l0 / BK + lane / BK) * P * BK + row0 % P * BK;
  const int l = lane % BK;
#pragma unroll
  for (int t = 0; t < 8; ++t) {
    const int r = warp + t * 8, chunk = l / 4 ^ r / 2 % 4;  // TMA's swizzle of 64 bytes
    std::uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x[t]));
    to[r * BK + chunk * 4 + l % 4] = __uint_as_float(rounded);
  }
}

/// Packs A, in pieces of P_A rows, and B, which is given as its transpose, of P_B. A block of threads has 64 × 32 of one.
template <int P_A, int P_B>
__global__ void __launch_bounds__(256) pack_kernel(Operand<float, Cuda> A, Operand<float, Cuda> B, unsigned A_parts,
                                                   int k_parts, float* A_to, float* B_to) {
#ifdef LASOLVE_HOPPER
  __shared__ float turned[pack_depth][pack_rows + 1];
  let_next_kernel_start();
  const unsigned row = blockIdx.x / k_parts;
  const std::int64_t l0 = blockIdx.x % k_parts * pack_depth;
  const int k_pieces = k_parts * (pack_depth / BK);
  if (row < A_parts)
    pack<P_A>(A, row * std::int64_t(pack_rows), l0, k_pieces, A_to, turned);
  else
    pack<P_B>(B, (row - A_parts) * std::int64_t(pack_rows), l0, k_pieces, B_to, turned);
#endif
}

}  // namespace lasolve::tensor_tf32
