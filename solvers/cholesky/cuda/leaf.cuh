// Leaves of a Cholesky panel on CUDA: block columns of up to 128 columns, one kernel each.
//
// Each thread block factors the diagonal block, 128 × 128, for itself in shared memory: to wait for another would take
// longer. With it, it solves 32 of the rows below. So thread blocks never wait for each other, and how many run at the
// same time does not matter. The last one to read the diagonal block writes its factor there.
//
// A leaf is factored in two steps of 64 columns, each in sub-panels of 8. Where a thread block has too little shared
// memory for 128 columns, a leaf has one such step.
//
// Two warps (in fp32 four) have the rows, up to three a lane (up to two). They factor the 8 × 8 block on the diagonal
// and solve the rows below it. Other warps have 16 rows each in tiles. Meanwhile they bring the tiles further to the
// right up to date with the sub-panel before.
//
// What takes time is the chain from pivot to pivot, and the fp64 instructions of the warps with rows. So roots are kept
// out of it. Up to the end columns are X = L diag(√d), and products are X diag(1/d) Xᵀ, on fp64 tensor cores, in fp32
// too. Products of other warps in the same sub-partition of the multiprocessor make an fp64 instruction eight times as
// slow. So in fp64 the warps with rows have a sub-partition for themselves.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/fp64_tile.cuh"
#include "core/cuda/launch.cuh"
#include "solvers/cholesky/cuda/subpanel.cuh"
#include "solvers/cholesky/method.hpp"
#include "solvers/devices/cuda/trsm/triangle.cuh"
#include "solvers/devices/cuda/tuning.cuh"

namespace lasolve {

/// A 16 × 8n tile of a warp in the layout of multiply_tile: c[j][e] is element (g + e / 2 · 8, 8·j + 2t + e % 2).
template <int n>
struct CholeskyTile {
  double c[n][4];
};
using CholeskyRows = CholeskyTile<cholesky_subpanels>;
using CholeskyHalf = CholeskyTile<cholesky_subpanels / 2>;

/// Hands a sub-panel of a tile to the warp with the rows.
template <class S>
__device__ void hand_over(CholeskyShared<S>& s, int top, const double (&c)[4]) {
  using T = typename S::Element;
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  *reinterpret_cast<Pair<T>*>(&s.sub_panel[top + g][2 * t]) = {T(c[0]), T(c[1])};
  *reinterpret_cast<Pair<T>*>(&s.sub_panel[top + g + 8][2 * t]) = {T(c[2]), T(c[3])};
}

/// What multiply_tile takes as its left factor, −X diag(1/d), of the 8 columns from `first` on and the 16 rows from `top`.
template <class S>
__device__ void left_factor(const CholeskyShared<S>& s, int first, int top, double (&a)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const int column = first + t + e / 2 * 4;
    a[e] = s.X[column][top + g + e % 2 * 8] * s.minus_inverse[column];
  }
}

/// tile ← tile + A Xᵀ with 8 columns. A are the 16 rows of left_factor, X those from `right` on. Of the tile, the
/// sub-panels first, …, last − 1 are updated, and move to the left by `shift` sub-panels.
template <int shift, class Column, int n>
__device__ void multiply_subpanels(const Column* columns, const double (&a)[4], int right, int first, int last,
                                   CholeskyTile<n>& tile) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int c = shift; c < n; ++c) {
    if (c < first || c >= last) continue;
    const double b[2] = {columns[t][right + 8 * c + g], columns[t + 4][right + 8 * c + g]};
    multiply_tile(tile.c[c - shift], a, b, tile.c[c]);
  }
}

/// What a warp with tiles has: in the first step 16 rows of 64 columns, in the second 16 rows of 32 columns.
struct CholeskyPart {
  int top, needed;                       // first row; sub-panels of the first step up to the diagonal
  int half_top, half_left, half_needed;  // of the second step, if there is one

  __device__ explicit CholeskyPart(int warp) {
    const int rows = warp < 2 ? warp : warp / 2 + 1, half = warp < 2 ? 0 : warp % 2;
    top = 16 * warp;
    needed = min(cholesky_subpanels, 2 * warp + 2);
    half_top = cholesky_step + 16 * rows;
    half_left = cholesky_step + cholesky_step / 2 * half;
    half_needed = min(cholesky_subpanels / 2, 2 * rows + 2 - cholesky_subpanels / 2 * half);
  }
};

/// By the warps with tiles, first step: update them with one sub-panel after the other, and with it the tiles of the
/// second step.
template <class S>
__device__ void update_tiles(CholeskyShared<S>& s, const CholeskyPart& part, CholeskyRows& tile, CholeskyHalf& half) {
  hand_over(s, part.top, tile.c[0]);
  sync_workers<S>();
#pragma unroll 1
  for (int p = 0; p < cholesky_subpanels; ++p) {
    sync_workers<S>();  // the factor of sub-panel p is there
    const CholeskyColumn<S>* X = s.X + 8 * p;
    double a[4];
    left_factor(s, 8 * p, part.top, a);
    if (p + 1 < cholesky_subpanels) {
      multiply_subpanels<1>(X, a, 8 * p, 1, 2, tile);
      hand_over(s, part.top, tile.c[0]);
      sync_workers<S>();
      multiply_subpanels<1>(X, a, 8 * p, 2, part.needed - p, tile);
    }
    if constexpr (S::steps == 2) {
      left_factor(s, 8 * p, part.half_top, a);
      multiply_subpanels<0>(X, a, part.half_left, 0, part.half_needed, half);
    }
  }
}

