// Leaves of a Cholesky panel on CUDA: block columns of at most 256 columns and any height, in steps of 64 columns.
//
// A step is one kernel. Each block brings 64 rows below the diagonal, and again the 64 × 64 block on it, up to date with
// the columns to the left, and then factors the 128 rows as one: that the diagonal block is factored by all at once
// costs less than that they would wait for one another. Products run in fp64 in tensor cores, for fp32 too.
//
// Within a step, strips of 8 columns. Some warps have the 128 × 64 elements in tiles; the others have a row each: they
// factor the 8 × 8 block on the diagonal, every thread for itself, and solve their rows, while the tiles further to the
// right are brought up to date with the strip before.
#pragma once

#include <cuda_pipeline.h>

#include <climits>

#include "core/cuda/check.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/cuda/fp64_tile.cuh"

namespace lasolve {

constexpr int cholesky_step = 64;
constexpr int cholesky_strips = cholesky_step / 8;
constexpr int cholesky_rows = 2 * cholesky_step;  // those of the diagonal block, and as many below
constexpr int cholesky_row_warps = cholesky_rows / 32, cholesky_tile_warps = cholesky_rows / 16;
constexpr int cholesky_threads = 32 * (cholesky_row_warps + cholesky_tile_warps);
constexpr int cholesky_chunk = 16, cholesky_chunks_ahead = 3;

/// Rows of columns that lie so that tiles are read without bank conflicts.
template <class T>
using CholeskyColumn = T[cholesky_rows + 4];

template <class T>
struct CholeskyShared {
  union {
    CholeskyColumn<T> chunks[cholesky_chunks_ahead + 1][cholesky_chunk];  // of the columns to the left
    CholeskyColumn<double> L[cholesky_step];
  };
  alignas(16) T strip[cholesky_rows][8 + 16 / sizeof(T)];  // the 8 columns at hand
  bool last;
};

/// The 16 × 64 tile of a warp in the layout of multiply_tile: c[j][e] is element (g + e / 2 · 8, 8·j + 2t + e % 2).
struct CholeskyTile {
  double c[cholesky_strips][4];
};

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

/// Factors the 8 × 8 block D on the diagonal, and x ← x inv(D)ᵀ for the row of this thread. Returns the first column whose
/// pivot is not positive, or 8. `any`: for subnormal pivots too, which are seen in `subnormal` otherwise.
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
    const T r = any ? T(1) / sqrt(pivot) : reciprocal_root(pivot);
    if (!(pivot > T(0))) bad = min(bad, j);
    subnormal |= pivot > T(0) && pivot < smallest_normal(pivot);
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

/// Those with rows: factor one strip after the other. C: the columns of this step; `row` of C is this thread's. Returns
/// the first column whose pivot is not positive.
template <class T>
__device__ int factor_rows(CholeskyShared<T>& s, MatrixView<T, Cuda> C, std::int64_t row, bool below) {
  int bad = INT_MAX;
#pragma unroll 1
  for (int p = 0; p < cholesky_strips; ++p) {
    await(CholeskyBarrier::strip);
    T x[8];
    bool subnormal;
    int bad_here = factor_strip<false>(s, 8 * p, x, subnormal);
    if (subnormal) bad_here = factor_strip<true>(s, 8 * p, x, subnormal);
    if (bad_here < 8) bad = min(bad, 8 * p + bad_here);
#pragma unroll
    for (int j = 0; j < 8; ++j) s.L[8 * p + j][threadIdx.x] = double(x[j]);
    if (p + 1 < cholesky_strips) arrive(CholeskyBarrier::factor);
#pragma unroll
    for (int j = 0; j < 8; ++j)
      if (below && 8 * p + j < C.cols()) C.data()[row + (8 * p + j) * C.ld()] = x[j];
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

/// The rows of columns `first` + t and `first` + t + 4 that the left factor of multiply_tile has, with the sign changed.
template <class Column>
__device__ void left_factor(const Column* columns, int top, double (&a)[4]) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  a[0] = -double(columns[t][top + g]), a[1] = -double(columns[t][top + g + 8]);
  a[2] = -double(columns[t + 4][top + g]), a[3] = -double(columns[t + 4][top + g + 8]);
}

/// Those with tiles: bring them up to date with one strip after the other. At the third all have read what they factor:
/// this is when they are counted.
template <class T, class Count>
__device__ void update_tiles(CholeskyShared<T>& s, int top, CholeskyTile& tile, Count count) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  hand_over(s, top, tile.c[0]);
#pragma unroll 1
  for (int p = 0; p + 1 < cholesky_strips; ++p) {
    await(CholeskyBarrier::factor);
    const auto* L = s.L + 8 * p;
    double a[4];
    left_factor(L, top, a);
#pragma unroll
    for (int c = 1; c < cholesky_strips; ++c) {  // tiles move to the left by one strip; what comes in is not looked at
      const int row = 8 * (p + c) + g;
      const double b[2] = {L[t][row], L[t + 4][row]};
      multiply_tile(tile.c[c - 1], a, b, tile.c[c]);
      if (c == 1) hand_over(s, top, tile.c[0]);
    }
    if (p == 2) count();
  }
}

/// tile ← tile − B Dᵀ with the k columns to the left, of which D are the rows of the diagonal block. Those with rows fetch
/// theirs, those with tiles multiply.
template <class T>
__device__ void eliminate_left(CholeskyShared<T>& s, MatrixView<T, Cuda> A, int k, std::int64_t row, bool present,
                               int top, CholeskyTile& tile) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const bool fetches = threadIdx.x < cholesky_rows;
  const auto fetch = [&](int first) {
    if (fetches && first < k)
#pragma unroll
      for (int c = 0; c < cholesky_chunk; ++c)
        __pipeline_memcpy_async(&s.chunks[first / cholesky_chunk % (cholesky_chunks_ahead + 1)][c][threadIdx.x],
                                A.data() + (present ? row : 0) + (first + c) * A.ld(), sizeof(T),
                                present ? 0 : sizeof(T));
    __pipeline_commit();
  };
  for (int i = 0; i < cholesky_chunks_ahead; ++i) fetch(i * cholesky_chunk);
#pragma unroll 1
  for (int first = 0; first < k; first += cholesky_chunk) {
    __pipeline_wait_prior(cholesky_chunks_ahead - 1);
    __syncthreads();
    fetch(first + cholesky_chunks_ahead * cholesky_chunk);
    if (fetches) continue;
    const auto& chunk = s.chunks[first / cholesky_chunk % (cholesky_chunks_ahead + 1)];
#pragma unroll
    for (int c = 0; c < cholesky_chunk; c += 8) {
      double a[4];
      left_factor(chunk + c, top, a);
#pragma unroll
      for (int j = 0; j < cholesky_strips; ++j) {
        const double b[2] = {double(chunk[c + t][8 * j + g]), double(chunk[c + t + 4][8 * j + g])};
        multiply_tile(tile.c[j], a, b, tile.c[j]);
      }
    }
  }
  __syncthreads();
}

