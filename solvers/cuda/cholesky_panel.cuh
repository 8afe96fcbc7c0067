// Leaves of a Cholesky panel on CUDA: block columns of at most 256 columns and any height, in steps of 64 columns.
//
// A step is one kernel. Each block brings 64 rows below the diagonal, and again the 64 × 64 block on it, up to date with
// the columns to the left, and then factors the 128 rows as one: that the diagonal block is factored by all at once
// costs less than that they would wait for one another. Products run in fp64 in tensor cores, for fp32 too, whose
// elements are rounded once a step.
//
// Within a step, 8 columns at a time: each thread has one of the 128 rows and factors the 8 × 8 block on the diagonal for
// itself, in registers, while it solves its row; then the columns to the right are updated.
#pragma once

#include <cuda_pipeline.h>

#include "core/cuda/check.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/cuda/fp64_tile.cuh"

namespace lasolve {

constexpr int cholesky_step = 64;
constexpr int cholesky_rows = 2 * cholesky_step;  // those of the diagonal block, and as many below
constexpr int cholesky_strips = cholesky_step / 8;
constexpr int cholesky_chunk = 16, cholesky_chunks_ahead = 3;

/// Rows of columns that lie so that tiles are read without bank conflicts.
template <class T>
using CholeskyColumn = T[cholesky_rows + 4];

template <class T>
struct CholeskyShared {
  static constexpr int padding = int(16 / sizeof(T));
  union {
    CholeskyColumn<T> chunks[cholesky_chunks_ahead + 1][cholesky_chunk];  // of the columns to the left
    CholeskyColumn<double> L[cholesky_step];
  };
  alignas(16) T strip[cholesky_rows][8 + padding];  // the 8 columns at hand
  bool last;
};

__device__ inline double reciprocal_root(double x) { return rsqrt(x); }
__device__ inline float reciprocal_root(float x) {
  const float r = rsqrtf(x);
  return fmaf(0.5f * r, fmaf(-x * r, r, 1.0f), r);
}

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T x, y;
};

/// The 16 × 64 tile of a warp in the layout of multiply_tile: element (row + 8·(e / 2), 8·c + 2t + e % 2) is tile[c][e].
using CholeskyTile = double[cholesky_strips][4];

/// The number of blocks that have come here before in the launch with this stamp; in a mailbox, whose stamps are never
/// used twice.
__device__ inline unsigned come_before(unsigned long long* count, unsigned stamp) {
  const unsigned long long none = static_cast<unsigned long long>(stamp) << 32;
  __threadfence();
  atomicMax(count, none);
  return unsigned(atomicAdd(count, 1ull) - none);
}

/// diagonal ← diagonal − D Dᵀ, below ← below − B Dᵀ, where [D; B] are the columns of A to the left of its last ones.
template <class T>
__device__ void eliminate_left(CholeskyShared<T>& s, MatrixView<T, Cuda> A, int k, std::int64_t my_row, bool present,
                               CholeskyTile& diagonal, CholeskyTile& below) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const auto fetch = [&](int first) {
    if (first < k)
#pragma unroll
      for (int c = 0; c < cholesky_chunk; ++c)
        __pipeline_memcpy_async(&s.chunks[first / cholesky_chunk % (cholesky_chunks_ahead + 1)][c][threadIdx.x],
                                A.data() + (present ? my_row : 0) + (first + c) * A.ld(), sizeof(T),
                                present ? 0 : sizeof(T));
    __pipeline_commit();
  };
  for (int i = 0; i < cholesky_chunks_ahead; ++i) fetch(i * cholesky_chunk);
