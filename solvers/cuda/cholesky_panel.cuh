// Leaves of a Cholesky panel on CUDA: block columns of up to 128 columns, one kernel each.
//
// Each block of threads factors the block on the diagonal, 128 × 128, for itself and in shared memory, because to wait for
// another would take longer, and with it solves 32 of the rows below. So blocks never wait for each other, and how many
// run at the same time does not matter; the one that was the last to read the diagonal block writes its factor there.
//
// Two steps of 64 columns, each in strips of 8. Some warps have 16 rows in tiles; the others have a row each: they factor
// the 8 × 8 block on the diagonal, every thread for itself, and solve their rows, while the tiles further to the right are
// brought up to date with the strip before. Products run in fp64 in tensor cores, for fp32 too.
#pragma once

#include <climits>

#include "core/cuda/launch.cuh"
#include "solvers/cholesky.hpp"
#include "solvers/cuda/fp64_tile.cuh"
#include "solvers/cuda/triangle.cuh"
#include "solvers/cuda/tuning.cuh"

namespace lasolve {

constexpr int cholesky_step = 64, cholesky_strips = cholesky_step / 8;
constexpr int cholesky_order = 2 * cholesky_step;         // of the block on the diagonal
constexpr int cholesky_own_rows = 32;                     // of each block of threads
constexpr int cholesky_rows = cholesky_order + cholesky_own_rows;
constexpr int cholesky_row_warps = cholesky_rows / 32, cholesky_tile_warps = cholesky_rows / 16;
constexpr int cholesky_threads = 32 * (cholesky_row_warps + cholesky_tile_warps);

template <class T>
struct CholeskyShared {
  double L[cholesky_order][cholesky_rows + 4];              // columns that lie so that tiles are read without bank conflicts
  alignas(16) T strip[cholesky_rows][8 + 16 / sizeof(T)];   // the 8 columns at hand
  bool writes;                                              // whether this block writes the factor of the diagonal block
};

/// A 16 × 8n tile of a warp in the layout of multiply_tile: c[j][e] is element (g + e / 2 · 8, 8·j + 2t + e % 2).
template <int n>
struct CholeskyTile {
  double c[n][4];
};
using CholeskyRows = CholeskyTile<cholesky_strips>;
using CholeskyHalf = CholeskyTile<cholesky_strips / 2>;

/// Barriers of all threads; of those that work on the second step; and of those that do not.
enum class CholeskyBarrier { all, second, spare };
template <CholeskyBarrier of>
__device__ void meet() {
  constexpr int spare = cholesky_step;  // threads whose rows are done after the first step
  constexpr int threads = of == CholeskyBarrier::all      ? cholesky_threads
                          : of == CholeskyBarrier::second ? cholesky_threads - spare
                                                          : spare;
  __syncwarp();
  asm volatile("bar.sync %0, %1;" ::"n"(int(of)), "n"(threads) : "memory");
}

/// 1/x to about 20 bits, or more.
__device__ inline double rough_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
__device__ inline float rough_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

/// 1/√x without a branch, for x that is zero or a normal number.
__device__ inline double reciprocal_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double error = fma(-x * r, r, 1.0);
  return fma(r * error, fma(0.375, error, 0.5), r);
}
__device__ inline float reciprocal_root(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(0.5f * r, fmaf(-x * r, r, 1.0f), r);
}
__device__ inline double smallest_normal(double) { return 0x1p-1022; }
__device__ inline float smallest_normal(float) { return 0x1p-126f; }

/// 1/√x, for subnormal x too.
template <class T>
__device__ T reciprocal_root_of_any(T x) {
  constexpr T lift = sizeof(T) == 8 ? 0x1p100 : 0x1p30;
  const bool small = x < smallest_normal(x);
  return reciprocal_root(small ? x * lift * lift : x) * (small ? lift : T(1));
}

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T x, y;
};

/// Element (i, j), (i, j + 1), … of a strip, two at a time.
template <class T>
__device__ void read_pairs(const CholeskyShared<T>& s, int row, int count, T (&v)[8]) {
#pragma unroll
  for (int j = 0; j < 8; j += 2)
    if (j < count) {
      const auto pair = *reinterpret_cast<const Pair<T>*>(&s.strip[row][j]);
      v[j] = pair.x, v[j + 1] = pair.y;
    }
}

/// The 8 × 8 block D on the diagonal, whose first row is that, and the row of this thread.
template <class T>
__device__ void read_strip(const CholeskyShared<T>& s, int first_row, T (&d)[8][8], T (&x)[8]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) read_pairs(s, first_row + i, i + 1, d[i]);
  read_pairs(s, int(threadIdx.x), 8, x);
}

