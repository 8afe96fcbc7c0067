// Norms, residuals and copies on the CPU.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/cpu/eigen.hpp"
#include "core/cpu/parallel.hpp"
#include "lasolve/gemm.hpp"
#include "solvers/largest.hpp"

namespace lasolve {

/// Y ← X, rounded to the type of Y.
template <class From, class To>
void convert(Queue<Cpu>& q, MatrixView<const From> X, MatrixView<To> Y) {
  if (static_cast<const void*>(X.data()) == static_cast<void*>(Y.data())) return;
  on_shares(q, X.cols(), double(X.rows()) * double(X.cols()), [&](std::int64_t j, std::int64_t n) {
    as_eigen(Y.columns(j, n)) = as_eigen(X.columns(j, n)).template cast<To>();
  });
}

/// Every element of X ← value.
template <class T>
void fill(Queue<Cpu>&, T value, MatrixView<T> X) {
  as_eigen(X).setConstant(value);
}

/// X(i, j) ← X(j, i) for i > j. X: n × n.
template <class T>
void mirror_upper(Queue<Cpu>& q, MatrixView<T> X) {
  constexpr std::int64_t chunk = 32;
  const std::int64_t n = X.rows(), chunks = ceil_div(n, chunk);
  on_shares(q, chunks, double(n) * double(n), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first * chunk; j < std::min(n, (first + count) * chunk); j += chunk) {
      const std::int64_t w = std::min(chunk, n - j), below = j + w;
      for (std::int64_t c = j; c < below; ++c)
        for (std::int64_t i = c + 1; i < below; ++i) X(i, c) = X(c, i);
      as_eigen(X.block(below, j, n - below, w)) = as_eigen(X.block(j, below, w, n - below)).transpose();
    }
  });
}

/// Element (0, 0), once the work before it is done.
template <class T>
T fetch(Queue<Cpu>&, MatrixView<T> X) {
  return X(0, 0);
}

/// X ← X + D.
template <class From, class To>
void add(Queue<Cpu>&, MatrixView<From> D, MatrixView<To> X) {
  as_eigen(X) += as_eigen(D).template cast<To>();
}

/// R ← B − A X. Not through the backend that made X, which would then vouch for itself.
template <class T>
void residual(Queue<Cpu>& q, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) {
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t i, std::int64_t m) {
    const auto rows = A.block(i, 0, m, A.cols());
    auto r = as_eigen(R.block(i, 0, m, R.cols()));
    r = as_eigen(B.block(i, 0, m, B.cols()));
    if (A.op() == Op::none)
      r.noalias() -= as_eigen(rows.stored()) * as_eigen(X);
    else
      r.noalias() -= as_eigen(rows.stored()).transpose() * as_eigen(X);
  });
}

/// The sum of the magnitudes in each row.
template <class T>
std::vector<double> row_sums_of_magnitudes(Queue<Cpu>& q, Operand<T, Cpu> A) {
  std::vector<double> sums(std::size_t(A.rows()), 0.0);
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t i0, std::int64_t m) {
    double* sum = sums.data();
    if (A.op() == Op::none) {
      for (std::int64_t j = 0; j < A.cols(); ++j)
        for (std::int64_t i = i0; i < i0 + m; ++i) sum[i] += std::abs(double(A(i, j)));
    } else {
      for (std::int64_t i = i0; i < i0 + m; ++i)
        for (std::int64_t j = 0; j < A.cols(); ++j) sum[i] += std::abs(double(A(i, j)));
    }
  });
  return sums;
}

/// The largest magnitude in each column; NaN where there is one.
template <class T>
std::vector<double> column_norms(Queue<Cpu>&, MatrixView<const T> X) {
  std::vector<double> norms(std::size_t(X.cols()), 0.0);
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i)
      norms[std::size_t(j)] = larger(norms[std::size_t(j)], std::abs(double(X(i, j))));
  return norms;
}

/// Whether A = Aᵀ, bit for bit, with a positive diagonal.
template <class T>
bool may_be_positive_definite(Queue<Cpu>&, MatrixView<const T> A) {
  constexpr std::int64_t tile = 64;
  const std::int64_t n = A.rows();
  for (std::int64_t i = 0; i < n; ++i)
    if (!(A(i, i) > T(0))) return false;
  for (std::int64_t j0 = 0; j0 < n; j0 += tile)
    for (std::int64_t i0 = j0; i0 < n; i0 += tile)
      for (std::int64_t j = j0; j < std::min(j0 + tile, n); ++j)
        for (std::int64_t i = std::max(i0, j + 1); i < std::min(i0 + tile, n); ++i)
          if (A(i, j) != A(j, i)) return false;
  return true;
}

}  // namespace lasolve
