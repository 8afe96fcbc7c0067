// The oracle: products, factorizations and residuals as they are written on paper, in a type wider than what is tested.
// reference_test.cpp checks it against numbers worked out by hand.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "lasolve/gemm.hpp"

namespace lasolve::test {

/// What a T is checked with.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
inline constexpr double unit_roundoff = double(std::numeric_limits<T>::epsilon()) / 2;

/// The larger; NaN if either is.
template <class T>
T larger(T a, T b) {
  return a >= b || a != a ? a : b;
}

/// The m × n matrix of element(i, j), called column by column.
template <class T, class Element>
Matrix<T> matrix_of(std::int64_t m, std::int64_t n, Element element) {
  Matrix<T> A(m, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) A(i, j) = T(element(i, j));
  return A;
}

/// A copy of what has rows, columns and elements, rounded to T.
template <class T, class Source>
Matrix<T> rounded(const Source& A) {
  return matrix_of<T>(A.rows(), A.cols(), [&](auto i, auto j) { return A(i, j); });
}

/// α·op(A)·op(B) + β·C, where β = 0 does not read C.
template <class T, class In = T>
Matrix<Wide<T>> product(T alpha, std::type_identity_t<Operand<In>> A, std::type_identity_t<Operand<In>> B, T beta,
                        MatrixView<const T> C) {
  return matrix_of<Wide<T>>(C.rows(), C.cols(), [&](auto i, auto j) {
    Wide<T> sum = 0;
    for (std::int64_t l = 0; l < A.cols(); ++l) sum += Wide<T>(A(i, l)) * Wide<T>(B(l, j));
    return alpha * sum + (beta == 0 ? 0 : beta * Wide<T>(C(i, j)));
  });
}

/// P A = L U: values holds U and, below the diagonal, L; step j interchanged rows j and pivots[j].
template <class W>
struct ReferenceLu {
  Matrix<W> values;
  std::vector<std::int64_t> pivots;
  std::int64_t zero = -1;  ///< the first column without a pivot
};

/// Gaussian elimination with the first largest element of each column as its pivot.
template <class W>
ReferenceLu<W> reference_lu(Matrix<W> A) {
  ReferenceLu<W> lu{std::move(A), {}};
  Matrix<W>& a = lu.values;
  const std::int64_t n = a.rows();
  for (std::int64_t j = 0; j < n; ++j) {
    std::int64_t p = j;
    for (std::int64_t i = j + 1; i < n; ++i)
      if (std::abs(a(i, j)) > std::abs(a(p, j))) p = i;
    lu.pivots.push_back(p);
    for (std::int64_t c = 0; c < n; ++c) std::swap(a(j, c), a(p, c));
    if (a(j, j) == 0 && lu.zero < 0) lu.zero = j;
    for (std::int64_t i = j + 1; i < n && a(j, j) != 0; ++i) {
      a(i, j) /= a(j, j);
      for (std::int64_t c = j + 1; c < n; ++c) a(i, c) -= a(i, j) * a(j, c);
    }
  }
  return lu;
}

/// ‖A‖, Frobenius.
template <class Source>
double frobenius(const Source& A) {
  long double sum = 0;
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      sum += static_cast<long double>(A(i, j)) * static_cast<long double>(A(i, j));
  return double(std::sqrt(sum));
}

/// ‖A‖∞, the largest row sum of magnitudes; for one column, its largest magnitude.
template <class Source>
auto infinity_norm(const Source& A) {
  using W = Wide<std::remove_cvref_t<decltype(A(0, 0))>>;
  W norm = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    W sum = 0;
    for (std::int64_t j = 0; j < A.cols(); ++j) sum += std::abs(W(A(i, j)));
    norm = larger(norm, sum);
  }
  return norm;
}

/// ‖A‖₁, the largest column sum of magnitudes.
template <class T>
Wide<T> one_norm(MatrixView<const T> A) {
  return infinity_norm(transposed(A));
}

/// HPL's measure of a solution: ‖b − A x‖∞ / (ε·(‖A‖∞‖x‖∞ + ‖b‖∞)·n), the largest over the columns of X.
template <class T>
double hpl_residual(Operand<T> A, MatrixView<const T> B, MatrixView<const T> X, double eps = unit_roundoff<T>) {
  const Wide<T> a = infinity_norm(A);
  Wide<T> worst = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    const auto b = B.columns(j, 1), x = X.columns(j, 1);
    const Wide<T> r = infinity_norm(product<T>(T(-1), A, x, T(1), b));
    if (r != 0) worst = larger(worst, r / (a * infinity_norm(x) + infinity_norm(b)));
  }
  return A.rows() == 0 ? 0 : double(worst / (eps * double(A.rows())));
}

/// ‖P A − L U‖₁ / (n ‖A‖₁ ε) of factors in the layout of ReferenceLu.
template <class T>
double lu_residual(MatrixView<const T> A, MatrixView<const T> LU, MatrixView<const std::int64_t> pivots) {
  const std::int64_t n = A.rows();
  Matrix<Wide<T>> R = rounded<Wide<T>>(A);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) std::swap(R(i, j), R(pivots(i, 0), j));
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t l = 0; l <= j; ++l)
      for (std::int64_t i = l; i < n; ++i) R(i, j) -= (i == l ? 1 : Wide<T>(LU(i, l))) * Wide<T>(LU(l, j));
  return double(infinity_norm(transposed(R.view())) / (double(n) * one_norm(A) * unit_roundoff<T>));
}

/// ‖A − L Lᵀ‖₁ / (n ‖A‖₁ ε), of which the lower triangles of A and L are read.
template <class T>
double cholesky_residual(MatrixView<const T> A, MatrixView<const T> L) {
  const std::int64_t n = A.rows();
  Matrix<Wide<T>> R = rounded<Wide<T>>(A);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      for (std::int64_t l = 0; l <= j; ++l) R(i, j) -= Wide<T>(L(i, l)) * Wide<T>(L(j, l));
      R(j, i) = R(i, j);
    }
  return double(infinity_norm(transposed(R.view())) / (double(n) * one_norm(A) * unit_roundoff<T>));
}

}  // namespace lasolve::test
