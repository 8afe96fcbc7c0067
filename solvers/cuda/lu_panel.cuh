// A panel of LU: m × n, n ≤ 128, m ≤ 1024 for each multiprocessor, factored by one kernel strip by strip. The rows are left in their places:
// those of the panel are moved like all others when it is done.
#pragma once

#include <algorithm>

#include "core/cuda/launch.cuh"
#include "solvers/cuda/strip.cuh"

namespace lasolve {

/// Whether fp64 products of 16 × 8 × 8 run on tensor cores.
#if __CUDA_ARCH__ >= 900
constexpr bool has_f64_tensor_cores = true;
#else
constexpr bool has_f64_tensor_cores = false;
#endif

/// What the threads of a block share: of each strip, its rows of U in the columns behind it; and the strip at hand.
template <class T, int W, class Election>
struct PanelShared {
  static constexpr int most_behind = most_panel_columns - W;
  alignas(16) T U[most_behind / W][W][most_behind + 4];  // U[k][p][c] = U(k W + p, (k + 1) W + c)
  alignas(16) T L[W][W];                                 // L[c][p] = L(p, c), the triangle of the strip
  int row_of[most_panel_columns];                        // where the pivots are
  int position[4 * panel_threads];                       // of the block's rows
  StripShared<T, W, Election> strip;
};

/// C ← C − A B for a warp's 16 × 8 tile of C, with A 16 × 8 and B 8 × 8, in the layout of the tensor cores: lane 4 g + q
/// has rows g and g + 8 and columns 2 q and 2 q + 1 of C, columns q and q + 4 of A, and rows q and q + 4 of column g of B.
__device__ inline void subtract_on_tensor_cores(double (&c0)[2], double (&c1)[2], const double (&a0)[2],
                                                const double (&a1)[2], double b0, double b1) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c0[0]), "+d"(c0[1]), "+d"(c1[0]), "+d"(c1[1])
      : "d"(-a0[0]), "d"(-a1[0]), "d"(-a0[1]), "d"(-a1[1]), "d"(b0), "d"(b1));
#endif
}

/// U ← inv(L11) C1 of a strip that was just factored: the columns behind it, of the rows that became pivots, which are at
/// row_of. `L` begins with the strip's first column, C with the first behind. A thread solves a column.
template <class T, int W, int ld>
__device__ __forceinline__ void solve_behind(T (&U)[W][ld], T (&triangle)[W][W], MatrixView<T, Cuda> L,
                                             MatrixView<T, Cuda> C, const int* row_of) {
  constexpr int rows_at_once = panel_threads / W;
  const int p = threadIdx.x % W, c0 = threadIdx.x / W, columns = int(C.cols());
  const T *from_L = L.data() + row_of[p], *from_C = C.data() + row_of[p];
#pragma unroll
  for (int c = c0; c < W; c += rows_at_once) triangle[c][p] = from_L[c * L.ld()];
#pragma unroll
  for (int c = c0; c < ld - 4; c += rows_at_once) U[p][c] = from_C[min(c, columns - 1) * C.ld()];
  __syncthreads();
  if (const int c = threadIdx.x; c < columns) {
    T x[W];
#pragma unroll
    for (int i = 0; i < W; ++i) x[i] = U[i][c];
#pragma unroll
    for (int k = 0; k < W; ++k)
#pragma unroll
      for (int i0 = k / Chunk<T>::size * Chunk<T>::size; i0 < W; i0 += Chunk<T>::size) {
        const auto chunk = *reinterpret_cast<const Chunk<T>*>(&triangle[k][i0]);
#pragma unroll
        for (int e = 0; e < Chunk<T>::size; ++e)
          if (i0 + e > k) x[i0 + e] = fma(-chunk.values[e], x[k], x[i0 + e]);
      }
#pragma unroll
    for (int i = 0; i < W; ++i) U[i][c] = x[i];
  }
  __syncthreads();
}

