// The check of solutions whose matrix was overwritten by its factors, and is made again a few columns at a time.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

struct Checked {
  double backward_error;
  PhaseTimes phases;
};

/// How well X solves op(A) X = B, where A is symmetric if only a triangle of it counts. Takes memory for 1 GiB of A.
template <class Space>
Checked check_again(Queue<Space>& q, const Supply<double, Space>& A, Op op, Uplo triangle, MatrixView<const double> B,
                    MatrixView<const double> X);
template <>
Checked check_again(Queue<Cpu>&, const Supply<double, Cpu>&, Op, Uplo, MatrixView<const double>,
                    MatrixView<const double>);
template <>
Checked check_again(Queue<Cuda>&, const Supply<double, Cuda>&, Op, Uplo, MatrixView<const double>,
                    MatrixView<const double>);

}  // namespace lasolve
