// What baseline solvers have in common.
#pragma once

#include "core/cpu/copy_on_host.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::baseline_solvers {

/// LU or Cholesky of matrices of one order, with memory and workspace that are made once. On CUDA calls enqueue their work and return.
template <class T, class Space>
class Solver {
 public:
  virtual ~Solver() = default;
  /// Where factor() finds A, and leaves its factors.
  virtual MatrixView<T, Space> matrix() = 0;
  /// Y ← X.
  virtual void copy(MatrixView<const T, Space> X, MatrixView<T, Space> Y) = 0;
  virtual void factor() = 0;
  /// X ← inv(A) X, with the factors.
  virtual void solve(MatrixView<T, Space> X) = 0;
  /// Both, by one call where the library has one.
  virtual void factor_and_solve(MatrixView<T, Space> X) {
    factor();
    solve(X);
  }
  /// Waits until all is done. False where A could not be factored, as far as the library says it.
  virtual bool finish() = 0;
};

}  // namespace lasolve::baseline_solvers