/// C ← C − L U in the rows of this block at `done` or behind; a thread has R rows.
template <class T, int W, int R, int ld>
__device__ __forceinline__ void update_behind(const T (&U)[W][ld], const int* position, MatrixView<T, Cuda> L,
                                              MatrixView<T, Cuda> C, int done) {
  constexpr int columns_at_once = 16;
  std::int64_t row[R];
  T l[R][W];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    row[r] = min((std::int64_t(blockIdx.x) * R + r) * panel_threads + threadIdx.x, L.rows() - 1);
#pragma unroll
    for (int k = 0; k < W; ++k) l[r][k] = L.data()[row[r] + k * L.ld()];
  }
#pragma unroll 1
  for (int c0 = 0; c0 < C.cols(); c0 += columns_at_once) {
    T v[R][columns_at_once];
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) v[r][c] = C.data()[row[r] + min(std::int64_t(c0 + c), C.cols() - 1) * C.ld()];
#pragma unroll
    for (int k = 0; k < W; ++k)
#pragma unroll
      for (int c = 0; c < columns_at_once; c += Chunk<T>::size) {
        const auto chunk = *reinterpret_cast<const Chunk<T>*>(&U[k][c0 + c]);
#pragma unroll
        for (int e = 0; e < Chunk<T>::size; ++e)
#pragma unroll
          for (int r = 0; r < R; ++r) v[r][c + e] = fma(-l[r][k], chunk.values[e], v[r][c + e]);
      }
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (position[r * panel_threads + threadIdx.x] >= done && c0 + c < C.cols())
          C.data()[row[r] + (c0 + c) * C.ld()] = v[r][c];
  }
  __syncthreads();
}

/// The same on tensor cores. A warp has 32·R rows, 32 rows at a time, in 32 columns at a time.
template <int W, int R, int ld>
__device__ __forceinline__ void update_on_tensor_cores(const double (&U)[W][ld], const int* position,
                                                       MatrixView<double, Cuda> L, MatrixView<double, Cuda> C,
                                                       int done) {
  constexpr int tiles = 4, rows = 4;
  const int lane = threadIdx.x % 32, g = lane / 4, q = lane % 4;
#pragma unroll 1
  for (int h = 0; h < R; ++h) {
    const int in_block = int(threadIdx.x) / 32 * 32 * R + 32 * h + g;
    std::int64_t row[rows];
    double a[rows][W / 8][2];
#pragma unroll
    for (int i = 0; i < rows; ++i) {
      row[i] = min(std::int64_t(blockIdx.x) * R * panel_threads + in_block + 8 * i, L.rows() - 1);
#pragma unroll
      for (int k = 0; k < W / 8; ++k)
#pragma unroll
        for (int e = 0; e < 2; ++e) a[i][k][e] = L.data()[row[i] + (8 * k + 4 * e + q) * L.ld()];
    }
#pragma unroll 1
    for (int c0 = 0; c0 < C.cols(); c0 += 8 * tiles) {
      const auto column = [&](int t, int e) { return std::int64_t(c0 + 8 * t + 2 * q + e); };
      double v[rows][tiles][2];
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int i = 0; i < rows; ++i) v[i][t][e] = C.data()[row[i] + min(column(t, e), C.cols() - 1) * C.ld()];
#pragma unroll
      for (int k = 0; k < W / 8; ++k)
#pragma unroll
        for (int t = 0; t < tiles; ++t) {
          const double b0 = U[8 * k + q][c0 + 8 * t + g], b1 = U[8 * k + 4 + q][c0 + 8 * t + g];
#pragma unroll
          for (int i = 0; i < rows; i += 2)
            subtract_on_tensor_cores(v[i][t], v[i + 1][t], a[i][k], a[i + 1][k], b0, b1);
        }
#pragma unroll
      for (int t = 0; t < tiles; ++t)
#pragma unroll
        for (int e = 0; e < 2; ++e)
#pragma unroll
          for (int i = 0; i < rows; ++i)
            if (position[in_block + 8 * i] >= done && column(t, e) < C.cols())
              C.data()[row[i] + column(t, e) * C.ld()] = v[i][t][e];
    }
  }
  __syncthreads();
}

/// P A = L U with the rows of L and U left where they were: pivots has the exchanges, and the moves that make them. A
/// thread has R rows. All blocks must run at the same time.
template <class T, int R, int W, class Election>
__global__ void __launch_bounds__(panel_threads, 1)
    factor_panel(MatrixView<T, Cuda> A, PanelPivots pivots, Letter* letters, unsigned stamp) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<PanelShared<T, W, Election>*>(memory);
  const int n = int(A.cols());
  Strip<T, W, R> strip;