/// By the warps with tiles, second step.
template <class S>
__device__ void update_halves(CholeskyShared<S>& s, const CholeskyPart& part, CholeskyHalf& half) {
  const int first = (part.half_left - cholesky_step) / 8,
            end = first + cholesky_subpanels / 2;  // sub-panels that are here
  if (first == 0) hand_over(s, part.half_top, half.c[0]);
  sync_workers<S>();
#pragma unroll 1
  for (int p = 0; p < cholesky_subpanels; ++p) {
    sync_workers<S>();  // the factor of sub-panel p is there
    const int column = cholesky_step + 8 * p;
    const bool before = p < first, within = first <= p && p < end;
    double a[4];
    if (before || within) left_factor(s, column, part.half_top, a);
    if (before) multiply_subpanels<0>(s.X + column, a, part.half_left, 0, 1, half);
    if (within) multiply_subpanels<1>(s.X + column, a, column, 1, 2, half);
    if (p + 1 < cholesky_subpanels) {
      if (first <= p + 1 && p + 1 < end) hand_over(s, part.half_top, half.c[0]);
      sync_workers<S>();
    }
    if (before) multiply_subpanels<0>(s.X + column, a, part.half_left, 1, part.half_needed, half);
    if (within) multiply_subpanels<1>(s.X + column, a, column, 2, part.half_needed - (p - first), half);
  }
}

/// Reads a tile whose first element is (top, left) in this block's rows; beyond A, a unit matrix. What is above the
/// diagonal is read too where A is there, because that takes less code. Each row of it only influences what is above
/// the diagonal.
/// needed: sub-panels from there on are above the diagonal and need not be read.
/// below: how far this block's own rows are from those that would follow the diagonal block.
template <class S, class T, int n>
__device__ void read_tile(MatrixView<T, Cuda> A, std::int64_t below, int top, int left, int needed,
                          CholeskyTile<n>& tile) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const std::int64_t first = top < S::order ? top : top + below;
  const T* const at = A.data() + first + g + (left + 2 * t) * A.ld();
  const bool whole = first + 16 <= A.rows() && left + 8 * n <= A.cols();
  T values[n][4];
  const auto each = [&](auto f) {
#pragma unroll
    for (int c = 0; c < n; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) f(c, e, e / 2 * 8, 8 * c + e % 2);
  };
  if (whole)
    each([&](int c, int e, int i, int j) { values[c][e] = at[i + j * A.ld()]; });
  else
    each([&](int c, int e, int i, int j) {
      const bool there = first + g + i < A.rows() && left + 2 * t + j < A.cols() && left + 2 * t + j <= top + g + i;
      values[c][e] = there && c < needed ? at[i + j * A.ld()] : T(left + 2 * t + j == top + g + i);
    });
  each([&](int c, int e, int, int) { tile.c[c][e] = double(values[c][e]); });
}

/// Finds out whether this block was the last to read A11. `readers` is zero before and after.
template <class S>
__device__ void find_writer(CholeskyShared<S>& s, unsigned* readers) {
  __threadfence();
  s.writes = gridDim.x == 1 || atomicAdd(readers, 1u) == gridDim.x - 1;
  if (s.writes && gridDim.x > 1) *readers = 0;
  __threadfence();
}

/// Writes the factor: this block's own rows and, if this block is the writer, L11. Each warp has every S::warps-th
/// column, some at once.
template <class S>
__device__ void write_factor(const CholeskyShared<S>& s, MatrixView<typename S::Element, Cuda> A, std::int64_t below) {
  using T = typename S::Element;
  constexpr int parts = S::rows / 32, own = parts - 1, at_once = 3;
  const int lane = threadIdx.x % 32, columns = int(A.cols());
  bool there[parts];
#pragma unroll
  for (int part = 0; part < parts; ++part)
    there[part] = lane + 32 * part + (part == own ? below : 0) < A.rows() && (part == own || s.writes);
#pragma unroll 1
  for (int k = threadIdx.x / 32; k < columns; k += at_once * S::warps) {
    T values[at_once][parts];
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const int column = min(k + c * S::warps, columns - 1);
      const T root = reciprocal_root_of_any(s.pivot[column]);
#pragma unroll
      for (int part = 0; part < parts; ++part) values[c][part] = T(s.X[column][lane + 32 * part]) * root;
    }
#pragma unroll
    for (int c = 0; c < at_once; ++c) {
      const int column = k + c * S::warps;
      T* const to = A.data() + lane + column * A.ld();
#pragma unroll
      for (int part = 0; part < parts; ++part)
        if (there[part] && column < columns && column <= lane + 32 * part)
          to[32 * part + (part == own ? below : 0)] = values[c][part];
    }
  }
}

