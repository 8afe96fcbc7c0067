// Leaves of a Cholesky panel on CUDA: block columns of up to 256 columns, one kernel each.
//
// Each block has 64 rows of the panel, whose 64 × 64 tiles it solves from left to right. A tile takes the products of
// those to its left (left-looking), and then is factored together with the tile on the diagonal: all blocks factor that
// tile for themselves, because to wait for the factor would take longer. The block whose own tile is next on the diagonal
// keeps that up to date meanwhile, and publishes it. So a step waits for one letter, of the block that is next.
//
// Within a step, strips of 8 columns. Some warps have the 128 × 64 elements in tiles; the others have a row each: they
// factor the 8 × 8 block on the diagonal, every thread for itself, and solve their rows, while the tiles further to the
// right are brought up to date with the strip before. Products run in fp64 in tensor cores, for fp32 too.
#pragma once

#include <climits>

#include "core/cuda/launch.cuh"
#include "solvers/cholesky.hpp"
#include "solvers/cuda/fp64_tile.cuh"
#include "solvers/cuda/mailbox.cuh"
#include "solvers/cuda/triangle.cuh"

namespace lasolve {

constexpr int cholesky_step = 64;
constexpr int most_cholesky_steps = 4;
constexpr int cholesky_strips = cholesky_step / 8;
constexpr int cholesky_rows = 2 * cholesky_step;  // those of the diagonal block, and as many below
constexpr int cholesky_row_warps = cholesky_rows / 32, cholesky_tile_warps = cholesky_rows / 16;
constexpr int cholesky_threads = 32 * (cholesky_row_warps + cholesky_tile_warps);
constexpr int cholesky_chunk = 32;

/// Rows of columns that lie so that tiles are read without bank conflicts.
template <class T>
using CholeskyColumn = T[cholesky_rows + 4];

template <class T>
struct CholeskyShared {
  union {
    CholeskyColumn<T> chunks[2][cholesky_chunk];  // of the columns on their way
    CholeskyColumn<double> L[cholesky_step];
  };
  alignas(16) T strip[cholesky_rows][8 + 16 / sizeof(T)];     // the 8 columns at hand
  double own[2 * cholesky_strips][32 * cholesky_tile_warps];  // this block's tile on the diagonal, from step to step
};

/// A 16 × 8n tile of a warp in the layout of multiply_tile: c[j][e] is element (g + e / 2 · 8, 8·j + 2t + e % 2).
template <int n>
struct CholeskyTile {
  double c[n][4];
};
using CholeskyRows = CholeskyTile<cholesky_strips>;
using CholeskyHalf = CholeskyTile<cholesky_strips / 2>;

/// What is waited for by those with rows, and by those with tiles.
enum class CholeskyBarrier { strip = 1, factor = 2 };
__device__ inline void arrive(CholeskyBarrier at) {
  asm volatile("bar.arrive %0, %1;" ::"r"(int(at)), "n"(cholesky_threads) : "memory");
}
__device__ inline void await(CholeskyBarrier at) {
  asm volatile("bar.sync %0, %1;" ::"r"(int(at)), "n"(cholesky_threads) : "memory");
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

/// Factors the 8 × 8 block D on the diagonal, and x ← x inv(D)ᵀ for the row of this thread. Returns the first column
/// whose pivot is not positive, or 8. `any`: for subnormal pivots too, which are seen in `subnormal` otherwise.
template <bool any, class T>
__device__ int factor_strip(const CholeskyShared<T>& s, int diagonal_row, T (&x)[8], bool& subnormal) {
  T d[8][8];
#pragma unroll
  for (int i = 0; i < 8; ++i) read_pairs(s, diagonal_row + i, i + 1, d[i]);
  read_pairs(s, int(threadIdx.x), 8, x);
  int bad = 8;
  subnormal = false;
#pragma unroll
  for (int j = 0; j < 8; ++j) {
    const T pivot = d[j][j];
    const T root = any ? reciprocal_root_of_any(pivot) : reciprocal_root(pivot);
    if (!(pivot > T(0))) bad = min(bad, j);
    subnormal |= pivot > T(0) && pivot < smallest_normal(pivot);
#pragma unroll
    for (int i = j + 1; i < 8; ++i) d[i][j] *= root;
    x[j] *= root;
#pragma unroll
    for (int c = j + 1; c < 8; ++c) {
#pragma unroll
      for (int i = c; i < 8; ++i) d[i][c] -= d[i][j] * d[c][j];
      x[c] -= x[j] * d[c][j];
    }
  }
  return bad;
}

/// The same for any pivots; x goes to s.L. Seldom needed, so it is kept apart from the registers of what is.
template <class T>
__device__ __noinline__ int factor_strip_of_any(CholeskyShared<T>& s, int p) {
  T x[8];
  bool subnormal;
  const int bad = factor_strip<true>(s, 8 * p, x, subnormal);
#pragma unroll
  for (int j = 0; j < 8; ++j) s.L[8 * p + j][threadIdx.x] = double(x[j]);
  return bad;
}

/// Those with rows: factor one strip after the other. L: where this thread's row of the factor goes, if `stored`.
/// Returns the first column whose pivot is not positive.
template <class T>
__device__ int factor_rows(CholeskyShared<T>& s, T* L, std::int64_t ld, int columns, bool stored) {
  int bad = INT_MAX;
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
    await(CholeskyBarrier::strip);
    T x[8];
    bool subnormal;
    int bad_here = factor_strip<false>(s, 8 * p, x, subnormal);
    if (subnormal) {
      bad_here = factor_strip_of_any(s, p);
#pragma unroll
      for (int j = 0; j < 8; ++j) x[j] = T(s.L[8 * p + j][threadIdx.x]);
    }
    if (bad_here < 8) bad = min(bad, 8 * p + bad_here);
#pragma unroll
    for (int j = 0; j < 8; ++j) s.L[8 * p + j][threadIdx.x] = double(x[j]);
    arrive(CholeskyBarrier::factor);
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (stored && 8 * p + j < columns) L[(8 * p + j) * ld] = x[j];
  }
  return bad;
}

/// Hands the first strip of a tile to those with rows.
template <class T>
__device__ void hand_over(CholeskyShared<T>& s, int top, const double (&c)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  *reinterpret_cast<Pair<T>*>(&s.strip[top + g][2 * t]) = {T(c[0]), T(c[1])};
  *reinterpret_cast<Pair<T>*>(&s.strip[top + g + 8][2 * t]) = {T(c[2]), T(c[3])};
  arrive(CholeskyBarrier::strip);
}

/// What multiply_tile takes as its left factor, of 8 columns and the 16 rows from `top` on, with the sign changed.
template <class Column>
__device__ void left_factor(const Column* columns, int top, double (&a)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  a[0] = -double(columns[t][top + g]), a[1] = -double(columns[t][top + g + 8]);
  a[2] = -double(columns[t + 4][top + g]), a[3] = -double(columns[t + 4][top + g + 8]);
}

/// tile ← tile − A Bᵀ with 8 columns, of which A are the 16 rows from `top` on and B those from `right` on, in the strips
/// first, …, last − 1 of the tile, which move to the left by `shift` strips.
template <int shift, class Column, int n>
__device__ void multiply_strips(const Column* columns, const double (&a)[4], int right, int first, int last,
                                CholeskyTile<n>& tile) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int c = shift; c < n; ++c) {
    if (c < first || c >= last) continue;
    const double b[2] = {double(columns[t][right + 8 * c + g]), double(columns[t + 4][right + 8 * c + g])};
    multiply_tile(tile.c[c - shift], a, b, tile.c[c]);
  }
}

