// Norms of a matrix and residuals of a system that do not overflow where the solution does not. Over primitives of a device:
// row_sums_of_magnitudes, column_norms, residual, scale.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "core/fetched.hpp"
#include "core/settled.hpp"
#include "core/symmetric.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

/// The sum of the magnitudes in each row, times a power of two; infinite where it overflows.
template <class T, class Space>
Fetched<std::vector<double>> row_sums(Queue<Space>& q, const SystemMatrix<T, Space>& A, double scale = 1) {
  return std::visit([&](const auto& a) { return row_sums_of_magnitudes(q, a, scale); }, A);
}

/// The same from these sums, of which the largest is ‖A‖∞: finite where all entries of A are.
template <class T, class Space>
std::vector<long double> row_sums_without_overflow(Queue<Space>& q, const SystemMatrix<T, Space>& A,
                                                   Fetched<std::vector<double>> sums) {
  constexpr double less = 0x1p-64;  // no row has more entries than 1/less
  long double unit = 1;
  if (std::isinf(largest(*sums))) sums = row_sums(q, A, less), unit = 1 / less;
  std::vector<long double> wide(sums->begin(), sums->end());
  for (long double& sum : wide) sum *= unit;
  return wide;
}

/// The least exponent e ≥ 0 with which products of A and 2^−e x do not overflow, nearly always 0. `a` is ‖A‖∞ and `x` the
/// largest magnitude in the column x.
template <class T>
int exponent_without_overflow(long double a, double x) {
  constexpr int most = std::numeric_limits<real_of<T>>::max_exponent - 2;
  const long double size = a * x;
  if (!(size >= std::scalbn(1.0L, most))) return 0;
  return std::isfinite(size) ? std::ilogb(size) + 1 - most : 0;
}
/// That of each column of X.
template <class T>
std::vector<int> exponents_without_overflow(long double a, const std::vector<double>& x) {
  std::vector<int> exponents;
  for (const double xj : x) exponents.push_back(exponent_without_overflow<T>(a, xj));
  return exponents;
}

/// The exponent with which 2^exponent A has a norm just below 1, where that of A is below the least normal number and so all that is
/// computed with A would lose digits; else 0. If 2^exponent b overflows, then A⁻¹b does.
template <class T>
int exponent_of_subnormal(long double norm) {
  return norm > 0 && norm < std::numeric_limits<real_of<T>>::min() ? -std::ilogb(norm) - 1 : 0;
}

/// f(2^−e X, 2^−e B) with an exponent e for each column.
template <class T, class Space, class F>
void on_scaled(Queue<Space>& q, const std::vector<int>& exponents, MatrixView<const T, Space> X,
               MatrixView<const T, Space> B, F f) {
  Matrix<T, Space> less_X(X.rows(), X.cols()), less_B(B.rows(), B.cols());
  const Settled settled(q);
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    scale<T>(q, -exponents[std::size_t(j)], X.columns(j, 1), less_X.view().columns(j, 1));
    scale<T>(q, -exponents[std::size_t(j)], B.columns(j, 1), less_B.view().columns(j, 1));
  }
  f(std::as_const(less_X).view(), std::as_const(less_B).view());
}

/// Numbers that were computed 2^−e times as large.
inline std::vector<long double> unscaled(const std::vector<double>& numbers, const std::vector<int>& exponents) {
  std::vector<long double> wide(numbers.begin(), numbers.end());
  for (std::size_t j = 0; j < wide.size(); ++j) wide[j] = std::ldexp(wide[j], exponents[j]);
  return wide;
}

/// R ← B − A X for a square A, and the largest magnitudes in the columns of B, then of X, then of R. By default one after the other.
template <class T, class Space, class AnyMatrix>
Fetched<std::vector<double>> residual_with_norms(Queue<Space>& q, const AnyMatrix& A, MatrixView<const T, Space> X,
                                                 MatrixView<const T, Space> B, MatrixView<T, Space> R) {
  residual(q, A, X, B, R);
  std::vector<double> all;
  for (const MatrixView<const T, Space> M : {B, X, MatrixView<const T, Space>(R)}) {
    auto norms = column_norms<T>(q, M);
    all.insert(all.end(), norms->begin(), norms->end());
  }
  return all;
}

/// What is known of a residual, by columns.
struct ResidualNorms {
  std::vector<int> exponents;
  std::vector<double> b, x;    ///< the largest magnitudes of B and X
  std::vector<long double> r;  ///< those of B − A X
};

/// R ← 2^−e (B − A X) with exponents as of exponents_without_overflow(norm_of_A(), x). They are taken for 0, so that all that is
/// asked of the device is waited for at once; where that was wrong, R is computed again.
template <class T, class Space, class Norm>
ResidualNorms residual_without_overflow(Queue<Space>& q, const SystemMatrix<T, Space>& A, Norm norm_of_A,
                                        std::type_identity_t<MatrixView<const T, Space>> X,
                                        std::type_identity_t<MatrixView<const T, Space>> B,
                                        std::type_identity_t<MatrixView<T, Space>> R) {
  const auto norms_of = [&](MatrixView<const T, Space> some_X, MatrixView<const T, Space> some_B) {
    auto all = std::visit([&](const auto& a) { return residual_with_norms<T>(q, a, some_X, some_B, R); }, A);
    const auto third = [&](std::ptrdiff_t which) {
      const auto begin = all->begin() + which * std::ptrdiff_t(X.cols());
      return std::vector<double>(begin, begin + std::ptrdiff_t(X.cols()));
    };
    return std::array{third(0), third(1), third(2)};
  };
  auto norms = norms_of(X, B);  // of B, X and R
  const auto exponents = exponents_without_overflow<T>(norm_of_A(), norms[1]);
  if (largest(exponents) > 0)
    on_scaled<T>(q, exponents, X, B, [&](auto less_X, auto less_B) { norms[2] = norms_of(less_X, less_B)[2]; });
  return {exponents, norms[0], norms[1], unscaled(norms[2], exponents)};
}

}  // namespace lasolve
