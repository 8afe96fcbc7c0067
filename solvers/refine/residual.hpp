// Norms of a matrix and residuals of a system that do not overflow where the solution does not. Over primitives of a device:
// row_sums_of_magnitudes, column_norms, residual, scale.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <utility>
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

/// Sums of rows in a unit, a power of two, in which none overflows.
struct RowSums {
  std::vector<double> in_units;
  long double unit = 1;
  double most = lasolve::largest(in_units);

  /// ‖A‖∞.
  long double largest() const { return most * unit; }
  std::vector<long double> wide() const {
    std::vector<long double> sums(in_units.begin(), in_units.end());
    for (long double& sum : sums) sum *= unit;
    return sums;
  }
};

/// The same from these sums: finite where all entries of A are.
template <class T, class Space>
RowSums row_sums_without_overflow(Queue<Space>& q, const SystemMatrix<T, Space>& A, std::vector<double> sums) {
  constexpr double less = 0x1p-64;  // no row has more entries than 1/less
  RowSums its{std::move(sums)};
  return std::isinf(its.most) ? RowSums{*row_sums(q, A, less), 1 / less} : its;
}

/// Whether products of A and x may overflow. `a` is ‖A‖∞, and `x` the largest magnitude in x.
template <class T>
bool may_overflow(long double a, double x) {
  return a * x >= std::scalbn(1.0L, std::numeric_limits<real_of<T>>::max_exponent - 2);
}

/// An exponent e with which products of A and 2^−e x neither overflow, nor lose digits because they are too small for that: nearly
/// always 0. `b`: the largest magnitude in the right-hand side beside x. `twice`: products have twice the digits.
template <class T>
int exponent_within_range(long double a, double x, double b = 0, bool twice = false) {
  using Limits = std::numeric_limits<real_of<T>>;
  constexpr int most = Limits::max_exponent - 2, headroom = 16;
  const long double size = a * x;
  if (may_overflow<T>(a, x)) return std::isfinite(size) ? std::ilogb(size) + 1 - most : 0;
  const int least = Limits::min_exponent + headroom + (twice ? 2 * Limits::digits : 0);
  if (!(size > 0 && size < std::scalbn(1.0L, least))) return 0;
  return std::min(0, std::max(std::ilogb(size), std::ilogb(larger(x, b)) + 2 * Limits::digits - most));
}
/// That of each column.
template <class T>
std::vector<int> exponents_within_range(long double a, const std::vector<double>& x, const std::vector<double>& b,
                                        bool twice = false) {
  std::vector<int> exponents;
  for (std::size_t j = 0; j < x.size(); ++j) exponents.push_back(exponent_within_range<T>(a, x[j], b[j], twice));
  return exponents;
}
inline bool any_exponent(const std::vector<int>& exponents) {
  return std::any_of(exponents.begin(), exponents.end(), [](int e) { return e != 0; });
}

/// The exponent with which 2^exponent A has a norm just below 1, where that of A is below the least normal number and so its factors would
/// lose digits; else 0. If 2^exponent b overflows, then A⁻¹b does.
template <class T>
int exponent_of_subnormal(long double norm) {
  return norm > 0 && norm < std::numeric_limits<real_of<T>>::min() ? -std::ilogb(norm) - 1 : 0;
}

/// f(2^−e X, 2^−e B, 2^−e tail) with an exponent e for each column. What is empty stays so.
template <class T, class Space, class F>
void on_scaled(Queue<Space>& q, const std::vector<int>& exponents, MatrixView<const T, Space> X,
               MatrixView<const T, Space> B, MatrixView<const T, Space> tail, F f) {
  Matrix<T, Space> of_X(X.rows(), X.cols()), of_B(B.rows(), B.cols()), of_tail(tail.rows(), tail.cols());
  const Settled settled(q);
  const auto scale_columns = [&](MatrixView<const T, Space> from, MatrixView<T, Space> to) {
    for (std::int64_t j = 0; j < from.cols(); ++j)
      scale<T>(q, -exponents[std::size_t(j)], from.columns(j, 1), to.columns(j, 1));
  };
  scale_columns(X, of_X), scale_columns(B, of_B), scale_columns(tail, of_tail);
  f(std::as_const(of_X).view(), std::as_const(of_B).view(), std::as_const(of_tail).view());
}

