// Row exchanges on CUDA: a run of exchanges is one permutation of few rows, worked out once and applied to all columns.
#pragma once

#include "core/cuda/check.hpp"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int most_exchanges = 512;            // worked out together
constexpr int most_rows = 2 * most_exchanges;  // that these can touch

/// Row to[s] gets what row from[s] held; to[s] = −1 where slot s is not used.
struct RowMoves {
  std::int64_t *to, *from;
};

/// One block of most_exchanges threads. Slot i < count is row i; slot most_exchanges + i is the row below, if any, that
/// step i was the first to exchange. Row 0 is row pivots.start. The exchanges are played through on the slots.
inline __global__ void plan_moves(Pivots<Cuda> pivots, bool backward, RowMoves moves) {
  __shared__ std::int64_t row[most_exchanges], content[most_rows];
  __shared__ int slot[most_exchanges];
  const int i = threadIdx.x, count = int(pivots.count());
  if (i < count) row[i] = pivots.p.data()[i] - pivots.start;
  __syncthreads();
  moves.to[i] = moves.to[most_exchanges + i] = -1;
  if (i < count) {
    int s = int(row[i]);
    if (row[i] >= count) {
      int first = 0;
      while (row[first] != row[i]) ++first;
      s = most_exchanges + first;
      if (first == i) moves.to[s] = row[i], content[s] = row[i];
    }
    slot[i] = s;
    moves.to[i] = content[i] = i;
  }
  __syncthreads();
  if (i == 0) {
    for (int step = 0; step < count; ++step) {
      const int t = backward ? count - 1 - step : step;
      const std::int64_t held = content[t];
      content[t] = content[slot[t]];
      content[slot[t]] = held;
    }
  }
  __syncthreads();
  for (int s = i; s < most_rows; s += most_exchanges) {
    if (moves.to[s] < 0) continue;
    moves.from[s] = content[s];
    if (content[s] == moves.to[s]) moves.to[s] = -1;
  }
}

/// One thread a slot; a block moves the rows in a few columns, all reads before all writes.
template <class T>
__global__ void __launch_bounds__(most_rows) move_rows(MatrixView<T, Cuda> A, RowMoves moves) {
  constexpr int columns = 4;
  const std::int64_t j0 = std::int64_t(blockIdx.x) * columns, to = moves.to[threadIdx.x];
  const int n = int(min(std::int64_t(columns), A.cols() - j0));
  T held[columns];
  if (to >= 0) {
    const T* from = A.data() + moves.from[threadIdx.x] + j0 * A.ld();
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j < n) held[j] = from[j * A.ld()];
  }
  __syncthreads();
  if (to >= 0) {
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j < n) A.data()[to + (j0 + j) * A.ld()] = held[j];
  }
}

template <class T>
void exchange_rows(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots, bool backward) {
  if (A.empty() || pivots.count() == 0) return;
  const auto scratch = q.scratch<std::int64_t>(most_rows, 2);
  const RowMoves moves{scratch.data(), scratch.data() + most_rows};
  plan_moves<<<1, most_exchanges, 0, q.stream()>>>(pivots, backward, moves);
  CUDA_CHECK_LAUNCH();
  move_rows<T><<<unsigned((A.cols() + 3) / 4), most_rows, 0, q.stream()>>>(A, moves);
  CUDA_CHECK_LAUNCH();
}

/// A ← P A: the exchanges in their order. Row 0 of A is row pivots.start.
template <class T>
void swap_rows(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  for (std::int64_t i = 0; i < pivots.count(); i += most_exchanges) {
    const std::int64_t count = std::min<std::int64_t>(most_exchanges, pivots.count() - i);
    exchange_rows(q, A.block(i, 0, A.rows() - i, A.cols()), pivots.block(i, count), false);
  }
}

/// A ← Pᵀ A: the exchanges in reverse order.
template <class T>
void swap_rows_back(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  const std::int64_t chunks = (pivots.count() + most_exchanges - 1) / most_exchanges;
  for (std::int64_t c = chunks - 1; c >= 0; --c) {
    const std::int64_t i = c * most_exchanges, count = std::min<std::int64_t>(most_exchanges, pivots.count() - i);
    exchange_rows(q, A.block(i, 0, A.rows() - i, A.cols()), pivots.block(i, count), true);
  }
}

}  // namespace lasolve
