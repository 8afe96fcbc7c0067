// Row exchanges on CUDA: a run of exchanges is one permutation of few rows, worked out once and applied to all columns.
#pragma once

#include <algorithm>

#include "core/cuda/check.hpp"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int few_exchanges = 64;    // worked out by each block for itself
constexpr int most_exchanges = 512;  // worked out together, by one block for all

/// The rows that N exchanges can touch: row to[s] gets what row from[s] held, or to[s] = −1.
template <int N>
struct RowMoves {
  int to[2 * N], from[2 * N];
};

/// At most N exchanges as moves, by a block of N threads or more. Slot i < count is row i; slot N + i is the row below, if
/// any, that step i was the first to exchange; the exchanges are played through on the slots. Row 0 is row pivots.start.
template <int N>
__device__ void plan(Pivots<Cuda> pivots, bool backward, RowMoves<N>& moves) {
  __shared__ int row[N], slot[N], content[2 * N];
  const int i = threadIdx.x, count = int(pivots.count());
  if (i < count) row[i] = int(pivots.p.data()[i] - pivots.start);
  __syncthreads();
  if (i < N) moves.to[i] = moves.to[N + i] = -1;
  if (i < count) {
    slot[i] = row[i];
    if (row[i] >= count) {
      int first = 0;
      while (row[first] != row[i]) ++first;
      slot[i] = N + first;
      if (first == i) moves.to[N + i] = content[N + i] = row[i];
    }
    moves.to[i] = content[i] = i;
  }
  __syncthreads();
  if (i == 0)
    for (int step = 0; step < count; ++step) {
      const int t = backward ? count - 1 - step : step, held = content[t];
      content[t] = content[slot[t]];
      content[slot[t]] = held;
    }
  __syncthreads();
  for (int s = i; s < 2 * N; s += blockDim.x)
    if (moves.to[s] >= 0) {
      moves.from[s] = content[s];
      if (moves.from[s] == moves.to[s]) moves.to[s] = -1;
    }
  __syncthreads();
}

/// Thread s makes move s in the columns of this block: all reads before all writes.
template <int columns, class T>
__device__ void make_move(MatrixView<T, Cuda> A, int to, int from) {
  const std::int64_t j0 = std::int64_t(blockIdx.x) * columns;
  T held[columns];
  if (to >= 0) {
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j0 + j < A.cols()) held[j] = A.data()[from + (j0 + j) * A.ld()];
  }
  __syncthreads();
  if (to >= 0) {
#pragma unroll
    for (int j = 0; j < columns; ++j)
      if (j0 + j < A.cols()) A.data()[to + (j0 + j) * A.ld()] = held[j];
  }
}

constexpr int columns_to_move = 8;  // of a block

template <class T>
__global__ void __launch_bounds__(2 * few_exchanges)
    make_few_moves(MatrixView<T, Cuda> A, Pivots<Cuda> pivots, bool backward) {
  __shared__ RowMoves<few_exchanges> moves;
  plan(pivots, backward, moves);
  make_move<columns_to_move>(A, moves.to[threadIdx.x], moves.from[threadIdx.x]);
}

inline __global__ void __launch_bounds__(most_exchanges)
    plan_moves(Pivots<Cuda> pivots, bool backward, RowMoves<most_exchanges>* planned) {
  __shared__ RowMoves<most_exchanges> moves;
  plan(pivots, backward, moves);
  for (int s = threadIdx.x; s < 2 * most_exchanges; s += blockDim.x)
    planned->to[s] = moves.to[s], planned->from[s] = moves.from[s];
}

template <class T>
__global__ void __launch_bounds__(2 * most_exchanges)
    make_moves(MatrixView<T, Cuda> A, const RowMoves<most_exchanges>* moves) {
  make_move<columns_to_move / 2>(A, moves->to[threadIdx.x], moves->from[threadIdx.x]);
}

template <class T>
void exchange_rows(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots, bool backward) {
  if (A.empty() || pivots.count() == 0) return;
  const auto blocks = [&](std::int64_t columns) { return unsigned((A.cols() + columns - 1) / columns); };
  if (pivots.count() <= few_exchanges) {
    make_few_moves<T><<<blocks(columns_to_move), 2 * few_exchanges, 0, q.stream()>>>(A, pivots, backward);
  } else {
    auto* moves = q.scratch<RowMoves<most_exchanges>>(1, 1).data();
    plan_moves<<<1, most_exchanges, 0, q.stream()>>>(pivots, backward, moves);
    CUDA_CHECK_LAUNCH();
    make_moves<T><<<blocks(columns_to_move / 2), 2 * most_exchanges, 0, q.stream()>>>(A, moves);
  }
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
