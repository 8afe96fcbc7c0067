// Leaves of the triangular solves on CUDA.
#pragma once

#include <limits>

#include "solvers/cuda/dataflow.cuh"
#include "solvers/cuda/strips.cuh"

namespace lasolve {

/// With few right-hand sides the triangle is read once from memory, whatever its order: halving would gain nothing.
inline std::int64_t leaf_order(const Queue<Cuda>&, std::int64_t nrhs) {
  return nrhs <= 8 ? std::numeric_limits<std::int64_t>::max() : nrhs <= 64 ? 2048 : most_strip_order;
}

template <class T>
void solve_forward(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  if (problem.triangle.order <= most_strip_order)
    solve_in_strips(q, problem);
  else
    solve_by_dataflow(q, problem);
}

/// B ← inv(T) B. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (!B.empty()) solve_forward(q, from_the_left(tri, B));
}

/// B ← B inv(T). T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (!B.empty()) solve_forward(q, from_the_right(tri, B));
}

}  // namespace lasolve
