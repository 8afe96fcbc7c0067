// LU panels on CUDA: by halving down to leaves.
#pragma once

#include "solvers/cuda/leaf.cuh"

namespace lasolve {

template <class T>
std::int64_t panel_leaf_columns(const Queue<Cuda>& q, MatrixView<T, Cuda> A) {
  return leaf_shape<T>(q, A.rows()).columns;
}

/// P A = L U of a panel (m × nb, m ≥ nb).
template <class T>
void panel_lu(Queue<Cuda>& q, const GemmBackend<Cuda>& gemm, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  lu_recursive(q, gemm, A, pivots);
}

}  // namespace lasolve
