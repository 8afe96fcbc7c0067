// Norms of a matrix and residuals of a system that do not overflow where the solution does not. Over primitives of a place:
// row_sums_of_magnitudes, residual, scale.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/symmetric.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/refine/settled.hpp"

namespace lasolve {

/// The sum of the magnitudes in each row, of which the largest is ‖A‖∞: finite where all entries of A are.
template <class T, class Place>
std::vector<long double> row_sums_without_overflow(Queue<Place>& q, const SystemMatrix<T, Place>& A) {
  constexpr double less = 0x1p-64;  // no row has more entries than 1/less
  const auto sums_of = [&](double scale) {
    return std::visit([&](const auto& a) { return row_sums_of_magnitudes(q, a, scale); }, A);
  };
  std::vector<double> sums = sums_of(1);
  long double unit = 1;
  if (std::isinf(largest(sums))) sums = sums_of(less), unit = 1 / less;
  std::vector<long double> wide(sums.begin(), sums.end());
  for (long double& sum : wide) sum *= unit;
  return wide;
}

/// The least exponent e ≥ 0 with which products of A and 2^−e x do not overflow, nearly always 0. `a` is ‖A‖∞ and `x` the
/// largest magnitude in the column x.
template <class T>
int exponent_without_overflow(long double a, double x) {
  constexpr int most = std::numeric_limits<T>::max_exponent - 2;
  const long double size = a * x;
  return size > 0 && std::isfinite(size) ? std::max(0, std::ilogb(size) + 1 - most) : 0;
}
/// That of each column of X.
template <class T>
std::vector<int> exponents_without_overflow(long double a, const std::vector<double>& x) {
  std::vector<int> exponents;
  for (const double xj : x) exponents.push_back(exponent_without_overflow<T>(a, xj));
  return exponents;
}

/// f(2^−e X, 2^−e B) with an exponent e for each column.
template <class T, class Place, class F>
void on_scaled(Queue<Place>& q, const std::vector<int>& exponents, MatrixView<const T, Place> X,
               MatrixView<const T, Place> B, F f) {
  if (largest(exponents) == 0) return f(X, B);
  Matrix<T, Place> less_X(X.rows(), X.cols()), less_B(B.rows(), B.cols());
  const Settled settled(q);
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    scale<T>(q, -exponents[std::size_t(j)], X.columns(j, 1), less_X.view().columns(j, 1));
    scale<T>(q, -exponents[std::size_t(j)], B.columns(j, 1), less_B.view().columns(j, 1));
  }
  f(std::as_const(less_X).view(), std::as_const(less_B).view());
}

/// R ← 2^−e (B − A X) with exponents that this returns, as of exponents_without_overflow(a, x).
template <class T, class Place>
std::vector<int> residual_without_overflow(Queue<Place>& q, const SystemMatrix<T, Place>& A, long double a,
                                           const std::vector<double>& x,
                                           std::type_identity_t<MatrixView<const T, Place>> X,
                                           std::type_identity_t<MatrixView<const T, Place>> B,
                                           std::type_identity_t<MatrixView<T, Place>> R) {
  auto exponents = exponents_without_overflow<T>(a, x);
  on_scaled<T>(q, exponents, X, B, [&](MatrixView<const T, Place> less_X, MatrixView<const T, Place> less_B) {
    std::visit([&](const auto& matrix) { residual(q, matrix, less_X, less_B, R); }, A);
  });
  return exponents;
}

/// Numbers that were computed 2^−e times as large.
inline std::vector<long double> unscaled(const std::vector<double>& numbers, const std::vector<int>& exponents) {
  std::vector<long double> wide(numbers.begin(), numbers.end());
  for (std::size_t j = 0; j < wide.size(); ++j) wide[j] = std::ldexp(wide[j], exponents[j]);
  return wide;
}

}  // namespace lasolve