/// By all threads: the columns of X and d, of A11 and of this block's own rows. When A has been read, one warp calls was_read(). The
/// first column whose pivot is not positive, to threads with rows; else, and to others, INT_MAX.
template <class S, class T, class WasRead>
__device__ int factor_leaf(CholeskyShared<S>& s, MatrixView<T, Cuda> A, std::int64_t below, WasRead was_read) {
  const int warp = threadIdx.x / 32;
  const bool two_steps = S::steps == 2 && A.cols() > cholesky_step;
  int bad = INT_MAX;
  if (S::with_rows(warp) >= 0) {
    bad = factor_rows<CholeskyLane<S>::rows_of(S::rows)>(s, 0);
    __syncthreads();
    if constexpr (S::steps == 2) {
      constexpr int rows = CholeskyLane<S>::rows_of(S::rows - cholesky_step);
      if (two_steps) bad = min(bad, factor_rows<rows>(s, cholesky_step));
    }
  } else if (S::with_tiles(warp) < 0) {
    __syncthreads();  // A is read
    if (threadIdx.x == 32 * S::writer) was_read();
  } else {
    const CholeskyPart part(S::with_tiles(warp));
    CholeskyRows tile;
    CholeskyHalf half;
    read_tile<S>(A, below, part.top, 0, part.needed, tile);
    if constexpr (S::steps == 2) read_tile<S>(A, below, part.half_top, part.half_left, part.half_needed, half);
    update_tiles(s, part, tile, half);
    __syncthreads();
    if (two_steps) update_halves(s, part, half);
  }
  __syncthreads();
  return bad;
}

/// [A11; A21] = [L11; L21] L11ᵀ. Block b has the 32 rows from 32·b on of A21.
template <class S>
__global__ void __launch_bounds__(S::threads, 1)
    factor_cholesky_panel(MatrixView<typename S::Element, Cuda> A, Minors<Cuda> minors, unsigned* readers) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<S>*>(memory);
  const std::int64_t below = std::int64_t(blockIdx.x) * cholesky_own_rows;
  wait_for_prerequisites();
  if (minors.is_speculative && *minors.bad_minor.data() == 0) return;
  const int bad = factor_leaf(s, A, below, [&] { find_writer(s, readers); });
  if (blockIdx.x == 0 && threadIdx.x == 0 && bad < A.cols())  // −1 is the largest when it has no sign
    atomicMin(reinterpret_cast<unsigned long long*>(minors.bad_minor.data()),
              static_cast<unsigned long long>(minors.first + bad + 1));
  write_factor(s, A, below);
}

template <class T>
constexpr int cholesky_leaf_steps(const DeviceProperties& device) {
  static_assert(sizeof(CholeskyShared<CholeskyShape<T, 2>>) == shared_memory_of_widest_leaf(precision_of<T>));
  static_assert(sizeof(CholeskyShared<CholeskyShape<T, 1>>) <= least_shared_memory);
  return cholesky_leaf_steps(device, precision_of<T>);
}

template <class T>
std::int64_t cholesky_leaf_columns(const Queue<Cuda>& q, MatrixView<T, Cuda>) {
  return cholesky_leaf_steps<T>(q.properties()) * cholesky_step;
}

template <class S, class T>
void launch_cholesky_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Minors<Cuda> minors) {
  const std::int64_t blocks = ceil_div(A.rows() - S::order, cholesky_own_rows);
  launch(q, factor_cholesky_panel<S>, Blocks::dependent, dim3(unsigned(std::max<std::int64_t>(blocks, 1))), S::threads,
         sizeof(CholeskyShared<S>), A, minors, q.counter() + counters_of_readers);
}

/// [A11; A21] = [L11; L21] L11ᵀ of a leaf. Where its rows are many, a kernel of its own solves those below A11, because
/// that takes less of the device from the updates.
template <class T>
void panel_cholesky_leaf(Queue<Cuda>& q, const Gemm<T, Cuda>& gemm, MatrixView<T, Cuda> A, Minors<Cuda> minors) {
  const std::int64_t m = A.rows(), n = A.cols(), rows = m <= most_rows_of_a_leaf(q) ? m : n;
  const auto leaf = A.block(0, 0, rows, n);
  if (cholesky_leaf_steps<T>(q.properties()) == 2)
    launch_cholesky_leaf<CholeskyShape<T, 2>>(q, leaf, minors);
  else
    launch_cholesky_leaf<CholeskyShape<T, 1>>(q, leaf, minors);
  if (rows < m) trsm_right(q, gemm, lower(A.block(0, 0, n, n)).transposed(), A.block(rows, 0, m - rows, n));
}

}  // namespace lasolve
