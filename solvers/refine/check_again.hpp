// The check of solutions whose matrix was overwritten by its factors, and is made again a few columns at a time.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Checks that op(A) X = B, where A is symmetric if only a triangle of it counts, writes the backward error into the report of X, and changes its outcome to inaccurate if it is
/// too large. Takes memory for 1 GiB of A.
template <class Place>
void check_again(Queue<Place>& q, const Supply<double, Place>& A, Op op, Uplo triangle, MatrixView<const double> B,
                 MatrixView<const double> X, Report& report);
template <>
void check_again(Queue<Cpu>&, const Supply<double, Cpu>&, Op, Uplo, MatrixView<const double>, MatrixView<const double>,
                 Report&);
template <>
void check_again(Queue<Cuda>&, const Supply<double, Cuda>&, Op, Uplo, MatrixView<const double>,
                 MatrixView<const double>, Report&);

}  // namespace lasolve
