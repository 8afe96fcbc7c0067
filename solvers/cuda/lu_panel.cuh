// A panel of LU: m × n, n ≤ 128, m ≤ 1024 for each multiprocessor, factored by one kernel strip by strip. The rows are left in their places:
// those of the panel are moved like all others when it is done.
#pragma once

#include <algorithm>

#include "core/cuda/launch.cuh"
#include "solvers/cuda/strip.cuh"

namespace lasolve {

/// What the threads of a block share: the pivot rows of all strips but the last, in the columns behind each; the
/// multipliers of the rows that became pivots in the strip at hand; and that strip.
template <class T, int W, class Election>
struct PanelShared {
  static constexpr int most_behind = most_panel_columns - W;
  alignas(16) T U[most_behind][most_behind + 16 / sizeof(T)];  // U[p][c] = U(p, W + c)
  alignas(16) T L[most_behind][W];                             // L[c][p] = L(k + p, c), of the strip from k on
  int row_of[most_panel_columns];                              // where the pivots are
  StripShared<T, W, Election> strip;
};

/// U ← inv(L11) (C − L10 U0): the columns behind a strip that was just factored, of the rows that became pivots in it.
/// Columns k … k + W − 1 of A are the strip, L10 is those to their left, U0 the rows above U. A is there in memory as it was
/// at the beginning, but for L.
template <class T, int W, class Shared>
__device__ __forceinline__ void solve_behind(Shared& s, MatrixView<T, Cuda> A, int k) {
  constexpr int rows = 4, warps_down = W / rows;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, last = int(A.cols()) - 1;
  const int behind = (last - k) / W * W;  // columns, with those that fill up the last strip
  {
    const int p = threadIdx.x % W, q = threadIdx.x / W;
    const T* from = A.data() + s.row_of[k + p];
#pragma unroll 4
    for (int c = q; c < k + W; c += panel_threads / W) s.L[c][p] = from[c * A.ld()];
#pragma unroll 4
    for (int c = q; c < behind; c += panel_threads / W) s.U[k + p][k + c] = from[min(k + W + c, last) * A.ld()];
  }
  __syncthreads();
  if (k > 0) {  // a warp has 4 rows of 32 columns at a time
    for (int tile = warp; tile < (behind + 31) / 32 * warps_down; tile += panel_warps) {
      const int p = tile % warps_down * rows, c = tile / warps_down * 32 + lane;
      if (c >= behind) continue;
      T x[rows];
#pragma unroll
      for (int i = 0; i < rows; ++i) x[i] = s.U[k + p + i][k + c];
#pragma unroll 8
      for (int q = 0; q < k; ++q)
#pragma unroll
        for (int i = 0; i < rows; ++i) x[i] = fma(-s.L[q][p + i], s.U[q][k + c], x[i]);
#pragma unroll
      for (int i = 0; i < rows; ++i) s.U[k + p + i][k + c] = x[i];
    }
    __syncthreads();
  }
  if (const int c = threadIdx.x; c < behind) {  // a thread solves a column
    T x[W];
#pragma unroll
    for (int i = 0; i < W; ++i) x[i] = s.U[k + i][k + c];
#pragma unroll
    for (int q = 0; q < W; ++q)
#pragma unroll
      for (int i0 = q / Chunk<T>::size * Chunk<T>::size; i0 < W; i0 += Chunk<T>::size) {
        const auto chunk = *reinterpret_cast<const Chunk<T>*>(&s.L[k + q][i0]);
#pragma unroll
        for (int e = 0; e < Chunk<T>::size; ++e)
          if (i0 + e > q) x[i0 + e] = fma(-chunk.values[e], x[q], x[i0 + e]);
      }
#pragma unroll
    for (int i = 0; i < W; ++i) s.U[k + i][k + c] = x[i];
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
  if (threadIdx.x < W) s.strip.rows[0][threadIdx.x] = 0;
  s.strip.election.open(letters, stamp);
#pragma unroll 1
  for (int k = 0; k < n; k += W) {
    const auto columns = A.columns(k, min(W, n - k));
    strip.load(A, k, s.U);
    strip.factor(s.strip, columns, pivots, k, s.row_of);
    s.strip.election.barrier();  // L is there; and nobody leaves while others write into its memory
    strip.store(s.strip, columns, s.row_of + k);
    if (k + W < n) solve_behind<T, W>(s, A, k);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) pivots.moves.counts[0] = n;
  if (blockIdx.x == 0 && threadIdx.x < n) pivots.moves.sources[threadIdx.x] = s.row_of[threadIdx.x];
#pragma unroll
  for (int r = 0; r < R; ++r)
    if (strip.row(r) < min(std::int64_t(n), A.rows())) pivots.moves.targets[strip.row(r)] = strip.position[r];
  for (int p = int(threadIdx.x) / 32; p < n; p += panel_warps) {
    if (s.row_of[p] / strip.rows_a_block != int(blockIdx.x)) continue;
    for (int c = (p / W + 1) * W + int(threadIdx.x) % 32; c < n; c += 32)
      A.data()[s.row_of[p] + c * A.ld()] = s.U[p][c - W];
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
