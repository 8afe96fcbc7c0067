// Row exchanges on CUDA: those of a panel are one permutation of few rows, which the panel's kernel has worked out.
#pragma once

#include <algorithm>

#include "core/cuda/check.hpp"
#include "core/cuda/elementwise.cuh"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int most_panel_columns = 128;

/// What CUDA keeps in the further columns of the pivots. The exchanges of a panel as a permutation, counted from its first
/// row: row i of the first `count` gets what row sources[i] held, and what row i held goes to row targets[i]. counts[0] is
/// their number. Once the matrix is factored: row rows[i] is the one that came to place i.
struct Moves {
  std::int64_t *sources, *targets, *counts, *rows;

  __device__ Moves block(std::int64_t i) const { return {sources + i, targets + i, counts + i, rows + i}; }
};
inline Moves moves_of(const Pivots<Cuda>& pivots, std::int64_t i = 0) {
  const auto column = [&](int j) { return pivots.p.data() + i + j * pivots.p.ld(); };
  return {column(1), column(2), column(3), column(4)};
}

/// Row `to` gets what row `from` held; to = −1: nothing.
struct Move {
  std::int64_t to = -1, from = 0;
};
/// Slot i < count is row i; slot 128 + i is the row below, if any, that row i goes to.
__device__ inline Move move_of(const Moves& moves, int slot) {
  const std::int64_t i = slot % most_panel_columns, count = moves.counts[0];
  if (i >= count) return {};
  if (slot < most_panel_columns) return {i, moves.sources[i]};
  return moves.targets[i] < count ? Move{} : Move{moves.targets[i], i};
}

/// A ← P A for the exchanges of one panel. A thread makes one move in `columns` columns: all reads before all writes.
template <int columns, class T>
__global__ void __launch_bounds__(2 * most_panel_columns) move_rows(MatrixView<T, Cuda> A, Moves planned) {
  const Move move = move_of(planned, int(threadIdx.x));
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
  const auto& panels = *pivots.panels;
  for (auto panel = std::lower_bound(panels.begin(), panels.end(), pivots.start);
       panel != panels.end() && *panel < pivots.start + pivots.count(); ++panel) {
    const std::int64_t i = *panel - pivots.start;
    move_rows<columns>
        <<<blocks, 2 * most_panel_columns, 0, q.stream()>>>(A.block(i, 0, A.rows() - i, A.cols()), moves_of(pivots, i));
    CUDA_CHECK_LAUNCH();
  }
}

/// Plays all moves of a factorization through on the numbers of the rows: which row comes to each place. One block.
static __global__ void __launch_bounds__(2 * most_panel_columns) compose(Moves moves, std::int64_t n) {
  std::int64_t* rows = moves.rows;
  for (std::int64_t i = threadIdx.x; i < n; i += blockDim.x) rows[i] = i;
  __syncthreads();
  for (std::int64_t i = 0; i < n; i += moves.counts[i]) {
    const Moves panel = moves.block(i);
    const Move move = move_of(panel, int(threadIdx.x));
    const std::int64_t held = move.to < 0 ? 0 : panel.rows[move.from];
    __syncthreads();
    if (move.to >= 0) panel.rows[move.to] = held;
    __syncthreads();
  }
}

/// Once a matrix is factored.
inline void finish_pivots(Queue<Cuda>& q, Pivots<Cuda> pivots) {
  if (pivots.count() == 0) return;
  compose<<<1, 2 * most_panel_columns, 0, q.stream()>>>(moves_of(pivots), pivots.count());
  CUDA_CHECK_LAUNCH();
}

/// X ← P X, or Pᵀ X, with the pivots of a finished factorization.
template <class T>
void permute_rows(Queue<Cuda>& q, MatrixView<T, Cuda> X, Pivots<Cuda> pivots, bool backward) {
  if (X.empty()) return;
  const std::int64_t* rows = moves_of(pivots).rows;
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
