// Leaves of the triangular solves on CUDA.
#pragma once

#include <algorithm>
#include <limits>

#include "lasolve/tuning.hpp"
#include "solvers/devices/cuda/trsm/in_registers.cuh"
#include "solvers/devices/cuda/trsm/sync_free.cuh"

namespace lasolve {

/// With few right-hand sides the synchronization-free solve reads the triangle once, whatever its order. With more of
/// them it takes triangles up to the order at which all blocks of rows run at the same time. Beyond, products read it
/// once for all right-hand sides.
template <class T>
std::int64_t leaf_order(const Queue<Cuda>& q, std::int64_t nrhs) {
  if (nrhs <= q.tuning().solve_few_rhs) return std::numeric_limits<std::int64_t>::max();
  if (nrhs > q.tuning().solve_sync_free_rhs) return most_in_registers_order;
  const std::int64_t blocks_at_once = q.multiprocessors() / ((nrhs + 7) / 8);
  return std::max(sync_free_order<T>(q.properties()) * blocks_at_once, most_in_registers_order);
}

/// How many of so many right-hand sides to solve for at once. Two synchronization-free solves for half of them take
/// less time than products for all.
inline std::int64_t rhs_at_once(const Queue<Cuda>& q, std::int64_t n, std::int64_t nrhs) {
  const std::int64_t most = q.tuning().solve_sync_free_rhs;
  const bool in_halves = n >= q.tuning().solve_halves_from && nrhs > most && nrhs <= 2 * most;
  return in_halves ? (nrhs + 15) / 16 * 8 : nrhs;
}

template <class T>
void solve_forward(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  if (problem.triangle.order <= most_in_registers_order)
    solve_in_registers(q, problem);
  else
    solve_by_sync_free(q, problem);
}

/// B ← inv(T) B. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (!B.empty()) solve_forward(q, from_the_left(tri, B));
}

/// B ← inv(T) B in the arithmetic of B, by T as it is stored. False: T is too small, or too large for so many right-hand sides.
inline bool try_solve_as_stored(Queue<Cuda>& q, Triangle<float, Cuda> tri, MatrixView<double, Cuda> B) {
  if (tri.order() <= most_in_registers_order || tri.order() > leaf_order<float>(q, B.cols())) return false;
  if (!B.empty()) solve_by_sync_free(q, from_the_left(tri, B));
  return true;
}

/// B ← B inv(T). T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (!B.empty()) solve_forward(q, from_the_right(tri, B));
}

}  // namespace lasolve