#pragma unroll 1
  for (int first = 0; first < k; first += cholesky_chunk) {
    __pipeline_wait_prior(cholesky_chunks_ahead - 1);
    __syncthreads();
    fetch(first + cholesky_chunks_ahead * cholesky_chunk);
    const auto& chunk = s.chunks[first / cholesky_chunk % (cholesky_chunks_ahead + 1)];
#pragma unroll
    for (int c = 0; c < cholesky_chunk; c += 8) {
      const T *low = chunk[c + t], *high = chunk[c + t + 4];
      const int row = 16 * warp + g;
      const double d[4] = {-double(low[row]), -double(low[row + 8]), -double(high[row]), -double(high[row + 8])};
      low += cholesky_step, high += cholesky_step;
      const double b[4] = {-double(low[row]), -double(low[row + 8]), -double(high[row]), -double(high[row + 8])};
#pragma unroll
      for (int j = 0; j < cholesky_strips; ++j) {
        const double right[2] = {double(chunk[c + t][8 * j + g]), double(chunk[c + t + 4][8 * j + g])};
        if (j <= 2 * warp + 1) multiply_tile(diagonal[j], d, right, diagonal[j]);
        multiply_tile(below[j], b, right, below[j]);
      }
    }
  }
  __syncthreads();
}

/// Factors the 8 × 8 block D on the diagonal, and x ← x inv(D)ᵀ. Returns the first column whose pivot is not positive.
template <class T>
__device__ int factor_strip(const T (*strip)[8 + CholeskyShared<T>::padding], int diagonal_row, int my_row, T (&x)[8]) {
  T d[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j <= i; j += 2) {
      const auto pair = *reinterpret_cast<const Pair<T>*>(&strip[diagonal_row + i][j]);
      d[i][j] = pair.x, d[i][j + 1] = pair.y;
    }
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const auto pair = *reinterpret_cast<const Pair<T>*>(&strip[my_row][j]);
    x[j] = pair.x, x[j + 1] = pair.y;
  }
  int bad = 8;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    if (!(d[j][j] > T(0))) bad = min(bad, j);
    const T r = reciprocal_root(d[j][j]);
#pragma unroll
    for (int i = j + 1; i < 8; ++i) d[i][j] *= r;
    x[j] *= r;
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
#pragma unroll
      for (int i = c; i < 8; ++i) d[i][c] -= d[i][j] * d[c][j];
      x[c] -= x[j] * d[c][j];
    }
  }
  return bad;
}

/// Factors the last columns of A, at most 64, whose first k have been factored; row 0 of A is their first. Block b has
/// the 64 rows from 64·b on below them, and the last block that has read the diagonal block writes its factor.
template <class T>
__global__ void __launch_bounds__(cholesky_rows)
    factor_cholesky_step(MatrixView<T, Cuda> A, int k, Minors<Cuda> minors, unsigned long long* count, unsigned stamp) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<T>*>(memory);
  const int w = int(A.cols()) - k, lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
  const std::int64_t below_row = w + cholesky_step * std::int64_t(blockIdx.x);
  const MatrixView<T, Cuda> C = A.columns(k, w);
  const auto row_of = [&](int i) { return i < cholesky_step ? i : below_row + i - cholesky_step; };
  const auto is_there = [&](int i) { return i < cholesky_step ? i < w : row_of(i) < A.rows(); };

  CholeskyTile diagonal, below;  // beyond the matrix: of a unit matrix, and zero
