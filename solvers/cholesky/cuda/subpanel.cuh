// The rows of a Cholesky leaf: sub-panels of 8 columns, factored by the warps that have the rows. leaf.cuh says how
// they and the other warps work together.
#pragma once

#include <algorithm>
#include <climits>

#include "lasolve/matrix.hpp"
#include "solvers/devices/cuda/reciprocal.cuh"
#include "solvers/kernel_limits.hpp"

namespace lasolve {

constexpr int cholesky_subpanels = cholesky_step / 8;
constexpr int cholesky_own_rows = 32;  // of each block of threads

/// How large a leaf is, and which warp does what. The diagonal block takes one or two steps. In fp64 the warps with
/// rows have a sub-partition of the multiprocessor for themselves. fp32 has instructions that do not wait for tensor
/// cores, so there each sub-partition has such a warp.
template <class T, int steps_>
struct CholeskyShape {
  using Element = T;
  static constexpr int steps = steps_;
  static constexpr int order = steps * cholesky_step;  // of the block on the diagonal
  static constexpr int rows = order + cholesky_own_rows, tile_warps = rows / 16;
  static constexpr bool own_sub_partition = sizeof(T) == 8;
  static constexpr int sub_partitions =
      4;  // of a multiprocessor; warps whose numbers have the same remainder share one
  static constexpr int row_warps = own_sub_partition ? 2 : 4;
  static constexpr int writer = own_sub_partition ? row_warps * sub_partitions : row_warps + tile_warps;  // has neither
  static constexpr int last_with_tiles = own_sub_partition ? (tile_warps - 1) / (sub_partitions - 1) * sub_partitions +
                                                                 (tile_warps - 1) % (sub_partitions - 1) + 1
                                                           : writer - 1;
  static constexpr int warps = std::max(last_with_tiles, writer) + 1;
  static constexpr int threads = 32 * warps, workers = 32 * (tile_warps + row_warps);

  /// The number of a warp among those with rows, or with tiles; −1: it has none.
  static constexpr int with_rows(int warp) {
    const int turn = own_sub_partition ? (warp % sub_partitions == 0 ? warp / sub_partitions : row_warps) : warp;
    return turn < row_warps ? turn : -1;
  }
  static constexpr int with_tiles(int warp) {
    if (own_sub_partition) return warp % sub_partitions == 0 ? -1 : warp - warp / sub_partitions - 1;
    return warp < writer ? max(warp - row_warps, -1) : -1;
  }
};

template <class S>
using CholeskyColumn = double[S::rows + 4];  // columns lie so that tiles are read without bank conflicts

template <class S>
struct CholeskyShared {
  using T = typename S::Element;
  CholeskyColumn<S> X[S::order];
  alignas(16) T sub_panel[S::rows][8 + 16 / sizeof(T)];  // the 8 columns at hand
  double minus_inverse[S::order];                        // −1/d
  T pivot[S::order];                                     // d
  bool writes;                                           // whether this block writes the factor of the diagonal block
};

/// All that have rows or tiles have come here.
template <class S>
__device__ void sync_workers() {
  __syncwarp();
  asm volatile("bar.sync 1, %0;" ::"n"(S::workers) : "memory");
}

/// Whether x and 1/x are positive normal numbers, with room for rounding.
__device__ inline bool is_usual(double x) {
  constexpr unsigned least = 0x00300000, end = 0x7fb00000;
  return unsigned(__double2hiint(x)) - least < end - least;
}
__device__ inline bool is_usual(float x) {
  constexpr unsigned least = 0x01000000, end = 0x7e000000;
  return __float_as_uint(x) - least < end - least;
}

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T x, y;
};

/// Which rows of a sub-panel a lane has. Lanes 0, …, 7 of each warp with rows begin with the block on the diagonal,
/// which all such warps eliminate. The other rows follow, warp by warp.
template <class S>
struct CholeskyLane {
  static constexpr int warps = S::row_warps;
  int lane = threadIdx.x % 32, turn = S::with_rows(threadIdx.x / 32);

  /// How many of n rows a lane has.
  static constexpr int rows_of(int n) { return ((n - 8 + warps - 1) / warps + 8 + 31) / 32; }
  template <int R>
  __device__ int row(int first, int r) const {
    return first + lane + 32 * r + (r == 0 && lane < 8 ? 0 : turn * (32 * R - 8));
  }
  __device__ bool keeps(int row, int r) const { return row < S::rows && !(r == 0 && lane < 8 && turn > 0); }
};

template <class S, class T, int R>
__device__ void read_rows(const CholeskyShared<S>& s, int first, T (&x)[R][8]) {
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const int row = min(CholeskyLane<S>().template row<R>(first, r), S::rows - 1);
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
      const auto pair = *reinterpret_cast<const Pair<T>*>(&s.sub_panel[row][j]);
      x[r][j] = pair.x, x[r][j + 1] = pair.y;
    }
  }
}

