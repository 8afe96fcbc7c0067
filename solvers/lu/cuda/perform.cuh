// Panels on CUDA.
#pragma once

#include "solvers/cholesky/cuda/leaf.cuh"
#include "solvers/cholesky/cuda/narrow_update.cuh"
#include "solvers/lu/cuda/lookahead_update.cuh"
#include "solvers/lu/cuda/panel.cuh"
#include "solvers/lu/method.hpp"

namespace lasolve {

/// What a panel of m rows takes of the scratch memory of its queue, with room for an L11.
template <class T>
std::int64_t scratch_of_panel(std::int64_t m, Pivoting pivoting) {
  return pivoting == Pivoting::tournament ? tournament_scratch<T>(m) : PackedL11<T>::elements;
}

/// P A = L U of a panel that one kernel factors, m × n, with its rows interchanged.
template <class T>
void panel_lu(Queue<Cuda>& q, const Gemm<T, Cuda>&, MatrixView<T, Cuda> A, Pivots<Cuda> pivots, Pivoting pivoting) {
  T* const packed_L11 = q.scratch<T>(scratch_of_panel<T>(A.rows(), pivoting), 1).data();  // nobody reads it
  factor_in_place<T>(q, {A, pivots, packed_L11}, pivoting);
  interchange_rows(q, A, pivots, Resource::pivots);
}

/// The tasks of LU that lowering makes.
template <class T>
void perform_lowered(Queue<Cuda>& q, const Task& task, const Workpiece<T, Cuda>& of) {
  const auto p = of.pivots.block(task.interchanges.i, task.interchanges.m);
  if (task.is(lu_task::panel_in_place))
    return factor_in_place<T>(q, {of.at(task.C), p, of.buffers.packed_L11.data()}, of.pivoting);
  if (task.is(lu_task::lookahead_update))
    return lookahead_update<T>(q, {of.at(task.L), p, of.buffers.packed_L11.data()}, of.at(task.C));
  if (task.is(lu_task::combine)) return combine_interchanges(q, p);
  if (task.is(lu_task::begin_later)) return begin_later_interchanges(q, of.pivots.block(task.C.i, task.C.m));
  if (task.is(lu_task::prepend)) return prepend_interchanges(q, p);
  throw std::logic_error("lasolve: a plan has a task that its method has not");
}

}  // namespace lasolve