#pragma unroll
  for (int c = 0; c < cholesky_strips; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = 16 * warp + g + e / 2 * 8, j = 8 * c + 2 * t + e % 2;
      diagonal[c][e] = i < w && j <= i ? double(C.data()[i + j * C.ld()]) : i == j ? 1.0 : 0.0;
      below[c][e] = is_there(cholesky_step + i) && j < w ? double(C.data()[below_row + i + j * C.ld()]) : 0.0;
    }
  if (k > 0) eliminate_left(s, A, k, row_of(threadIdx.x), is_there(threadIdx.x), diagonal, below);

  const int my_index = lane < 16 ? 16 * warp + lane : cholesky_step + 16 * warp + lane - 16;
  const bool mine_below = lane >= 16 && is_there(my_index);
  int bad = INT_MAX;
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
#pragma unroll
    for (int e = 0; e < 4; e += 2) {
      const int i = 16 * warp + g + 4 * e;
      *reinterpret_cast<Pair<T>*>(&s.strip[i][2 * t]) = {T(diagonal[0][e]), T(diagonal[0][e + 1])};
      *reinterpret_cast<Pair<T>*>(&s.strip[cholesky_step + i][2 * t]) = {T(below[0][e]), T(below[0][e + 1])};
    }
    __syncthreads();
    T x[8];
    const int bad_here = factor_strip(s.strip, 8 * p, my_index, x);
    if (bad_here < 8) bad = min(bad, 8 * p + bad_here);
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      s.L[8 * p + j][my_index] = double(x[j]);
      if (mine_below && 8 * p + j < w) C.data()[row_of(my_index) + (8 * p + j) * C.ld()] = x[j];
    }
    __syncthreads();
    if (p == 1 && threadIdx.x == 0) s.last = come_before(count, stamp) == gridDim.x - 1;
    const double *low = s.L[8 * p + t], *high = s.L[8 * p + t + 4];
    const int i = 16 * warp + g;
    const double d[4] = {-low[i], -low[i + 8], -high[i], -high[i + 8]};
    const double *low_below = low + cholesky_step, *high_below = high + cholesky_step;
    const double b[4] = {-low_below[i], -low_below[i + 8], -high_below[i], -high_below[i + 8]};
#pragma unroll
    for (int c = 1; c < cholesky_strips; ++c) {  // the tiles move to the left by one strip
      if (p + c >= cholesky_strips) continue;
      const double right[2] = {low[8 * (p + c) + g], high[8 * (p + c) + g]};
      multiply_tile(diagonal[c - 1], d, right, diagonal[c]);
      multiply_tile(below[c - 1], b, right, below[c]);
    }
  }
  if (!s.last) return;
  for (int e = threadIdx.x; e < cholesky_step * cholesky_step; e += cholesky_rows) {
    const int i = e % cholesky_step, j = e / cholesky_step;
    if (i < w && j <= i) C.data()[i + j * C.ld()] = T(s.L[j][i]);
  }
  if (threadIdx.x == 0 && bad < w && *minors.bad_minor.data() < 0) *minors.bad_minor.data() = minors.first + bad + 1;
}

template <class T>
std::int64_t cholesky_leaf_columns(const Queue<Cuda>&, MatrixView<T, Cuda>) {
  return 256;
}

/// [A11; A21] = [L11; L21] L11ᵀ of a leaf.
template <class T>
void panel_cholesky_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Minors<Cuda> minors) {
  constexpr auto kernel = factor_cholesky_step<T>;
  constexpr std::size_t shared = sizeof(CholeskyShared<T>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  for (std::int64_t j = 0; j < A.cols(); j += cholesky_step) {
    const std::int64_t w = std::min<std::int64_t>(cholesky_step, A.cols() - j), rest = A.rows() - j - w;
    const auto blocks = unsigned(std::max<std::int64_t>(1, (rest + cholesky_step - 1) / cholesky_step));
    const auto mail = q.mailbox(sizeof(unsigned long long), 1);
    kernel<<<blocks, cholesky_rows, shared, q.stream()>>>(A.block(j, 0, A.rows() - j, j + w), int(j), minors.from(j),
                                                          static_cast<unsigned long long*>(mail.memory), mail.stamp);
    CUDA_CHECK_LAUNCH();
  }
}

inline void prepare(Queue<Cuda>& q) { q.ahead().mailbox(sizeof(unsigned long long), 0); }

/// On the host nothing is known of a factorization that is under way.
inline bool known_to_have_failed(const Queue<Cuda>&, MatrixView<std::int64_t, Cuda>) { return false; }

}  // namespace lasolve