/// x ← x inv(chol(D))ᵀ. Returns the first column whose pivot is not positive, or 8; `unusual` if there was one whose
/// reciprocal may not be a normal number, and x is not to be used.
/// What makes the time is the chain from pivot to pivot. Roots are not in it, and neither is the last digit of a
/// reciprocal: with 1/d = r (1 + e), products with r are taken first and those with e, which come later, added.
template <class T>
__device__ int factor_strip(const CholeskyShared<T>& s, int first_row, T (&x)[8], bool& unusual) {
  T d[8][8];
  read_strip(s, first_row, d, x);
  int bad = 8;
  unusual = false;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const T pivot = d[j][j], r = rough_reciprocal(pivot), error = fma(-pivot, r, T(1)), e = fma(error, error, error);
    if (!(pivot > T(0))) bad = min(bad, j);
    unusual |= pivot > T(0) && !(pivot >= 4 * smallest_normal(pivot) && pivot <= T(0.0625) / smallest_normal(pivot));
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
      const T rough = d[c][j] * r, u = fma(rough, e, rough);
      d[c][c] = fma(-(rough * d[c][j]), e, fma(-rough, d[c][j], d[c][c]));
#pragma unroll
      for (int i = c + 1; i < 8; ++i) d[i][c] = fma(-d[i][j], u, d[i][c]);
      x[c] = fma(-x[j], u, x[c]);
    }
  }
  const int row = int(threadIdx.x) - first_row;
#pragma unroll
  for (int j = 0; j < 8; ++j) x[j] = (row == j ? d[j][j] : x[j]) * reciprocal_root(d[j][j]);
  return bad;
}

/// The same for any pivots, column by column; x goes to L. Seldom needed, so it is kept apart from the registers of what is.
template <class T>
__device__ __noinline__ int factor_strip_of_any(CholeskyShared<T>& s, int first_row) {
  T d[8][8], x[8];
  read_strip(s, first_row, d, x);
  int bad = 8;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const T root = reciprocal_root_of_any(d[j][j]);
    if (!(d[j][j] > T(0))) bad = min(bad, j);
#pragma unroll
    for (int i = j + 1; i < 8; ++i) d[i][j] *= root;
    x[j] *= root;
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
#pragma unroll
      for (int i = c; i < 8; ++i) d[i][c] -= d[i][j] * d[c][j];
      x[c] -= x[j] * d[c][j];
    }
    s.L[first_row + j][threadIdx.x] = double(x[j]);
  }
  return bad;
}

/// Those with rows: factor one strip of a step after the other. Row: where this thread's row of the factor goes, if
/// `stored`; columns: those of the matrix. Returns the first column whose pivot is not positive.
template <CholeskyBarrier of, class T>
__device__ int factor_rows(CholeskyShared<T>& s, T* row, std::int64_t ld, int columns, bool stored) {
  constexpr int first = of == CholeskyBarrier::second ? cholesky_step : 0;
  int bad = INT_MAX;
#pragma unroll 1
  for (int k = first; k < first + cholesky_step; k += 8) {
    meet<of>();  // the strip is there
    T x[8];
    bool unusual;
    int bad_here = factor_strip(s, k, x, unusual);
    if (unusual) {
      bad_here = factor_strip_of_any(s, k);
#pragma unroll
      for (int j = 0; j < 8; ++j) x[j] = T(s.L[k + j][threadIdx.x]);
    }
    if (bad_here < 8) bad = min(bad, k + bad_here);
#pragma unroll
    for (int j = 0; j < 8; ++j) s.L[k + j][threadIdx.x] = double(x[j]);
    meet<of>();  // its factor is there
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (stored && k + j < columns) row[(k + j) * ld] = x[j];
  }
  return bad;
}

/// Hands a strip of a tile to those with rows.
template <class T>
__device__ void hand_over(CholeskyShared<T>& s, int top, const double (&c)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  *reinterpret_cast<Pair<T>*>(&s.strip[top + g][2 * t]) = {T(c[0]), T(c[1])};
  *reinterpret_cast<Pair<T>*>(&s.strip[top + g + 8][2 * t]) = {T(c[2]), T(c[3])};
}

using CholeskyColumn = double[cholesky_rows + 4];

