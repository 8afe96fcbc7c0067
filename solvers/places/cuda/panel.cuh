// Panels on CUDA.
#pragma once

#include "solvers/places/cuda/cholesky/leaf.cuh"
#include "solvers/places/cuda/cholesky/narrow_update.cuh"
#include "solvers/places/cuda/lu/lookahead_update.cuh"
#include "solvers/places/cuda/lu/panel.cuh"
#include "solvers/places/cuda/trsm/sync_free.cuh"

namespace lasolve {

/// P A = L U of a panel that one kernel factors, m × n, with its rows interchanged.
template <class T>
void panel_lu(Queue<Cuda>& q, const Gemm<T, Cuda>&, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  factor_in_place<T>(q, {A, pivots, q.scratch<T>(PackedL11<T>::elements, 1).data()});  // nobody reads it
  interchange_rows(q, A, pivots, Resource::pivots);
}

/// What a queue makes once is made before the clock runs. A: n × n.
template <class T>
void prepare(Queue<Cuda>& q, Method method, std::int64_t n) {
  Queue<Cuda>&near = q.ahead(), &chain = near.ahead();  // the gaps between kernels depend on which is used first
  const auto blocks = std::size_t(q.multiprocessors());
  const std::size_t packets = blocks * 8 * std::size_t(sync_free_order<T>(q.properties())) * sizeof(Packet);
  for (Queue<Cuda>* one : {&q, &q.beside(), &near, &chain, &near.beside()})
    one->packet_buffer(std::max(packets, most_packet_bytes), 0), one->counter(), one->wait_limit(),
        one->scratch<double>(PackedL11<double>::elements, 1);
  q.results(0);
  if (method == Method::lu && lu_far_columns<T>(q, n) > 0) q.behind();
}

}  // namespace lasolve