/// Half of 16 rows of the block's own tile on the diagonal: the first row and the first column of this warp's.
__device__ inline int own_top(int top) { return top % cholesky_step; }
__device__ inline int own_left(int top) { return top / cholesky_step * (cholesky_step / 2); }
template <class T>
__device__ double& own_element(CholeskyShared<T>& s, int c, int e) {
  return s.own[4 * c + e][threadIdx.x - 32 * cholesky_row_warps];
}

/// Those with tiles: bring them up to date with one strip after the other, and with it the block's own on the diagonal
/// if `keeps_own`.
template <class T>
__device__ void update_tiles(CholeskyShared<T>& s, int top, bool keeps_own, CholeskyRows& tile) {
  hand_over(s, top, tile.c[0]);
  const int needed = top < cholesky_step ? top / 8 + 2 : cholesky_strips;  // strips: up to the diagonal
  const int own_needed = keeps_own ? (own_top(top) + 16 - own_left(top)) / 8 : 0;
  CholeskyHalf own;
#pragma unroll
  for (int e = 0; e < 2 * cholesky_strips; ++e) own.c[e / 4][e % 4] = own_element(s, e / 4, e % 4);
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
    await(CholeskyBarrier::factor);
    const auto* L = s.L + 8 * p;
    double a[4];
    left_factor(L, top, a);
    if (p + 1 < cholesky_strips) {
      multiply_strips<1>(L, a, 8 * p, 1, 2, tile);
      hand_over(s, top, tile.c[0]);
      multiply_strips<1>(L, a, 8 * p, 2, needed - p, tile);
    }
    if (own_needed <= 0) continue;
    left_factor(L, cholesky_step + own_top(top), a);
    multiply_strips<0>(L, a, cholesky_step + own_left(top), 0, own_needed, own);
  }
