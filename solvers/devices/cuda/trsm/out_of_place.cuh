// The first triangular solve of a system, which reads B where it lies and writes X.
#pragma once

#include "solvers/devices/cuda/trsm/triangle.cuh"
#include "solvers/devices/primitives.hpp"
#include "solvers/lu/cuda/row_interchanges.cuh"

namespace lasolve {

/// X ← inv(T) B, or inv(T) P B. With few right-hand sides one kernel reads B where it is.
template <class T>
void trsm_left(Queue<Cuda>& q, const Gemm<T, Cuda>& gemm, Triangle<T, Cuda> tri,
               std::type_identity_t<MatrixView<const T, Cuda>> B, const Pivots<Cuda>* P, MatrixView<T, Cuda> X) {
  const std::int64_t n = tri.order();
  const bool is_one_kernel = n > most_in_registers_order && n <= leaf_order<T>(q, X.cols()) && tri.lower;
  if (!is_one_kernel || X.empty() || B.data() == X.data()) return trsm_left<T, Cuda>(q, gemm, tri, B, P, X);
  ForwardProblem<T> problem = from_the_left(tri, X);
  problem.rhs.from = B.data(), problem.rhs.from_stride = B.ld();
  problem.rhs.rows = P ? P->interchanges.rows : nullptr;
  solve_by_sync_free(q, problem);
}

}  // namespace lasolve
