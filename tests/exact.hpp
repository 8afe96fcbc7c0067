// Systems of which the solution is known to more digits than a double has.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "matrices.hpp"

namespace lasolve::test {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

/// The solutions of op(A) X = B by Gaussian elimination, column by column.
template <class T>
std::vector<std::vector<Quad>> exact_solutions(const Matrix<T>& A, const Matrix<T>& B, Op op = Op::none) {
  const auto n = std::size_t(A.rows()), nrhs = std::size_t(B.cols());
  std::vector<std::vector<Quad>> a(n, std::vector<Quad>(n + nrhs));  // rows of (op(A), B)
  const auto size = [](Quad x) { return x < 0 ? -x : x; };
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = std::int64_t(i);
    for (std::size_t j = 0; j < n; ++j) a[i][j] = op == Op::none ? A(row, std::int64_t(j)) : A(std::int64_t(j), row);
    for (std::size_t j = 0; j < nrhs; ++j) a[i][n + j] = B(row, std::int64_t(j));
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t p = k;
    for (std::size_t i = k; i < n; ++i)
      if (size(a[i][k]) > size(a[p][k])) p = i;
    std::swap(a[k], a[p]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const Quad l = a[i][k] / a[k][k];
      for (std::size_t j = k + 1; j < n + nrhs; ++j) a[i][j] -= l * a[k][j];
    }
  }
  std::vector<std::vector<Quad>> X(nrhs, std::vector<Quad>(n));
  for (std::size_t j = 0; j < nrhs; ++j)
    for (std::size_t i = n; i-- > 0;) {
      Quad x = a[i][n + j];
      for (std::size_t k = i + 1; k < n; ++k) x -= a[i][k] * X[j][k];
      X[j][i] = x / a[i][i];
    }
  return X;
}

/// max over the columns of ‖x − x̂‖∞ / ‖x‖∞.
template <class T>
double forward_error(const Matrix<T>& X, const std::vector<std::vector<Quad>>& exact) {
  double worst = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    double most = 0, apart = 0;
    for (std::int64_t i = 0; i < X.rows(); ++i) {
      const Quad x = exact[std::size_t(j)][std::size_t(i)];
      most = std::max(most, std::abs(double(x))), apart = std::max(apart, std::abs(double(x - Quad(X(i, j)))));
    }
    worst = std::max(worst, most == 0 ? (apart == 0 ? 0 : HUGE_VAL) : apart / most);
  }
  return worst;
}

}  // namespace lasolve::test