#pragma unroll
  for (int e = 0; e < 2 * cholesky_strips; ++e) own_element(s, e / 4, e % 4) = own.c[e / 4][e % 4];
}

/// f(c, e, row, column) for all elements c[c][e] of a tile of n strips, whose first is (top, left).
template <int n, class F>
__device__ void for_each_of_tile(int top, int left, F f) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
  for (int c = 0; c < n; ++c)
#pragma unroll
    for (int e = 0; e < 4; ++e) f(c, e, top + g + e / 2 * 8, left + 8 * c + 2 * t + e % 2);
}

/// Reads a tile, whose first element is (top, left), of the 64 × 64 tile C, where C is that far; beyond it, and above the
/// diagonal if `lower`, a unit matrix.
template <class T, int n>
__device__ void read_tile(MatrixView<const T, Cuda> C, int top, int left, bool lower, CholeskyTile<n>& tile) {
  T values[n][4];
  for_each_of_tile<n>(top, left, [&](int c, int e, int i, int j) {
    const bool there = i < C.rows() && j < C.cols() && (!lower || j <= i);
    values[c][e] = there ? __ldcg(C.data() + i + j * C.ld()) : T(i == j);
  });
  for_each_of_tile<n>(top, left, [&](int c, int e, int, int) { tile.c[c][e] = double(values[c][e]); });
}

/// tile ← tile + half of a 64 × 64 tile, the strips first, …: what is beyond `columns` or above the diagonal is taken
/// from a unit matrix.
template <int first, class T>
__device__ void add_columns(const CholeskyColumn<T>* chunk, int top, int columns, CholeskyRows& tile) {
  for_each_of_tile<cholesky_chunk / 8>(top, 0, [&](int c, int e, int i, int j) {
    const int column = 8 * first + j;
    const bool there = column < columns && (top >= cholesky_step || column <= i);
    tile.c[first + c][e] += there ? double(chunk[j][i]) : i == column ? 1.0 : 0.0;
  });
}

