// Test matrices: random ones, those of LAPACK's dchkge and dchkpo, and some with a name.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/cpu/eigen.hpp"
#include "reference.hpp"

namespace lasolve::test {

/// Numbers in [−1, 1), the same on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : bits_(seed) {}
  double operator()() { return double(bits_() >> 11) * 0x1p-52 - 1; }
  /// An integer in [−most, most].
  double integer(std::int64_t most) { return double(std::int64_t(bits_() % std::uint64_t(2 * most + 1)) - most); }

 private:
  std::mt19937_64 bits_;
};

template <class T = double>
Matrix<T> random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed = 1) {
  Random random(seed);
  return matrix_of<T>(m, n, [&](auto, auto) { return random(); });
}

/// Symmetric and positive definite: n on the diagonal.
template <class T = double>
Matrix<T> dominant_matrix(std::int64_t n) {
  const Matrix<T> R = random_matrix<T>(n, n);
  return matrix_of<T>(n, n, [&](auto i, auto j) { return i == j ? T(n) : R(std::max(i, j), std::min(i, j)); });
}

/// D₁ M D₂ with powers of two.
template <class T>
Matrix<T> in_units(const Matrix<T>& M, const std::vector<int>& rows, const std::vector<int>& columns) {
  return matrix_of<T>(M.rows(), M.cols(), [&](auto i, auto j) {
    return std::ldexp(M(i, j), rows[std::size_t(i)] + columns[std::size_t(j)]);
  });
}

/// Singular values, or eigenvalues, from 1 down to 1/κ in a geometric series: LAPACK's dlatms, mode 3.
inline double spectrum(std::int64_t i, std::int64_t n, double kappa) {
  return std::pow(kappa, -double(i) / double(std::max<std::int64_t>(1, n - 1)));
}

inline Matrix<double> diagonal_matrix(std::int64_t n, double kappa) {
  return matrix_of<double>(n, n, [=](auto i, auto j) { return i == j ? spectrum(i, n, kappa) : 0; });
}

/// U D V or, for `symmetric`, U D Uᵀ, where U and V are products of three random reflectors.
inline Matrix<double> random_with_condition(std::int64_t n, double kappa, bool symmetric = false) {
  Matrix<double> A = diagonal_matrix(n, kappa);
  auto a = as_eigen(A.view());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Matrix<double> V = random_matrix(n, 2, seed);
    const auto v = as_eigen(V.view()).col(0).normalized().eval();
    const auto w = symmetric ? v : as_eigen(V.view()).col(1).normalized().eval();
    a -= 2 * v * (v.transpose() * a).eval();
    a -= 2 * (a * w).eval() * w.transpose();
  }
  if (symmetric)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < j; ++i) A(i, j) = A(j, i);
  return A;
}

inline Matrix<double> scaled(double factor, Matrix<double> A) {
  as_eigen(A.view()) *= factor;
  return A;
}

/// A with columns first, …, n − 1 zero.
inline Matrix<double> with_zero_columns(Matrix<double> A, std::int64_t first, std::int64_t count) {
  as_eigen(A.view().columns(first, count)).setZero();
  return A;
}

/// Growth 2ⁿ⁻¹: the last column doubles at each step (Wilkinson, 1963).
inline Matrix<double> wilkinson(std::int64_t n) {
  return matrix_of<double>(n, n, [=](auto i, auto j) { return j == n - 1 || i == j ? 1 : i > j ? -1 : 0; });
}

inline Matrix<double> hilbert(std::int64_t n) {
  return matrix_of<double>(n, n, [](auto i, auto j) { return 1.0 / double(i + j + 1); });
}

/// Sylvester's ±1 matrix, n a power of two: ties for every pivot, and elimination without a rounding.
inline Matrix<double> hadamard(std::int64_t n) {
  return matrix_of<double>(n, n, [](auto i, auto j) { return std::popcount(std::uint64_t(i & j)) % 2 == 0 ? 1 : -1; });
}

/// What a matrix type must know of the floating-point type that it is for.
struct FloatingPoint {
  double eps, tiny;
  double moderate() const { return std::sqrt(0.1 / eps); }  ///< LAPACK's κ of a badly conditioned matrix
  double bad() const { return 0.1 / eps; }                  ///< and of a very badly conditioned one
  double small() const { return 0.25 * tiny / eps; }        ///< norms near underflow
  double large() const { return 1 / small(); }              ///< and near overflow
};
template <class T>
inline constexpr FloatingPoint floating_point{unit_roundoff<T>, double(std::numeric_limits<T>::min())};

struct MatrixType {
  const char* name;
  Matrix<double> (*make)(std::int64_t n, FloatingPoint);
  /// The first column whose pivot is exactly zero; null: there is none.
  std::int64_t (*zero_column)(std::int64_t n) = nullptr;
};

using Size = std::int64_t;

/// The types of LAPACK's dchkge, in its order.
inline const MatrixType general_types[] = {
    {"diagonal", [](Size n, FloatingPoint) { return diagonal_matrix(n, 2); }},
    {"upper_triangular",
     [](Size n, FloatingPoint) {
       Random r;
       return matrix_of<double>(n, n, [&](auto i, auto j) { return i == j ? 2 + r() : i < j ? r() / double(n) : 0; });
     }},
    {"lower_triangular",
     [](Size n, FloatingPoint) {
       Random r;
       return matrix_of<double>(n, n, [&](auto i, auto j) { return i == j ? 2 + r() : i > j ? r() / double(n) : 0; });
     }},
    {"well_conditioned", [](Size n, FloatingPoint) { return random_with_condition(n, 2); }},
    {"first_column_zero", [](Size n, FloatingPoint) { return with_zero_columns(random_with_condition(n, 2), 0, 1); },
     [](Size) { return Size(0); }},
    {"last_column_zero", [](Size n, FloatingPoint) { return with_zero_columns(random_with_condition(n, 2), n - 1, 1); },
     [](Size n) { return n - 1; }},
    {"last_half_zero",
     [](Size n, FloatingPoint) { return with_zero_columns(random_with_condition(n, 2), n / 2, n - n / 2); },
     [](Size n) { return n / 2; }},
    {"badly_conditioned", [](Size n, FloatingPoint t) { return random_with_condition(n, t.moderate()); }},
    {"very_badly_conditioned", [](Size n, FloatingPoint t) { return random_with_condition(n, t.bad()); }},
    {"near_underflow", [](Size n, FloatingPoint t) { return scaled(t.small(), random_with_condition(n, 2)); }},
    {"near_overflow", [](Size n, FloatingPoint t) { return scaled(t.large(), random_with_condition(n, 2)); }},
    {"uniform", [](Size n, FloatingPoint) { return random_matrix(n, n, 7); }},
};

/// The positive definite types of LAPACK's dchkpo.
inline const MatrixType positive_definite_types[] = {
    {"diagonal", [](Size n, FloatingPoint) { return diagonal_matrix(n, 2); }},
    {"well_conditioned", [](Size n, FloatingPoint) { return random_with_condition(n, 2, true); }},
    {"badly_conditioned", [](Size n, FloatingPoint t) { return random_with_condition(n, t.moderate(), true); }},
    {"very_badly_conditioned", [](Size n, FloatingPoint t) { return random_with_condition(n, t.bad(), true); }},
    {"near_underflow", [](Size n, FloatingPoint t) { return scaled(t.small(), random_with_condition(n, 2, true)); }},
    {"near_overflow", [](Size n, FloatingPoint t) { return scaled(t.large(), random_with_condition(n, 2, true)); }},
};

}  // namespace lasolve::test
