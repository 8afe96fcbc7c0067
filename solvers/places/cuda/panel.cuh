// Panels on CUDA.
#pragma once

#include "solvers/places/cuda/cholesky/leaf.cuh"
#include "solvers/places/cuda/cholesky/narrow_update.cuh"
#include "solvers/places/cuda/lu/lookahead_update.cuh"
#include "solvers/places/cuda/lu/panel.cuh"
#include "solvers/places/cuda/trsm/sync_free.cuh"

namespace lasolve {

template <class T>
std::int64_t panel_leaf_columns(const Queue<Cuda>& q, MatrixView<T, Cuda> A) {
  return A.rows() > most_rows_in_registers(q) ? tall_panel_columns : widest_panel<T>(q);
}

/// P A = L U of at most panel_leaf_columns, with the rows left in their places.
template <class T>
void panel_lu_in_place(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  pivots.known->push_back({pivots.start, pivots.count(), false});
  factor_in_place(q, A, pivots);
}

template <class T>
void panel_lu_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  panel_lu_in_place(q, A, pivots);
  swap_rows(q, A, pivots);
}

/// P A = L U of a panel (m × nb, m ≥ nb). Returns whether its rows have been interchanged, not left in their places:
/// those of few columns are best interchanged together with their neighbours.
template <class T>
bool panel_lu(Queue<Cuda>& q, const Gemm<T, Cuda>& gemm, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  const bool wide = A.cols() > panel_leaf_columns(q, A);
  if (wide)
    lu_recursive(q, gemm, A, pivots);
  else
    panel_lu_in_place(q, A, pivots);
  return wide;
}

/// What a queue makes once is made before the clock runs. A: n × n.
template <class T>
void prepare(Queue<Cuda>& q, Method method, std::int64_t n) {
  Queue<Cuda>&near = q.ahead(), &chain = near.ahead();  // the gaps between kernels depend on which is used first
  const auto blocks = std::size_t(q.multiprocessors());
  const std::size_t packets = blocks * 8 * std::size_t(sync_free_order<T>(q.properties())) * sizeof(Packet);
  for (Queue<Cuda>* one : {&q, &q.beside(), &near, &chain, &near.beside()})
    one->packet_buffer(std::max(packets, most_packet_bytes), 0), one->counter(), one->wait_limit(),
        PackedL11<double>::of(*one);
  q.pinned();
  if (method == Method::lu && lu_far_columns<T>(q, n) > 0) q.behind();
}

}  // namespace lasolve