/// Those with rows: fetch the columns from, …, j + 63 of theirs, whose first element is at `row`, chunk by chunk; those from
/// `end` on are zero. wait() comes before the last 64 columns to the left of j.
template <class T, class Wait>
__device__ void fetch_columns(CholeskyShared<T>& s, const T* row, std::int64_t ld, bool present, int from, int j,
                              int end, Wait wait) {
#pragma unroll 1
  for (int i = from; i < j + cholesky_step; i += cholesky_chunk) {
    if (i == max(from, j - cholesky_step)) wait();
    T fetched[cholesky_chunk];
#pragma unroll
    for (int c = 0; c < cholesky_chunk; ++c) fetched[c] = present && i + c < end ? __ldcg(row + (i + c) * ld) : T(0);
#pragma unroll
    for (int c = 0; c < cholesky_chunk; ++c) s.chunks[i / cholesky_chunk % 2][c][threadIdx.x] = fetched[c];
    __syncthreads();
  }
}

/// Those with tiles: tile ← C − B Dᵀ, where [D; B] are the columns that are fetched from `from` on, and C those from j on,
/// of which there are `columns`.
template <class T>
__device__ void gather_tiles(CholeskyShared<T>& s, int from, int j, int columns, int top, CholeskyRows& tile) {
#pragma unroll 1
  for (int i = from; i < j + cholesky_step; i += cholesky_chunk) {
    __syncthreads();
    const auto* chunk = s.chunks[i / cholesky_chunk % 2];
    if (i == j) {
      add_columns<0, T>(chunk, top, columns, tile);
    } else if (i > j) {
      add_columns<cholesky_chunk / 8, T>(chunk, top, columns, tile);
    } else if (top >= cholesky_step) {
#pragma unroll
      for (int c = 0; c < cholesky_chunk; c += 8) {
        double a[4];
        left_factor(chunk + c, top, a);
        multiply_strips<0>(chunk + c, a, 0, 0, cholesky_strips, tile);
      }
    }
  }
}

/// What the blocks of a panel tell each other: letter (b, s) says that block b has done step s.
struct CholeskyMail {
  Letter* letters;
  unsigned stamp;
  int steps;

  __device__ void done(int block, int step) const {
    __syncthreads();
    if (threadIdx.x == 0) __threadfence(), post(letters + block * steps + step, 0, stamp);
  }
  /// For those with rows.
  __device__ void wait(int block, int step) const {
    if (threadIdx.x == 0) collect(letters + block * steps + step, stamp), __threadfence();
    asm volatile("bar.sync 3, %0;" ::"n"(cholesky_rows) : "memory");
  }
  /// For blocks first, …, last − 1, at once.
  __device__ void wait_for_all(int first, int last, int step) const {
    for (int b = first + int(threadIdx.x); b < last; b += cholesky_threads) collect(letters + b * steps + step, stamp);
    __threadfence();
    __syncthreads();
  }
};

/// [A11; A21] = [L11; L21] L11ᵀ. Block b has the 64 rows from 64·b on. All blocks must run at the same time.
template <class T>
__global__ void __launch_bounds__(cholesky_threads, 1)
    factor_cholesky_panel(MatrixView<T, Cuda> A, Minors<Cuda> minors, CholeskyMail mail) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<T>*>(memory);
  const int warp = threadIdx.x / 32, block = int(blockIdx.x), last = min(block, mail.steps - 1);
  const bool has_row = warp < cholesky_row_warps;
  const int top = has_row ? INT_MAX / 2 : 16 * (warp - cholesky_row_warps);  // of the tile's 16 rows
  const std::int64_t my_rows = std::int64_t(cholesky_step) * block;
  const auto tile_of = [&](std::int64_t i, int j) {
    return A.block(i, j, min(A.rows() - i, std::int64_t(cholesky_step)), min(int(A.cols()) - j, cholesky_step));
  };
  if (!has_row) {
    CholeskyHalf own{};
    if (block < mail.steps) read_tile<T>(tile_of(my_rows, int(my_rows)), own_top(top), own_left(top), true, own);
    for_each_of_tile<cholesky_strips / 2>(0, 0, [&](int c, int e, int, int) { own_element(s, c, e) = own.c[c][e]; });
  }
