// Panels on CUDA.
#pragma once

#include "solvers/devices/cuda/cholesky/leaf.cuh"
#include "solvers/devices/cuda/cholesky/narrow_update.cuh"
#include "solvers/devices/cuda/lu/lookahead_update.cuh"
#include "solvers/devices/cuda/lu/panel.cuh"

namespace lasolve {

/// P A = L U of a panel that one kernel factors, m × n, with its rows interchanged.
template <class T>
void panel_lu(Queue<Cuda>& q, const Gemm<T, Cuda>&, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  factor_in_place<T>(q, {A, pivots, q.scratch<T>(PackedL11<T>::elements, 1).data()});  // nobody reads it
  interchange_rows(q, A, pivots, Resource::pivots);
}

}  // namespace lasolve
