// Panels on CUDA.
#pragma once

#include "solvers/cuda/cholesky_panel.cuh"
#include "solvers/cuda/lu_panel.cuh"

namespace lasolve {

template <class T>
std::int64_t panel_leaf_columns(const Queue<Cuda>&, MatrixView<T, Cuda>) {
  return most_panel_columns;
}

/// P A = L U of at most 128 columns.
template <class T>
void panel_lu_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  pivots.panels->push_back(pivots.start);
  factor_in_place(q, A, pivots);
  swap_rows(q, A, pivots);
}

/// P A = L U of a panel (m × nb, m ≥ nb).
template <class T>
void panel_lu(Queue<Cuda>& q, const GemmBackend<Cuda>& gemm, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  lu_recursive(q, gemm, A, pivots);
}

/// What a queue makes once is made before the clock runs.
inline void prepare(Queue<Cuda>& q) {
  q.beside();
  for (Queue<Cuda>* one : {&q, &q.ahead()}) one->mailbox(GridElection<double, 32>::bytes, 0), one->counter();
}

}  // namespace lasolve
