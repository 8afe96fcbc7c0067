// LU: P A = L U with row interchanges. What its tasks do, over primitives of a device.
#pragma once

#include "solvers/lu/tasks.hpp"
#include "solvers/method.hpp"
#include "solvers/trsm.hpp"
#include "solvers/workpiece.hpp"

namespace lasolve {

struct Lu {
  static const MethodRecord record;

  /// On exit of all, A holds U and, below the diagonal, L with its unit diagonal left out; a zero pivot is recorded and the elimination
  /// goes on, as in LAPACK's getrf. Throws std::logic_error where LU has no such task on this device.
  template <class T, class Space>
  static void perform(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& of) {
    const auto C = of.at(task.C);
    const auto p = of.pivots.block(task.interchanges.i, task.interchanges.m);
    if (task.is(lu_task::panel)) return panel_lu(q, of.gemm, C, p, of.pivoting);  // P [A11; A21] = [L11; L21] U11
    if (task.is(lu_task::interchange))                                            // [A12; A22] ← P [A12; A22]
      return interchange_rows(q, C, p, task.interchanges.of);
    if (task.is(lu_task::solve)) return trsm_left(q, of.gemm, lower_unit(of.at(task.L)), C);  // U12 = inv(L11) A12
    if (task.is(lu_task::update))                                                             // A22 ← A22 − L21 U12
      return of.gemm(q, T(-1), of.at(task.L), of.at(task.U), T(1), C);
    perform_lowered(q, task, of);
  }
};

}  // namespace lasolve
