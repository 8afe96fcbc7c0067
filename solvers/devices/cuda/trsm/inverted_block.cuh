// The inverse of a whole diagonal block of the synchronization-free solve, from those of its blocks of order 16, by doubling:
//
//     [A   ]⁻¹   [   A⁻¹          ]
//     [B  C]   = [−C⁻¹ B A⁻¹  C⁻¹ ]
#pragma once

#include "solvers/devices/cuda/trsm/forward_substitution.cuh"

namespace lasolve {

/// Up to this condition ‖T‖₁‖T⁻¹‖₁ a whole block T is inverted. Those of order 128 from pivoted LU of random matrices have some 2,000, rarely above
/// 5,000; those of Cholesky have less.
constexpr float most_condition_to_invert_whole = 16384;

/// t is a lower triangle whose diagonal blocks of order h are inverted already. All threads call this. A warp has 8 rows of B in the first
/// product, and 8 columns in the second.
template <int h, class Block, class T>
__device__ void invert_by_doubling(T* t) {
  constexpr int slabs = h / 8;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, l = threadIdx.x % 4;
  const int of_a = warp / slabs * 2 * h, of_c = of_a + h, slab = warp % slabs * 8;
  const bool has = of_c < Block::order;
  const auto at = [&](int i, int k) -> T& { return t[Block::place(i, k)]; };
  double b[h / 4];
  if (has) {  // B ← B A⁻¹
#pragma unroll
    for (int k = 0; k < h / 4; ++k) b[k] = double(at(of_c + slab + g, of_a + 4 * k + l));
    __syncwarp();  // all have read
#pragma unroll
    for (int c = 0; c < slabs; ++c) {
      double product[2] = {};
#pragma unroll
      for (int k = 2 * c; k < h / 4; ++k) multiply_8x8x4(product, b[k], double(at(of_a + 4 * k + l, of_a + 8 * c + g)));
#pragma unroll
      for (int u = 0; u < 2; ++u) at(of_c + slab + g, of_a + 8 * c + 2 * l + u) = T(product[u]);
    }
  }
  __syncthreads();
  if (has) {  // B ← −C⁻¹ B
#pragma unroll
    for (int k = 0; k < h / 4; ++k) b[k] = double(at(of_c + 4 * k + l, of_a + slab + g));
    __syncwarp();
#pragma unroll
    for (int r = 0; r < slabs; ++r) {
      double product[2] = {};
#pragma unroll
      for (int k = 0; k < 2 * (r + 1); ++k)
        multiply_8x8x4(product, double(at(of_c + 8 * r + g, of_c + 4 * k + l)), b[k]);
#pragma unroll
      for (int u = 0; u < 2; ++u) at(of_c + 8 * r + g, of_a + slab + 2 * l + u) = -T(product[u]);
    }
  }
  __syncthreads();
  if constexpr (2 * h < Block::order) invert_by_doubling<2 * h, Block>(t);
}

/// *most ← max(*most, ‖t‖₁), by the bits of floats that are not negative; NaN is the largest.
template <class Block, class T>
__device__ void take_one_norm(const T* t, unsigned* most) {
  constexpr int sharing = Block::threads / Block::order;
  const int column = threadIdx.x / sharing;
  float sum = 0;
  for (int i = threadIdx.x % sharing; i < Block::order; i += sharing)
    if (i >= column) sum += float(fabs(t[Block::place(i, column)]));
#pragma unroll
  for (int d = 1; d < sharing; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
  const unsigned of_warp = __reduce_max_sync(~0u, __float_as_uint(sum));
  if (threadIdx.x % 32 == 0) atomicMax(most, of_warp);
}

}  // namespace lasolve