/// Numbers that were computed 2^−e times as large.
inline std::vector<long double> unscaled(const std::vector<double>& numbers, const std::vector<int>& exponents) {
  std::vector<long double> wide(numbers.begin(), numbers.end());
  for (std::size_t j = 0; j < wide.size(); ++j) wide[j] = std::ldexp(wide[j], exponents[j]);
  return wide;
}

/// The largest magnitudes in the columns of some matrices, one after the other.
template <class T, class Space>
Fetched<std::vector<double>> norms_of_each(Queue<Space>& q,
                                           std::initializer_list<MatrixView<const T, Space>> matrices) {
  std::vector<double> all;
  for (const MatrixView<const T, Space> M : matrices) {
    auto norms = column_norms<T>(q, M);
    all.insert(all.end(), norms->begin(), norms->end());
  }
  return all;
}

/// R ← B − A X for a square A, and the largest magnitudes in the columns of B, then of X, then of R. By default one after the other.
template <class T, class Space, class AnyMatrix>
Fetched<std::vector<double>> residual_with_norms(Queue<Space>& q, const AnyMatrix& A, MatrixView<const T, Space> X,
                                                 MatrixView<const T, Space> B, MatrixView<T, Space> R) {
  residual(q, A, X, B, R);
  return norms_of_each<T>(q, {B, X, MatrixView<const T, Space>(R)});
}
/// The same in twice the precision, of X + tail.
template <class T, class Space, class AnyMatrix>
Fetched<std::vector<double>> residual_in_two_with_norms(Queue<Space>& q, const AnyMatrix& A,
                                                        MatrixView<const T, Space> X, MatrixView<const T, Space> tail,
                                                        MatrixView<const T, Space> B, MatrixView<T, Space> R) {
  residual_in_two(q, A, X, tail, B, R);
  return norms_of_each<T>(q, {B, X, MatrixView<const T, Space>(R)});
}

/// What is known of a residual, by columns.
struct ResidualNorms {
  std::vector<int> exponents;
  std::vector<double> b, x;    ///< the largest magnitudes of B and X
  std::vector<long double> r;  ///< those of B − A X
};

/// R ← 2^−e (B − A X) with exponents as of exponents_within_range(norm_of_A(), x). They are taken for 0, so that all that is
/// asked of the device is waited for at once; where that was wrong, R is computed again. With what X has below its last digits, a tail, R
/// is computed in twice the precision.
template <class T, class Space>
ResidualNorms residual_within_range(Queue<Space>& q, const SystemMatrix<T, Space>& A,
                                    const std::function<long double()>& norm_of_A,
                                    std::type_identity_t<MatrixView<const T, Space>> X,
                                    std::type_identity_t<MatrixView<const T, Space>> B,
                                    std::type_identity_t<MatrixView<T, Space>> R,
                                    std::type_identity_t<MatrixView<const T, Space>> tail = {}) {
  using View = MatrixView<const T, Space>;
  const auto norms_of = [&](View some_X, View some_B, View some_tail) {
    auto all = std::visit(
        [&](const auto& a) {
          return tail.cols() == 0 ? residual_with_norms<T>(q, a, some_X, some_B, R)
                                  : residual_in_two_with_norms<T>(q, a, some_X, some_tail, some_B, R);
        },
        A);
    const auto third = [&](std::ptrdiff_t which) {
      const auto begin = all->begin() + which * std::ptrdiff_t(X.cols());
      return std::vector<double>(begin, begin + std::ptrdiff_t(X.cols()));
    };
    return std::array{third(0), third(1), third(2)};
  };
  auto norms = norms_of(X, B, tail);  // of B, X and R
  const auto exponents = exponents_within_range<T>(norm_of_A(), norms[1], norms[0], tail.cols() > 0);
  if (any_exponent(exponents))
    on_scaled<T>(q, exponents, X, B, tail, [&](auto... scaled) { norms[2] = norms_of(scaled...)[2]; });
  return {exponents, norms[0], norms[1], unscaled(norms[2], exponents)};
}

}  // namespace lasolve