#pragma unroll
  for (int r = 0; r < R; ++r) strip.position[r] = strip.row(r) < A.rows() ? strip.row(r) : -1;
  s.strip.election.open(letters, stamp);
#pragma unroll 1
  for (int k = 0; k < n; k += W) {
    const auto L = A.columns(k, min(W, n - k));
    strip.load(L);
    strip.factor(s.strip, L, pivots, k, s.row_of);
#pragma unroll
    for (int r = 0; r < R; ++r) s.position[r * panel_threads + threadIdx.x] = strip.position[r];
    s.strip.election.barrier();  // the strip is there; and nobody leaves while others write into its memory
    if (k + W >= n) break;
    const auto C = A.columns(k + W, n - k - W);
    auto& U = s.U[k / W];
    solve_behind(U, s.L, L, C, s.row_of + k);
    if constexpr (sizeof(T) == 8 && has_f64_tensor_cores)
      update_on_tensor_cores<W, R>(U, s.position, L, C, k + W);
    else
      update_behind<T, W, R>(U, s.position, L, C, k + W);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) pivots.moves.counts[0] = n;
  if (blockIdx.x == 0 && threadIdx.x < n) pivots.moves.sources[threadIdx.x] = s.row_of[threadIdx.x];
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const std::int64_t row = strip.row(r);
    const int p = strip.position[r];
    if (row < min(std::int64_t(n), A.rows())) pivots.moves.targets[row] = p;
    if (p < 0 || p >= n) continue;
    for (int c = (p / W + 1) * W; c < n; ++c) A.data()[row + c * A.ld()] = s.U[p / W][p % W][c - (p / W + 1) * W];
  }
}

template <class T, int R, int W, template <class, int> class Election>
void launch_panel(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots, Blocks how) {
  constexpr int rows = panel_threads * R;
  auto blocks = unsigned((A.rows() + rows - 1) / rows);
  while (how == Blocks::cluster && (blocks & (blocks - 1))) ++blocks;  // a power of two
  Queue<Cuda>::Mailbox mail{};
  if (how == Blocks::together) mail = q.mailbox(GridElection<T, W>::bytes, unsigned(A.cols()));
  launch(q, factor_panel<T, R, W, Election<T, W>>, how, dim3(blocks), panel_threads,
         sizeof(PanelShared<T, W, Election<T, W>>), A,
         PanelPivots{pivots.p.data(), pivots.zero.data(), pivots.start, moves_of(pivots)},
         static_cast<Letter*>(mail.memory), mail.stamp);
}

/// P A = L U of at most 128 columns, with the rows left where they were.
template <class T>
void factor_in_place(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  constexpr bool f64 = sizeof(T) == 8;
  const std::int64_t block = 2 * panel_threads, grid = block * std::min(q.multiprocessors(), most_grid_blocks);
  const std::int64_t cluster = block * (q.has_clusters() ? most_cluster_blocks : 1);
  if (A.rows() <= block) return launch_panel<T, 2, 32, AloneElection>(q, A, pivots, Blocks::apart);
  if (A.rows() <= cluster) return launch_panel<T, 2, 32, ClusterElection>(q, A, pivots, Blocks::cluster);
  if constexpr (f64) {
    if (A.rows() <= grid) return launch_panel<T, 2, 32, GridElection>(q, A, pivots, Blocks::together);
    if (A.rows() <= 2 * grid) return launch_panel<T, 4, 16, GridElection>(q, A, pivots, Blocks::together);
  } else {
    if (A.rows() <= 2 * cluster) return launch_panel<T, 4, 32, ClusterElection>(q, A, pivots, Blocks::cluster);
    if (A.rows() <= 2 * grid) return launch_panel<T, 4, 32, GridElection>(q, A, pivots, Blocks::together);
  }
  throw MachineError("CUDA: a panel of LU can have " + std::to_string(2 * grid) +
                     " rows on this device, and the matrix has " + std::to_string(A.rows()));
}

}  // namespace lasolve
