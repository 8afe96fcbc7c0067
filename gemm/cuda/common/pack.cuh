// Packing: operands copied into scratch memory for the copy engine. A row of op(A) or a column of op(B) is then
// contiguous along k and starts at a multiple of 16 bytes. On the way, fp32 may be split into two parts of fp16.
#pragma once

#include <cuda_fp16.h>

#include "core/cuda/launch.cuh"
#include "gemm/cuda/common/tile.cuh"

namespace lasolve {

/// X: (rows, k) is op(A), or op(B) transposed. `to` holds `ld` elements a row.
///
/// Split: a row is scaled by the power of four, 1/root², that brings its largest element to [2¹³, 2¹⁵). Each element x
/// is then hi + lo: hi = x rounded to fp16, lo = the rest rounded to fp16. Together they hold 22 bits of all that is
/// not below 2⁻¹⁵ of the largest, and of the rest what is above 2⁻³⁸ of it. For each 32 along k, a row has 32 hi and
/// then 32 lo. A NaN or an infinity stays in hi.
template <bool split, class In>
struct Packing {
  Operand<In, Cuda> X;
  std::conditional_t<split, fp16, In>* to;
  std::int64_t ld;
  float* roots = nullptr;  ///< of each row, where split
};

constexpr int pack_rows = 32, pack_depth = 64, pack_threads = 256;

/// f(element, row, l, x) for the elements of a 32 × 64 tile of X that this thread reads, with x = 0 … 7. Reads are
/// coalesced whichever way X lies. A thread has at most 4 rows, that of x being the one of x % 4.
template <class In, class F>
__device__ void for_each_of_tile(Operand<In, Cuda> X, std::int64_t first_row, std::int64_t first_l, F f) {
  const int t = threadIdx.x, minor = t % 32, major = t / 32;
  const bool rows_contiguous = X.row_stride() == 1;
  In elements[8];
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    const int row = rows_contiguous ? minor : major + 8 * (x % 4),
              l = rows_contiguous ? major + 8 * x : minor + x / 4 * 32;
    elements[x] =
        first_row + row < X.rows() && first_l + l < X.cols() ? element(X, first_row + row, first_l + l) : In(0.0f);
  }
#pragma unroll
  for (int x = 0; x < 8; ++x) {
    const int row = rows_contiguous ? minor : major + 8 * (x % 4),
              l = rows_contiguous ? major + 8 * x : minor + x / 4 * 32;
    f(elements[x], row, l, x);
  }
}

/// log₂ of the scale of each of the 32 rows from first_row on.
__device__ inline void scale_exponents(Operand<float, Cuda> X, std::int64_t first_row, int (&exponents)[pack_rows]) {
  __shared__ unsigned largest[pack_rows];  // finite magnitudes, as bits
  if (threadIdx.x < pack_rows) largest[threadIdx.x] = 0;
  __syncthreads();
  unsigned mine[4] = {};
  int rows[4];
  for (std::int64_t l = 0; l < X.cols(); l += pack_depth)
    for_each_of_tile(X, first_row, l, [&](float v, int row, int, int x) {
      const unsigned bits = __float_as_uint(v) & 0x7fffffff;
      if (bits < 0x7f800000) mine[x % 4] = max(mine[x % 4], bits);
      rows[x % 4] = row;
    });
  for (int x = 0; x < 4; ++x) atomicMax(&largest[rows[x]], mine[x]);
  __syncthreads();
  if (threadIdx.x < pack_rows) {
    const int up = 14 - (int(largest[threadIdx.x] >> 23) - 127);
    exponents[threadIdx.x] = min(up - (up & 1), 126);
  }
  __syncthreads();
}

__device__ inline float two_to_the(int exponent) { return __int_as_float((127 + exponent) << 23); }

/// Two neighbours along k → hi and lo of each.
__device__ inline void split_pair(float x0, float x1, fp16* hi_at, fp16* lo_at) {
  const __half2 hi = __floats2half2_rn(x0, x1);
  const float2 rounded = __half22float2(hi);
  const auto rest = [](float x, float hi) { return isfinite(hi) ? x - hi : 0.0f; };
  *reinterpret_cast<__half2*>(hi_at) = hi;
  *reinterpret_cast<__half2*>(lo_at) = __floats2half2_rn(rest(x0, rounded.x), rest(x1, rounded.y));
}

template <bool split, class In>
__global__ void __launch_bounds__(pack_threads)
    pack_kernel(Packing<split, In> a, Packing<split, In> b, unsigned blocks_of_a) {
  const auto p = blockIdx.x < blocks_of_a ? a : b;
  const std::int64_t first_row =
      std::int64_t(blockIdx.x < blocks_of_a ? blockIdx.x : blockIdx.x - blocks_of_a) * pack_rows;
  __shared__ In tile[pack_depth][pack_rows + 1];
  __shared__ int exponents[pack_rows];
  if constexpr (split) {
    scale_exponents(p.X, first_row, exponents);
    if (threadIdx.x < pack_rows) p.roots[first_row + threadIdx.x] = two_to_the(-exponents[threadIdx.x] / 2);
  }
  const int pair = threadIdx.x % 32 * 2;
  for (std::int64_t l = 0; l < p.X.cols(); l += pack_depth) {
    for_each_of_tile(p.X, first_row, l, [&](In v, int row, int k, int) { tile[k][row] = v; });
    __syncthreads();
    for (int row = threadIdx.x / 32; row < pack_rows && first_row + row < p.X.rows(); row += pack_threads / 32) {
      auto* to = p.to + (first_row + row) * p.ld;
      if constexpr (split) {
        to += 2 * l + pair / 32 * 64 + pair % 32;
        const float scale = two_to_the(exponents[row]);
        if (l + pair / 32 * 32 < p.X.cols())
          split_pair(tile[pair][row] * scale, tile[pair + 1][row] * scale, to, to + 32);
      } else {
        for (int x = pair; x < pair + 2; ++x) {
          if (l + x < p.X.cols()) to[l + x] = tile[x][row];
        }
      }
    }
    __syncthreads();
  }
}

template <bool split, class In>
void pack(Queue<Cuda>& q, const Packing<split, In>& a, const Packing<split, In>& b) {
  const unsigned of_a = unsigned(ceil_div(a.X.rows(), pack_rows)), of_b = unsigned(ceil_div(b.X.rows(), pack_rows));
  launch(q, pack_kernel<split, In>, of_a + of_b, pack_threads, a, b, of_a);
}

}  // namespace lasolve
