// LAPACK's expert driver, from the library that the backend blas takes its products from: what it says of its solutions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/cpu/openblas.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::bench {

struct Expert {
  Matrix<double> X;
  double rcond;
  std::vector<double> forward_error_bounds, componentwise_backward_errors;  ///< of each right-hand side
};

/// dgesvx with equilibration and refinement. Throws MachineError where OpenBLAS is not there.
inline Expert solve_by_expert(MatrixView<const double> A, MatrixView<const double> B) {
  using Gesvx = void (*)(const char* fact, const char* trans, const int* n, const int* nrhs, double* A, const int* lda,
                         double* AF, const int* ldaf, int* pivots, char* equed, double* R, double* C, double* B,
                         const int* ldb, double* X, const int* ldx, double* rcond, double* ferr, double* berr,
                         double* work, int* iwork, int* info);
  static const auto gesvx = openblas_function<Gesvx>("dgesvx_");
  const int n = int(A.rows()), nrhs = int(B.cols());
  const auto size = std::size_t(n);
  const auto copied = [n](MatrixView<const double> M) {
    Matrix<double> copy(n, M.cols(), n);
    for (std::int64_t j = 0; j < M.cols(); ++j) std::copy_n(&M(0, j), n, &copy(0, j));
    return copy;
  };
  Matrix<double> a = copied(A), b = copied(B), factors(n, n, n);
  Expert its{Matrix<double>(n, nrhs, n), 0, std::vector<double>(std::size_t(nrhs)),
             std::vector<double>(std::size_t(nrhs))};
  std::vector<int> pivots(size), integers(size);
  std::vector<double> rows(size), columns(size), work(4 * size);
  char scaled = 'N';
  int info = 0;
  gesvx("E", "N", &n, &nrhs, a.data(), &n, factors.data(), &n, pivots.data(), &scaled, rows.data(), columns.data(),
        b.data(), &n, its.X.data(), &n, &its.rcond, its.forward_error_bounds.data(),
        its.componentwise_backward_errors.data(), work.data(), integers.data(), &info);
  return its;
}

}  // namespace lasolve::bench