/// What multiply_tile takes as its left factor, of 8 columns and the 16 rows from `top` on, with the sign changed.
__device__ inline void left_factor(const CholeskyColumn* columns, int top, double (&a)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  a[0] = -columns[t][top + g], a[1] = -columns[t][top + g + 8];
  a[2] = -columns[t + 4][top + g], a[3] = -columns[t + 4][top + g + 8];
}

/// tile ← tile − A Bᵀ with 8 columns, of which A are the 16 rows of left_factor and B those from `right` on, in the strips
/// first, …, last − 1 of the tile, which move to the left by `shift` strips.
template <int shift, int n>
__device__ void multiply_strips(const CholeskyColumn* columns, const double (&a)[4], int right, int first, int last,
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
  int top, needed;                    // first row; strips of the first step up to the diagonal
  int half_top, half_left, half_needed;  // of the second step

  __device__ explicit CholeskyPart(int warp) {
    const int rows = warp < 2 ? warp : warp / 2 + 1, half = warp < 2 ? 0 : warp % 2;
    top = 16 * warp;
    needed = min(cholesky_strips, 2 * warp + 2);
    half_top = cholesky_step + 16 * rows;
    half_left = cholesky_step + cholesky_step / 2 * half;
    half_needed = min(cholesky_strips / 2, 2 * rows + 2 - cholesky_strips / 2 * half);
  }
};

/// Those with tiles, first step: bring them up to date with one strip after the other, and with it those of the second.
template <class T>
__device__ void update_tiles(CholeskyShared<T>& s, const CholeskyPart& part, CholeskyRows& tile, CholeskyHalf& half) {
  constexpr auto all = CholeskyBarrier::all;
  hand_over(s, part.top, tile.c[0]);
  meet<all>();
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
    meet<all>();  // the factor of strip p is there
    const CholeskyColumn* L = s.L + 8 * p;
    double a[4];
    left_factor(L, part.top, a);
    if (p + 1 < cholesky_strips) {
      multiply_strips<1>(L, a, 8 * p, 1, 2, tile);
      hand_over(s, part.top, tile.c[0]);
      meet<all>();
      multiply_strips<1>(L, a, 8 * p, 2, part.needed - p, tile);
    }
    left_factor(L, part.half_top, a);
    multiply_strips<0>(L, a, part.half_left, 0, part.half_needed, half);
  }
}

/// Those with tiles, second step.
template <class T>
__device__ void update_halves(CholeskyShared<T>& s, const CholeskyPart& part, CholeskyHalf& half) {
  constexpr auto second = CholeskyBarrier::second;
  const int first = (part.half_left - cholesky_step) / 8, end = first + cholesky_strips / 2;  // strips that are here
  if (first == 0) hand_over(s, part.half_top, half.c[0]);
  meet<second>();
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
    meet<second>();  // the factor of strip p is there
    const CholeskyColumn* L = s.L + cholesky_step + 8 * p;
    const bool before = p < first, within = first <= p && p < end;
    double a[4];
    if (before || within) left_factor(L, part.half_top, a);
    if (before) multiply_strips<0>(L, a, part.half_left, 0, 1, half);
    if (within) multiply_strips<1>(L, a, cholesky_step + 8 * p, 1, 2, half);
    if (p + 1 < cholesky_strips) {
      if (first <= p + 1 && p + 1 < end) hand_over(s, part.half_top, half.c[0]);
      meet<second>();
    }
    if (before) multiply_strips<0>(L, a, part.half_left, 1, part.half_needed, half);
    if (within) multiply_strips<1>(L, a, cholesky_step + 8 * p, 2, part.half_needed - (p - first), half);
  }
}

/// Reads a tile whose first element is (top, left) in this block's rows; beyond A, and above the diagonal, a unit matrix.
/// below: how far this block's own rows are from those that would follow the block on the diagonal.
template <class T, int n>
__device__ void read_tile(MatrixView<T, Cuda> A, std::int64_t below, int top, int left, CholeskyTile<n>& tile) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  T values[n][4];
#pragma unroll
  for (int c = 0; c < n; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int i = top + g + e / 2 * 8, j = left + 8 * c + 2 * t + e % 2;
      const std::int64_t row = i < cholesky_order ? i : i + below;
      values[c][e] = row < A.rows() && j < A.cols() && j <= i ? A.data()[row + j * A.ld()] : T(i == j);
    }
#pragma unroll
  for (int c = 0; c < n; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) tile.c[c][e] = double(values[c][e]);
}