#pragma unroll 1
  for (int step = 0; step <= last; ++step) {
    const int j = cholesky_step * step;
    const bool on_diagonal = step == block;
    const auto D = tile_of(j, j);
    const int below = int(threadIdx.x) - cholesky_step;  // which of my rows
    const bool present = below < 0 ? j + int(threadIdx.x) < A.rows() : has_row && my_rows + below < A.rows();
    T* const row = A.data() + (!present ? 0 : below < 0 ? j + int(threadIdx.x) : my_rows + below);
    const int from = on_diagonal ? j : 0, columns = int(D.cols());
    int bad = INT_MAX;
    if (has_row) {
      // Its rows are complete up to the last 64 columns before j once it has done step − 2.
      if (step > 1 && !on_diagonal) mail.wait(step, step - 2);
      fetch_columns(s, row, A.ld(), present && (below < 0 || !on_diagonal), from, j, j + columns, [&] {
        if (step > 0 && !on_diagonal) mail.wait(step, step - 1);
      });
      bad = factor_rows(s, row + j * A.ld(), A.ld(), columns, below >= 0 && present && !on_diagonal);
    } else {
      CholeskyRows tile{};
      gather_tiles(s, from, j, columns, top, tile);
      update_tiles(s, top, block < mail.steps && !on_diagonal, tile);
    }
    if (!on_diagonal) {
      if (!has_row && block == step + 1 && block < mail.steps) {
        const auto next = tile_of(my_rows, int(my_rows));
        for_each_of_tile<cholesky_strips / 2>(own_top(top), own_left(top), [&](int c, int e, int i, int k) {
          if (i < next.rows() && k < next.cols() && k <= i) next.data()[i + k * next.ld()] = T(own_element(s, c, e));
        });
      }
      mail.done(block, step);
      continue;
    }
    mail.wait_for_all(block + 1, int(gridDim.x), step);  // they have read what is overwritten now
    for (int e = threadIdx.x; e < cholesky_step * cholesky_step; e += cholesky_threads) {
      const int i = e % cholesky_step, k = e / cholesky_step;
      if (i < D.rows() && k < D.cols() && k <= i) D.data()[i + k * D.ld()] = T(s.L[k][i]);
    }
    if (threadIdx.x == 0 && bad < D.cols())  // −1 is the largest when it has no sign
      atomicMin(reinterpret_cast<unsigned long long*>(minors.bad_minor.data()),
                static_cast<unsigned long long>(minors.first + j + bad + 1));
  }
}

template <class T>
std::int64_t cholesky_leaf_columns(const Queue<Cuda>&, MatrixView<T, Cuda>) {
  return cholesky_step * most_cholesky_steps;
}

/// [A11; A21] = [L11; L21] L11ᵀ of a leaf. Where its rows are more than can run at the same time, those below A11 are
/// solved by products.
template <class T>
void panel_cholesky_leaf(Queue<Cuda>& q, const GemmBackend<Cuda>& gemm, MatrixView<T, Cuda> A, Minors<Cuda> minors) {
  constexpr auto kernel = factor_cholesky_panel<T>;
  constexpr std::size_t shared = sizeof(CholeskyShared<T>);
  const std::int64_t m = A.rows(), n = A.cols();
  const std::int64_t rows = m <= std::int64_t(cholesky_step) * q.multiprocessors() ? m : n;
  const auto blocks_of = [](std::int64_t k) { return unsigned((k + cholesky_step - 1) / cholesky_step); };
  const auto mail = q.mailbox(blocks_of(rows) * blocks_of(n) * sizeof(Letter), 1);
  launch(q, kernel, Blocks::together, dim3(blocks_of(rows)), cholesky_threads, shared, A.block(0, 0, rows, n), minors,
         CholeskyMail{static_cast<Letter*>(mail.memory), mail.stamp, int(blocks_of(n))});
  if (rows < m) trsm_right(q, gemm, lower(A.block(0, 0, n, n)).transposed(), A.block(rows, 0, m - rows, n));
}

/// On the host nothing is known of a factorization that is under way.
inline bool known_to_have_failed(const Queue<Cuda>&, MatrixView<std::int64_t, Cuda>) { return false; }

}  // namespace lasolve
