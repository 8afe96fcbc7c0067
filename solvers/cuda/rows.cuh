// Row exchanges on CUDA: those of a panel are one permutation of few rows, which the panel's kernel has worked out.
#pragma once

#include <algorithm>

#include "core/cuda/check.hpp"
#include "core/cuda/elementwise.cuh"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int most_panel_columns = 128;

/// What CUDA keeps in the further columns of the pivots. The exchanges of a panel as a permutation, counted from its first
/// row: row i of the first `count` gets what row sources[i] held, and what row i held goes to row targets[i]. Once the
/// matrix is factored: row rows[i] is the one that came to place i.
struct Moves {
  std::int64_t *sources, *targets, *rows;

  explicit __host__ __device__ Moves(const Pivots<Cuda>& pivots)
      : sources(pivots.p.data() + pivots.p.ld()), targets(sources + pivots.p.ld()), rows(targets + pivots.p.ld()) {}
};

/// Row `to` gets what row `from` held; to = −1: nothing.
struct Move {
  std::int64_t to = -1, from = 0;
};
/// Slot i < count is row i; slot 128 + i is the row below, if any, that row i goes to.
__device__ inline Move move_of(Pivots<Cuda> pivots, int slot) {
  const Moves moves(pivots);
  const int i = slot % most_panel_columns, count = int(pivots.count());
  if (i >= count) return {};
  if (slot < most_panel_columns) return {i, moves.sources[i]};
  return moves.targets[i] < count ? Move{} : Move{moves.targets[i], i};
}

/// A ← P A for the exchanges of one panel. A thread makes one move in `columns` columns: all reads before all writes.
template <int columns, class T>
__global__ void __launch_bounds__(2 * most_panel_columns) move_rows(MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  const Move move = move_of(pivots, int(threadIdx.x));
  const bool moves = move.to >= 0 && move.to != move.from;
  const std::int64_t j0 = std::int64_t(blockIdx.x) * columns;
  T held[columns];
#pragma unroll
  for (int j = 0; j < columns; ++j)
    if (moves && j0 + j < A.cols()) held[j] = A.data()[move.from + (j0 + j) * A.ld()];
  __syncthreads();
#pragma unroll
  for (int j = 0; j < columns; ++j)
    if (moves && j0 + j < A.cols()) A.data()[move.to + (j0 + j) * A.ld()] = held[j];
}

/// A ← P A: the exchanges in their order, panel by panel. Row 0 of A is row pivots.start.
template <class T>
void swap_rows(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  if (A.empty()) return;
  constexpr int columns = 8;
  const auto blocks = unsigned((A.cols() + columns - 1) / columns);
  for (std::int64_t i = 0; i < pivots.count(); i += most_panel_columns) {
    const std::int64_t count = std::min<std::int64_t>(most_panel_columns, pivots.count() - i);
    move_rows<columns><<<blocks, 2 * most_panel_columns, 0, q.stream()>>>(A.block(i, 0, A.rows() - i, A.cols()),
                                                                          pivots.block(i, count));
    CUDA_CHECK_LAUNCH();
  }
}

/// Plays all moves of a factorization through on the numbers of the rows: which row comes to each place. One block.
static __global__ void __launch_bounds__(2 * most_panel_columns) compose(Pivots<Cuda> pivots, std::int64_t nb) {
  const std::int64_t n = pivots.count();
  std::int64_t* rows = Moves(pivots).rows;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) rows[i] = i;
  __syncthreads();
  for (std::int64_t j = 0; j < n; j += nb)
    for (std::int64_t i = j; i < min(j + nb, n); i += most_panel_columns) {
      const Pivots<Cuda> panel = pivots.block(i, min(std::int64_t(most_panel_columns), min(j + nb, n) - i));
      const Move move = move_of(panel, int(threadIdx.x));
      const std::int64_t held = move.to < 0 ? 0 : rows[i + move.from];
      __syncthreads();
      if (move.to >= 0) rows[i + move.to] = held;
      __syncthreads();
    }
}

/// Once a matrix is factored in panels of nb columns.
inline void finish_pivots(Queue<Cuda>& q, Pivots<Cuda> pivots, std::int64_t nb) {
  if (pivots.count() == 0) return;
  compose<<<1, 2 * most_panel_columns, 0, q.stream()>>>(pivots, nb);
  CUDA_CHECK_LAUNCH();
}

/// X ← P X, or Pᵀ X, with the pivots of a finished factorization.
template <class T>
void permute_rows(Queue<Cuda>& q, MatrixView<T, Cuda> X, Pivots<Cuda> pivots, bool backward) {
  if (X.empty()) return;
  const std::int64_t* rows = Moves(pivots).rows;
  const std::int64_t chunk = std::max<std::int64_t>(1, (64 << 20) / (X.rows() * std::int64_t(sizeof(T))));
  for (std::int64_t j0 = 0; j0 < X.cols(); j0 += chunk) {
    const auto from = X.columns(j0, std::min(chunk, X.cols() - j0));
    const auto to = q.scratch<T>(X.rows(), from.cols());
    for_each_element(q, to, [=] __device__(T & x, std::int64_t i, std::int64_t j) {
      if (backward)
        to.data()[rows[i] + j * to.ld()] = from.data()[i + j * from.ld()];
      else
        x = from.data()[rows[i] + j * from.ld()];
    });
    convert<T>(q, to, from);
  }
}

}  // namespace lasolve