/// Writes the columns first, …, first + 63 of L11, with threads `thread`, thread + threads, ….
template <class T>
__device__ void write_factor(const CholeskyShared<T>& s, MatrixView<T, Cuda> A, int first, int thread, int threads) {
  const int rows = int(min(A.rows(), std::int64_t(cholesky_order))) - first;
  for (int e = thread; e < cholesky_order * cholesky_step; e += threads) {
    const int i = first + e % cholesky_order, k = first + e / cholesky_order;
    if (i - first < rows && k < A.cols() && k <= i) A.data()[i + k * A.ld()] = T(s.L[k][i]);
  }
}

/// Those without work in the second step: find out whether this block was the last to read A11, and write what is there
/// of its factor. `readers` is zero before and after.
template <class T>
__device__ void finish_first_step(CholeskyShared<T>& s, MatrixView<T, Cuda> A, unsigned* readers) {
  if (threadIdx.x == 0) {
    __threadfence();
    s.writes = gridDim.x == 1 || atomicAdd(readers, 1u) == gridDim.x - 1;
    if (s.writes && gridDim.x > 1) *readers = 0;
    __threadfence();
  }
  meet<CholeskyBarrier::spare>();
  if (s.writes) write_factor(s, A, 0, int(threadIdx.x), cholesky_step);
}

/// [A11; A21] = [L11; L21] L11ᵀ. Block b has the 32 rows from 32·b on of A21.
template <class T>
__global__ void __launch_bounds__(cholesky_threads, 1)
    factor_cholesky_panel(MatrixView<T, Cuda> A, Minors<Cuda> minors, unsigned* readers) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<T>*>(memory);
  const int warp = threadIdx.x / 32, columns = int(A.cols());
  const std::int64_t below = std::int64_t(blockIdx.x) * cholesky_own_rows;
  const bool two_steps = columns > cholesky_step;
  if (warp < cholesky_row_warps) {
    const std::int64_t row = std::int64_t(threadIdx.x) + below;
    const bool stored = threadIdx.x >= cholesky_order && row < A.rows();
    T* const to = A.data() + (stored ? row : 0);
    int bad = factor_rows<CholeskyBarrier::all>(s, to, A.ld(), columns, stored);
    const bool second = threadIdx.x >= cholesky_step;
    if (!second) finish_first_step(s, A, readers);
    if (second && two_steps) bad = min(bad, factor_rows<CholeskyBarrier::second>(s, to, A.ld(), columns, stored));
    if (blockIdx.x == 0 && threadIdx.x == cholesky_step && bad < columns)  // −1 is the largest when it has no sign
      atomicMin(reinterpret_cast<unsigned long long*>(minors.bad_minor.data()),
                static_cast<unsigned long long>(minors.first + bad + 1));
  } else {
    const CholeskyPart part(warp - cholesky_row_warps);
    CholeskyRows tile;
    CholeskyHalf half;
    read_tile(A, below, part.top, 0, tile);
    read_tile(A, below, part.half_top, part.half_left, half);
    update_tiles(s, part, tile, half);
    if (two_steps) update_halves(s, part, half);
  }
  meet<CholeskyBarrier::all>();
  if (s.writes && two_steps) write_factor(s, A, cholesky_step, int(threadIdx.x), cholesky_threads);
}

template <class T>
std::int64_t cholesky_leaf_columns(const Queue<Cuda>&, MatrixView<T, Cuda>) {
  return cholesky_order;
}

/// [A11; A21] = [L11; L21] L11ᵀ of a leaf. Where its rows are many, those below A11 are solved by a kernel of its own, which
/// takes less of the device from the updates.
template <class T>
void panel_cholesky_leaf(Queue<Cuda>& q, const GemmBackend<Cuda>& gemm, MatrixView<T, Cuda> A, Minors<Cuda> minors) {
  const std::int64_t m = A.rows(), n = A.cols(), rows = m <= most_rows_of_a_leaf(q) ? m : n;
  const std::int64_t blocks = (rows - cholesky_order + cholesky_own_rows - 1) / cholesky_own_rows;
  launch(q, factor_cholesky_panel<T>, Blocks::apart, dim3(unsigned(std::max<std::int64_t>(blocks, 1))),
         cholesky_threads, sizeof(CholeskyShared<T>), A.block(0, 0, rows, n), minors, q.counter());
  if (rows < m) trsm_right(q, gemm, lower(A.block(0, 0, n, n)).transposed(), A.block(rows, 0, m - rows, n));
}

/// On the host nothing is known of a factorization that is under way.
inline bool known_to_have_failed(const Queue<Cuda>&, MatrixView<std::int64_t, Cuda>) { return false; }

}  // namespace lasolve
