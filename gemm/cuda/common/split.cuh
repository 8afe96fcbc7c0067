// Splitting: fp32 operands in two parts of fp16, in scratch memory for the copy engine. A row of op(A) or a column of op(B) is then
// contiguous along k and starts at a multiple of 16 bytes.
#pragma once

#include <cuda_fp16.h>

#include "core/cuda/copy_async.cuh"
#include "core/cuda/launch.cuh"
#include "gemm/cuda/common/tile.cuh"

namespace lasolve {

/// X: (rows, k) is op(A), or op(B) transposed. `to` holds `ld` elements a row.
///
/// A row is scaled by the power of four, 1/root², that brings its largest element to [2¹³, 2¹⁵). Each element x is then
/// hi + lo: hi = x rounded to fp16, lo = the rest rounded to fp16. Together they hold 22 bits of all that is not below
/// 2⁻¹⁵ of the largest, and of the rest what is above 2⁻³⁸ of it. For each 32 along k, a row has 32 hi and then 32 lo. A
/// NaN or an infinity stays in hi.
struct Splitting {
  Operand<float, Cuda> X;
  fp16* to;
  std::int64_t ld;
  float* roots;  ///< of each row
};

/// A block has eight rows, a warp for each, and so many columns of them at once: with more, it reads them twice.
constexpr int split_rows = 8, split_threads = 32 * split_rows, split_depth = 2048;

/// Elements from row to row in shared memory: lanes that bring four columns of eight rows meet in no bank.
constexpr int split_stride(std::int64_t k) { return int(round_up(k, 32)) + 4; }

/// tile ← columns l, l + 1, … of eight rows of X, with zeros up to a multiple of 32. Reads are coalesced whichever way X lies.
__device__ inline int bring_rows(const Splitting& p, std::int64_t first_row, std::int64_t l, float* tile, int stride) {
  const int t = threadIdx.x, count = int(min(p.X.cols() - l, std::int64_t(split_depth))),
            end = int(round_up(count, 32));
  const bool rows_contiguous = p.X.row_stride() == 1;
  const int row = rows_contiguous ? t % split_rows : t / 32, first = rows_contiguous ? t / split_rows : t % 32;
  const bool exists = first_row + row < p.X.rows();
  const float* const from =
      exists ? p.X.data() + (first_row + row) * p.X.row_stride() + l * p.X.col_stride() : p.X.data();
  const unsigned to = shared_address(tile + row * stride);
  for (int k = first; k < end; k += 32) {
    const bool is_there = exists && k < count;
    copy_async<4>(to + 4 * k, from + (is_there ? k * p.X.col_stride() : 0), is_there ? 4 : 0);
  }
  close_group_of_copies();
  wait_for_copies<0>();
  __syncthreads();
  return end;
}

__device__ inline float two_to_the(int exponent) { return __int_as_float((127 + exponent) << 23); }

/// hi and lo of two neighbours along k.
__device__ inline void split_pair(float x0, float x1, __half2& hi, __half2& lo) {
  hi = __floats2half2_rn(x0, x1);
  const float2 rounded = __half22float2(hi);
  const auto rest = [](float x, float hi) { return isfinite(hi) ? x - hi : 0.0f; };
  lo = __floats2half2_rn(rest(x0, rounded.x), rest(x1, rounded.y));
}

__global__ void __launch_bounds__(split_threads) split_kernel(Splitting a, Splitting b, unsigned blocks_of_a) {
  extern __shared__ __align__(16) float tile[];
  const bool is_a = blockIdx.x < blocks_of_a;
  const Splitting p = is_a ? a : b;
  const std::int64_t first_row = std::int64_t(is_a ? blockIdx.x : blockIdx.x - blocks_of_a) * split_rows;
  const std::int64_t cols = p.X.cols();
  const int stride = split_stride(min(cols, std::int64_t(split_depth))), row = threadIdx.x / 32,
            lane = threadIdx.x % 32;
  const bool once = cols <= split_depth;
  const float* const own = tile + row * stride;

  unsigned largest = 0;  // of the row's finite magnitudes, as bits
  for (std::int64_t l = 0; l < cols; l += split_depth) {
    const int end = bring_rows(p, first_row, l, tile, stride);
    for (int k = lane; k < end; k += 32) {
      const unsigned bits = __float_as_uint(own[k]) & 0x7fffffff;
      if (bits < 0x7f800000) largest = max(largest, bits);
    }
    if (!once) __syncthreads();
  }
  largest = __reduce_max_sync(~0u, largest);
  const int up = 14 - (int(largest >> 23) - 127), exponent = min(up - (up & 1), 126);
  const float scale = two_to_the(exponent);
  if (lane == 0) p.roots[first_row + row] = two_to_the(-exponent / 2);

  for (std::int64_t l = 0; l < cols; l += split_depth) {
    const int end = once ? int(round_up(cols, 32)) : bring_rows(p, first_row, l, tile, stride);
    fp16* const to = p.to + (first_row + row) * p.ld + 2 * l;
    for (int k = 4 * lane; k < end && first_row + row < p.X.rows(); k += 4 * 32) {
      const float4 x = *reinterpret_cast<const float4*>(own + k);
      __half2 hi[2], lo[2];
      split_pair(x.x * scale, x.y * scale, hi[0], lo[0]);
      split_pair(x.z * scale, x.w * scale, hi[1], lo[1]);
      fp16* const at = to + k / 32 * 64 + k % 32;
      const auto bits = [](const __half2& pair) { return reinterpret_cast<const unsigned&>(pair); };
      *reinterpret_cast<uint2*>(at) = {bits(hi[0]), bits(hi[1])};
      *reinterpret_cast<uint2*>(at + 32) = {bits(lo[0]), bits(lo[1])};
    }
    if (!once) __syncthreads();
  }
}

inline void split(Queue<Cuda>& q, const Splitting& a, const Splitting& b) {
  const unsigned of_a = unsigned(ceil_div(a.X.rows(), split_rows)), of_b = unsigned(ceil_div(b.X.rows(), split_rows));
  const std::int64_t k = std::min(a.X.cols(), std::int64_t(split_depth));
  launch(q, split_kernel, Blocks::independent, of_a + of_b, split_threads,
         std::size_t(split_rows * split_stride(k)) * sizeof(float), a, b, of_a);
}

}  // namespace lasolve