/// Keeps column first + j of X, and 1/d.
template <class S, class T, int R>
__device__ void keep_column(CholeskyShared<S>& s, int first, int j, const T (&x)[R][8], T pivot, T inverse) {
#pragma unroll
  for (int r = 0; r < R; ++r)
    if (const int row = CholeskyLane<S>().template row<R>(first, r); CholeskyLane<S>().keeps(row, r))
      s.X[first + j][row] = double(x[r][j]);
  if (threadIdx.x == 0) s.pivot[first + j] = pivot, s.minus_inverse[first + j] = -double(inverse);
}

/// The 8 × 8 block on the diagonal, as a lane needs it. In fp64 it has it from the lanes with these rows. In fp32,
/// whose products are cheap, each lane eliminates this block for itself, which is sooner.
template <class S, bool own = !S::own_sub_partition>
struct CholeskyDiagonal {
  using T = typename S::Element;
  T d[8][8];  // the lower triangle

  __device__ CholeskyDiagonal(const CholeskyShared<S>& s, int first) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
#pragma unroll
      for (int j = 0; j <= i; j += 4) {
        const float4 four = *reinterpret_cast<const float4*>(&s.sub_panel[first + i][j]);
        d[i][j] = four.x, d[i][j + 1] = four.y, d[i][j + 2] = four.z, d[i][j + 3] = four.w;
      }
  }
  __device__ T at(T, int c, int j) const { return d[c][j]; }
  __device__ void eliminate(int c, int j, T u) {
#pragma unroll
    for (int i = c; i < 8; ++i) d[i][c] = fma(-d[i][j], u, d[i][c]);
  }
};
template <class S>
struct CholeskyDiagonal<S, false> {
  using T = typename S::Element;
  __device__ CholeskyDiagonal(const CholeskyShared<S>&, int) {}
  __device__ T at(T mine, int c, int) const { return __shfl_sync(~0u, mine, c); }
  __device__ void eliminate(int, int, T) {}
};

/// Columns first, …, first + 7 of X in R rows of each lane. False if there is a pivot that is not usual; then what is
/// there is of no use. The next column needs its pivot first. So its products with an approximation r of 1/d = r (1 +
/// e) are made before e is known.
template <int R, class S>
__device__ bool factor_subpanel(CholeskyShared<S>& s, int first) {
  using T = typename S::Element;
  T x[R][8];
  CholeskyDiagonal<S> diagonal(s, first);
  read_rows(s, first, x);
  bool usual = true;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const T pivot = diagonal.at(x[0][j], j, j), r = rough_reciprocal(pivot);
    const T error = fma(-pivot, r, T(1)), e = fma(error, error, error), inverse = fma(r, e, r);
    usual = usual && is_usual(pivot);
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
      const T below = diagonal.at(x[0][j], c, j), rough = below * r;
      const T u = c == j + 1 ? fma(rough, e, rough) : below * inverse;
      diagonal.eliminate(c, j, u);
#pragma unroll
      for (int i = 0; i < R; ++i) x[i][c] = fma(-x[i][j], u, x[i][c]);
    }
    keep_column(s, first, j, x, pivot, inverse);
  }
  return usual;
}

/// The same for any pivots, and with the roots: columns of L, which are X with d = 1. Seldom needed, so it is kept
/// apart from the registers of the usual path. Returns the first column whose pivot is not positive, or INT_MAX.
template <int R, class S>
__device__ __noinline__ int factor_subpanel_of_any(CholeskyShared<S>& s, int first) {
  using T = typename S::Element;
  T x[R][8];
  read_rows(s, first, x);
  int bad = INT_MAX;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const T pivot = __shfl_sync(~0u, x[0][j], j), root = reciprocal_root_of_any(pivot);
    if (!(pivot > T(0))) bad = min(bad, first + j);
#pragma unroll
    for (int i = 0; i < R; ++i) x[i][j] *= root;
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
      const T below = __shfl_sync(~0u, x[0][j], c);
#pragma unroll
      for (int i = 0; i < R; ++i) x[i][c] = fma(-x[i][j], below, x[i][c]);
    }
    keep_column(s, first, j, x, T(1), T(1));
  }
  return bad;
}

/// Factors one sub-panel of a step after the other. Returns the first column whose pivot is not positive.
template <int R, class S>
__device__ int factor_rows(CholeskyShared<S>& s, int begin) {
  int bad = INT_MAX;
#pragma unroll 1
  for (int first = begin; first < begin + cholesky_step; first += 8) {
    sync_workers<S>();  // the sub-panel is there
    if (!factor_subpanel<R>(s, first)) bad = min(bad, factor_subpanel_of_any<R>(s, first));
    sync_workers<S>();  // its factor is there
  }
  return bad;
}

}  // namespace lasolve
