// Leaves of complex elements: plain loops, compiled once. What they leave to products, a real kernel computes.
#pragma once

#include <limits>
#include <utility>

#include "core/magnitude.hpp"
#include "lasolve/matrix.hpp"
#include "solvers/devices/cpu/levels/elimination.hpp"
#include "solvers/devices/cpu/levels/substitution.hpp"

namespace lasolve {

template <ComplexElement T>
void conjugate_elements(MatrixView<T> X) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) X(i, j) = conjugate(X(i, j));
}

namespace complex_leaf {

/// y ← y − x a, for n elements. Written out: that of the standard library asks each product whether it is NaN.
template <class T>
void subtract(std::int64_t n, const T* x, T a, T* y) {
  const auto re = a.real(), im = a.imag();
  const auto* const from = reinterpret_cast<const real_of<T>*>(x);
  auto* const to = reinterpret_cast<real_of<T>*>(y);
#pragma GCC ivdep
  for (std::int64_t i = 0; i < n; ++i) {
    to[2 * i] -= from[2 * i] * re - from[2 * i + 1] * im;
    to[2 * i + 1] -= from[2 * i] * im + from[2 * i + 1] * re;
  }
}
template <class T>
T dot(std::int64_t n, const T* x, const T* y) {
  real_of<T> re = 0, im = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    re += x[i].real() * y[i].real() - x[i].imag() * y[i].imag();
    im += x[i].real() * y[i].imag() + x[i].imag() * y[i].real();
  }
  return {re, im};
}
/// x ← x / a, by its reciprocal where that has all digits, as in LAPACK.
template <class T>
void divide(std::int64_t n, T* x, T a) {
  constexpr real_of<T> least = 4 * std::numeric_limits<real_of<T>>::min();
  const real_of<T> size = magnitude(a);
  if (!(size >= least && size <= 1 / least)) {
    for (std::int64_t i = 0; i < n; ++i) x[i] /= a;
    return;
  }
  const T inverse = T(1) / a;
  const auto re = inverse.real(), im = inverse.imag();
  for (std::int64_t i = 0; i < n; ++i)
    x[i] = {x[i].real() * re - x[i].imag() * im, x[i].real() * im + x[i].imag() * re};
}

template <class T>
std::int64_t largest(std::int64_t n, const T* a) {
  real_of<T> most = -1;
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < n; ++i)
    if (const auto size = magnitude(a[i]); !(size <= most) && most == most) most = size, first = i;
  return first;
}
template <class T>
void eliminate(std::int64_t n, T* A, std::int64_t ld, std::int64_t j, std::int64_t begin, std::int64_t end) {
  const T pivot = A[j + j * ld];
  if (pivot == T(0) || begin >= end) return;
  T* const l = A + j * ld + begin;
  divide(end - begin, l, pivot);
  for (std::int64_t c = j + 1; c < n; ++c) subtract(end - begin, l, A[j + c * ld], A + c * ld + begin);
}
template <class T>
std::int64_t factor(std::int64_t m, std::int64_t n, T* A, std::int64_t ld, std::int64_t* pivots, std::int64_t start) {
  std::int64_t zero = -1;
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t p = j + largest(m - j, A + j + j * ld);
    pivots[j] = start + p;
    for (std::int64_t c = 0; p != j && c < n; ++c) std::swap(A[j + c * ld], A[p + c * ld]);
    if (A[j + j * ld] == T(0) && zero < 0) zero = j;
    eliminate(n, A, ld, j, j + 1, m);
  }
  return zero;
}

/// A triangle by its columns takes each unknown from all that follow; one by its rows gives each all that came before.
template <class T>
void solve_one(TriangleLeaf<T> t, T* b) {
  const std::int64_t n = t.order;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = t.lower ? step : n - 1 - step, first = t.lower ? 0 : j + 1;
    if (t.row != 1) b[j] -= dot(step, t.data + j * t.row + first, b + first);
    if (!t.unit) b[j] /= t.data[j * (t.row + t.col)];
    const std::int64_t next = t.lower ? j + 1 : 0;
    if (t.row == 1 && b[j] != T(0)) subtract(n - 1 - step, t.data + j * t.col + next, b[j], b + next);
  }
}
template <class T>
void solve_left(TriangleLeaf<T> t, std::int64_t nrhs, T* B, std::int64_t ldb) {
  for (std::int64_t j = 0; j < nrhs; ++j) solve_one(t, B + j * ldb);
}
template <class T>
void solve_right(TriangleLeaf<T> t, std::int64_t m, T* B, std::int64_t ldb) {
  const std::int64_t n = t.order;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = t.lower ? n - 1 - step : step, first = t.lower ? j + 1 : 0;
    for (std::int64_t k = first; k < first + step; ++k)
      subtract(m, B + k * ldb, t.data[k * t.row + j * t.col], B + j * ldb);
    if (!t.unit) divide(m, B + j * ldb, t.data[j * (t.row + t.col)]);
  }
}

template <class T>
void subtract_product(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r) {
  for (std::int64_t j = 0; j < n; ++j) subtract(m, A + j * ld, x[j], r);
}
template <class T>
void subtract_transposed(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r) {
  for (std::int64_t j = 0; j < n; ++j) r[j] -= dot(m, A + j * ld, x);
}
template <class T>
void add_magnitudes(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, double scale, double* sums) {
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; ++i) sums[i] += scale * double(magnitude(A[i + j * ld]));
}

}  // namespace complex_leaf

template <ComplexElement T>
inline constexpr Elimination<T> complex_elimination{complex_leaf::factor<T>, complex_leaf::eliminate<T>,
                                                    complex_leaf::largest<T>};
/// There is no Cholesky of a Hermitian matrix yet.
template <ComplexElement T>
inline constexpr Substitution<T> complex_substitution{.cholesky = nullptr,
                                                      .solve_right = complex_leaf::solve_right<T>,
                                                      .solve_left = complex_leaf::solve_left<T>,
                                                      .solve_one = complex_leaf::solve_one<T>,
                                                      .subtract_product = complex_leaf::subtract_product<T>,
                                                      .subtract_transposed = complex_leaf::subtract_transposed<T>,
                                                      .add_magnitudes = complex_leaf::add_magnitudes<T>};

}  // namespace lasolve
