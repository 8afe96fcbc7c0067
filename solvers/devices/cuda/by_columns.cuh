// Right-hand sides and solutions on a device that lie in rows.
#pragma once

#include "core/cuda/transpose.cuh"
#include "core/settled.hpp"
#include "solvers/driver/columns.hpp"
#include "solvers/driver/facts.hpp"

namespace lasolve {

/// Has f(B, X) done with columns: in place, or with transposed copies, in the order of the queue.
template <class T, class F>
void by_columns(Queue<Cuda>& q, Columns<const T, Cuda> B, Columns<T, Cuda> X, F f) {
  Matrix<T, Cuda> b, x;
  if (!B.is_view()) b = Matrix<T, Cuda>(B.view.cols(), B.view.rows());
  if (!X.is_view()) x = Matrix<T, Cuda>(X.view.cols(), X.view.rows());
  const Settled settled(q);
  if (!B.is_view() || !X.is_view()) q.phase(Phase::other);
  if (!B.is_view()) transpose<Uplo::both, T>(q, B.view, b.view());
  f(B.is_view() ? B.view : std::as_const(b).view(), X.is_view() ? X.view : x.view());
  if (X.is_view()) return;
  q.phase(Phase::other);
  transpose<Uplo::both, T>(q, std::as_const(x).view(), X.view);
}

/// The same of a solve, whose report counts the copies.
template <class T, class Solve>
Report solve_by_columns(Queue<Cuda>& q, Columns<const T, Cuda> B, Columns<T, Cuda> X, Solve solve) {
  if (B.is_view() && X.is_view()) return solve(B.view, X.view);
  Report report;
  by_columns(q, B, X, [&](MatrixView<const T, Cuda> b, MatrixView<T, Cuda> x) { report = solve(b, x); });
  Times copying;
  copying.take(q);
  add_times(report, copying);
  return report;
}

}  // namespace lasolve