/// The number of blocks that have come here before in the launch with this stamp; in a mailbox, whose stamps are never
/// used twice.
__device__ inline unsigned come_before(unsigned long long* count, unsigned stamp) {
  const unsigned long long none = static_cast<unsigned long long>(stamp) << 32;
  atomicMax(count, none);
  return unsigned(atomicAdd(count, 1ull) - none);
}

/// Factors the last columns of A, at most 64, whose first k have been factored; row 0 of A is their first. Block b has
/// the 64 rows from 64·b on below them, and the last block that has read the diagonal block writes its factor.
template <class T>
__global__ void __launch_bounds__(cholesky_threads, 1)
    factor_cholesky_step(MatrixView<T, Cuda> A, int k, Minors<Cuda> minors, unsigned long long* count, unsigned stamp) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<CholeskyShared<T>*>(memory);
  const int w = int(A.cols()) - k, warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const std::int64_t shift = w + cholesky_step * (std::int64_t(blockIdx.x) - 1);  // of the rows below
  const MatrixView<T, Cuda> C = A.columns(k, w);
  const auto row_of = [&](int i) { return i < cholesky_step ? i : i + shift; };
  const auto is_there = [&](int i) { return i < cholesky_step ? i < w : i + shift < A.rows(); };
  const bool has_row = warp < cholesky_row_warps;
  const int top = 16 * (warp - cholesky_row_warps);

  T values[cholesky_strips][4];
  CholeskyTile tile;
  if (!has_row) {
#pragma unroll
    for (int c = 0; c < cholesky_strips; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) {  // beyond the matrix, a unit matrix over zeros
        const int i = top + g + e / 2 * 8, j = 8 * c + 2 * t + e % 2;
        const bool read = is_there(i) && j < w && j <= i;
        values[c][e] = read ? C.data()[row_of(i) + j * C.ld()] : T(i == j);
      }
#pragma unroll
    for (int c = 0; c < cholesky_strips; ++c)
#pragma unroll
      for (int e = 0; e < 4; ++e) tile.c[c][e] = double(values[c][e]);
  }
  const int mine = has_row ? int(threadIdx.x) : 0;
  if (k > 0) eliminate_left(s, A, k, row_of(mine), is_there(mine), top, tile);
  int bad = INT_MAX;
  if (has_row) {
    bad = factor_rows(s, C, row_of(mine), mine >= cholesky_step && is_there(mine));
  } else {
    unsigned before = 0;
    update_tiles(s, top, tile, [&] {
      if (threadIdx.x == cholesky_threads - 1) before = come_before(count, stamp);
    });
    if (threadIdx.x == cholesky_threads - 1) s.last = before == gridDim.x - 1;
  }
  __syncthreads();
  if (!s.last) return;
  for (int e = threadIdx.x; e < cholesky_step * cholesky_step; e += cholesky_threads) {
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
    kernel<<<blocks, cholesky_threads, shared, q.stream()>>>(A.block(j, 0, A.rows() - j, j + w), int(j), minors.from(j),
                                                             static_cast<unsigned long long*>(mail.memory), mail.stamp);
    CUDA_CHECK_LAUNCH();
  }
}

inline void prepare(Queue<Cuda>& q) {
  q.beside();
  q.ahead().mailbox(sizeof(unsigned long long), 0);
}

/// On the host nothing is known of a factorization that is under way.
inline bool known_to_have_failed(const Queue<Cuda>&, MatrixView<std::int64_t, Cuda>) { return false; }

}  // namespace lasolve
