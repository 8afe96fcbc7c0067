// Norms, residuals and copies on the CPU.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/ceil_div.hpp"
#include "core/cpu/by_eigen.hpp"
#include "core/cpu/copy_on_host.hpp"
#include "core/cpu/eigen.hpp"
#include "core/cpu/parallel.hpp"
#include "core/fetched.hpp"
#include "core/magnitude.hpp"
#include "core/symmetric.hpp"
#include "solvers/devices/cpu/extra.hpp"
#include "solvers/devices/cpu/leaves.hpp"
#include "solvers/ending.hpp"
#include "solvers/part_of_factors.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

/// Y ← X, rounded to the type of Y.
template <class From, class To>
void convert(Queue<Cpu>& q, MatrixView<const From> X, MatrixView<To> Y) {
  if (static_cast<const void*>(X.data()) == static_cast<void*>(Y.data())) return;
  on_shares(q, X.cols(), double(X.rows()) * double(X.cols()), [&](std::int64_t j, std::int64_t n) {
    if constexpr (std::is_same_v<From, To>)
      copy_on_host(X.columns(j, n), Y.columns(j, n));
    else
      as_eigen(Y.columns(j, n)) = as_eigen(X.columns(j, n)).template cast<To>();
  });
}

/// Every element of X ← value.
template <class T>
void fill(Queue<Cpu>&, T value, MatrixView<T> X) {
  as_eigen(X).setConstant(value);
}

/// X(i, j) ← X(j, i) for i > j where the upper triangle is there, for i < j where the lower one is. X: n × n.
template <class T>
void mirror(Queue<Cpu>& q, MatrixView<T> X, Uplo there) {
  constexpr std::int64_t chunk = 32;
  const std::int64_t n = X.rows(), chunks = ceil_div(n, chunk);
  on_shares(q, chunks, double(n) * double(n), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first * chunk; j < std::min(n, (first + count) * chunk); j += chunk) {
      const std::int64_t w = std::min(chunk, n - j), below = j + w;
      const bool upper = there == Uplo::upper;
      for (std::int64_t c = j; c < below; ++c)
        for (std::int64_t i = c + 1; i < below; ++i) upper ? X(i, c) = X(c, i) : X(c, i) = X(i, c);
      auto column = as_eigen(X.block(below, j, n - below, w)), row = as_eigen(X.block(j, below, w, n - below));
      if (upper)
        column = row.transpose();
      else
        row = column.transpose();
    }
  });
}

/// X ← X + D.
template <class From, class To>
void add(Queue<Cpu>&, MatrixView<From> D, MatrixView<To> X) {
  as_eigen(X) += as_eigen(D).template cast<To>();
}

/// Y ← 2^exponent X; Y may be X.
template <class T>
void scale(Queue<Cpu>&, int exponent, MatrixView<const T> X, MatrixView<T> Y) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) Y(i, j) = std::ldexp(X(i, j), exponent);
}

template <ComplexElement T>
void scale(Queue<Cpu>& q, int exponent, MatrixView<const T> X, MatrixView<T> Y) {
  scale<real_of<T>>(q, exponent, parts_of(X), parts_of(Y));
}

/// 2^exponent x, rounded to another type; in the wider of both, which has the exponents.
template <class To, class From>
To scaled_to(From x, int exponent) {
  if constexpr (ComplexElement<From>)
    return {scaled_to<real_of<To>>(x.real(), exponent), scaled_to<real_of<To>>(x.imag(), exponent)};
  else if constexpr (sizeof(To) > sizeof(From))
    return std::ldexp(To(x), exponent);
  else
    return To(std::ldexp(x, exponent));
}

/// Y(i, j) ← 2^(exponent + rᵢ + cⱼ) X(i, j), where an empty column of exponents is zeros; Y may be X.
template <class From, class To>
void scale_to(Queue<Cpu>& q, int exponent, MatrixView<const std::int64_t> rows, MatrixView<const std::int64_t> columns,
              MatrixView<const From> X, MatrixView<To> Y) {
  const std::int64_t *const of_rows = rows.data(), *const of_columns = columns.data();  // null where they are empty
  on_shares(q, X.cols(), double(X.rows()) * double(X.cols()), [&](std::int64_t first, std::int64_t count) {
    for (std::int64_t j = first; j < first + count; ++j) {
      const std::int64_t of_column = exponent + (of_columns ? of_columns[j] : 0);
      for (std::int64_t i = 0; i < X.rows(); ++i)
        Y(i, j) = scaled_to<To>(X(i, j), int(of_column + (of_rows ? of_rows[i] : 0)));
    }
  });
}

/// R ← R − A X.
template <class T>
void subtract_product(Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<T> R) {
  const MatrixView<const T> stored = A.stored();
  if (X.cols() == 1) {
    const auto subtract =
        A.op() == Op::none ? substitution<T>().subtract_product : substitution<T>().subtract_transposed;
    subtract(stored.rows(), stored.cols(), stored.data(), stored.ld(), X.data(), R.data());
  } else
    add_product_by_eigen<T>(-1, A, X, R);
}
template <ComplexElement T>
void subtract_product(Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<T> R) {
  const MatrixView<const T> stored = A.stored();
  const auto subtract = A.op() == Op::none ? substitution<T>().subtract_product : substitution<T>().subtract_transposed;
  Matrix<T> x(X.rows(), 1);
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    const MatrixView<T> r = R.columns(j, 1);
    copy_on_host(X.columns(j, 1), x.view());
    if (A.is_conjugated()) conjugate_elements(x.view()), conjugate_elements(r);
    subtract(stored.rows(), stored.cols(), stored.data(), stored.ld(), x.data(), r.data());
    if (A.is_conjugated()) conjugate_elements(r);
  }
}

/// R ← B − A X. Not through the backend that made X, which would then vouch for itself.
template <class T>
void residual(Queue<Cpu>& q, Operand<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) {
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t i, std::int64_t m) {
    const auto r = R.block(i, 0, m, R.cols());
    copy_on_host(B.block(i, 0, m, B.cols()), r);
    subtract_product(A.block(i, 0, m, A.cols()), X, r);
  });
}
template <class T>
void residual(Queue<Cpu>& q, Symmetric<T, Cpu> A, MatrixView<const T> X, MatrixView<const T> B, MatrixView<T> R) {
  const std::int64_t n = A.rows(), nrhs = X.cols();
  on_shares(q, n, double(n) * double(n), [&](std::int64_t i, std::int64_t m) {
    const std::int64_t k = i + m;
    const auto r = R.block(i, 0, m, nrhs);
    copy_on_host(B.block(i, 0, m, nrhs), r);
    subtract_product(A.half.block(i, 0, m, i), X.block(0, 0, i, nrhs), r);
    subtract_product(transposed(A.half.block(k, i, n - k, m)), X.block(k, 0, n - k, nrhs), r);
    add_symmetric_product_by_eigen<T>(-1, A.half.block(i, i, m, m), X.block(i, 0, m, nrhs), r);
  });
}

template <ComplexElement T>
void residual(Queue<Cpu>&, Symmetric<T, Cpu>, MatrixView<const T>, MatrixView<const T>, MatrixView<T>) {
  throw std::logic_error("lasolve: of complex matrices both triangles count");
}

/// sums[i] ← sums[i] + the magnitudes in row i, times a power of two, for rows i0, …, i0 + m − 1.
template <class T>
void add_magnitudes(Operand<T, Cpu> A, double scale, std::int64_t i0, std::int64_t m, double* sums) {
  if (A.op() == Op::none) {
    const MatrixView<const T> rows = A.stored().block(i0, 0, m, A.cols());
    substitution<T>().add_magnitudes(m, A.cols(), rows.data(), rows.ld(), scale, sums + i0);
  } else {
    for (std::int64_t i = i0; i < i0 + m; ++i)
      for (std::int64_t j = 0; j < A.cols(); ++j) sums[i] += scale * double(magnitude(A(i, j)));
  }
}

/// The sum of the magnitudes in each row, times a power of two with which it does not overflow.
template <class T>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cpu>& q, Operand<T, Cpu> A, double scale) {
  std::vector<double> sums(std::size_t(A.rows()), 0.0);
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()),
            [&](std::int64_t i, std::int64_t m) { add_magnitudes(A, scale, i, m, sums.data()); });
  return sums;
}
template <class T>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cpu>& q, Symmetric<T, Cpu> A, double scale) {
  const MatrixView<const T> stored = A.half.stored();
  const std::int64_t n = A.rows();
  const bool lower = A.half.op() == Op::none;
  std::vector<double> sums(std::size_t(n), 0.0);
  on_shares(q, n, double(n) * double(n), [&](std::int64_t i0, std::int64_t m) {
    double* sum = sums.data();
    for (std::int64_t j = 0; j < n; ++j) {  // the triangle has rows begin, …, end − 1 of column j
      const std::int64_t begin = lower ? j : 0, end = lower ? n : j + 1;
      for (std::int64_t i = std::max(begin, i0); i < std::min(end, i0 + m); ++i)
        sum[i] += scale * double(magnitude(stored(i, j)));
      if (j < i0 || j >= i0 + m) continue;
      double row = sum[j];
      for (std::int64_t i = lower ? j + 1 : 0; i < (lower ? n : j); ++i) row += scale * double(magnitude(stored(i, j)));
      sum[j] = row;
    }
  });
  return sums;
}

/// The sums over each row of the magnitudes times the weights of their columns.
template <class T>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cpu>& q, Operand<T, Cpu> A,
                                                    const std::vector<double>& weights) {
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  const MatrixView<const T> stored = A.stored();
  const Vector w(weights.data(), Eigen::Index(weights.size()));
  std::vector<double> sums(std::size_t(A.rows()), 0.0);
  on_shares(q, A.rows(), double(A.rows()) * double(A.cols()), [&](std::int64_t first, std::int64_t m) {
    Eigen::Map<Eigen::VectorXd> sum(sums.data() + first, m);
    const auto magnitudes = [&](std::int64_t i, std::int64_t j, std::int64_t rows) {
      const auto column = as_eigen(stored.block(i, j, rows, 1)).col(0);
      if constexpr (ComplexElement<T>)
        return column.unaryExpr([](T x) { return double(magnitude(x)); });
      else
        return column.template cast<double>().cwiseAbs();
    };
    if (A.op() == Op::none)
      for (std::int64_t j = 0; j < A.cols(); ++j) sum += magnitudes(first, j, m) * w[j];
    else
      for (std::int64_t i = 0; i < m; ++i) sum[i] = magnitudes(0, first + i, A.cols()).dot(w);
  });
  return sums;
}
template <class T>
Fetched<std::vector<double>> row_sums_of_magnitudes(Queue<Cpu>& q, Symmetric<T, Cpu> A,
                                                    const std::vector<double>& weights) {
  const std::int64_t n = A.rows();
  std::vector<double> sums(std::size_t(n), 0.0);
  on_shares(q, n, double(n) * double(n), [&](std::int64_t first, std::int64_t m) {
    for (std::int64_t i = first; i < first + m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        sums[std::size_t(i)] += double(magnitude(i >= j ? A.half(i, j) : A.half(j, i))) * weights[std::size_t(j)];
  });
  return sums;
}

/// Of some columns of factors; a weight for each.
template <class T>
Fetched<SizesOfPart> sizes_of_part(Queue<Cpu>& q, PartOfFactors<T, Cpu> A, const std::vector<double>& weights) {
  const std::int64_t n = A.rows();
  SizesOfPart sizes{.sums = std::vector<double>(std::size_t(n), 0.0)};
  std::mutex guard;  // of the largest
  on_shares(q, n, double(n) * double(A.cols()), [&](std::int64_t first, std::int64_t m) {
    double most = 0;
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      const auto [begin, end] = A.stored(j);
      const std::int64_t d = A.diagonal(j);
      const double w = weights[std::size_t(j)];
      if (A.which == Factor::L && first <= d && d < first + m) sizes.sums[std::size_t(d)] += w;
      for (std::int64_t i = std::max(first, begin); i < std::min(first + m, end); ++i) {
        const auto size = double(magnitude(A.LU(i, j)));
        most = larger(most, size), sizes.sums[std::size_t(i)] += size * w;
      }
    }
    const std::lock_guard lock(guard);
    sizes.most = larger(sizes.most, most);
  });
  return sizes;
}

/// The largest magnitude in column j; NaN where there is one.
template <class T>
double column_norm(MatrixView<const T> X, std::int64_t j = 0) {
  double norm = 0;
  for (std::int64_t i = 0; i < X.rows(); ++i) norm = larger(norm, double(magnitude(X(i, j))));
  return norm;
}
/// Those of all columns.
template <class T>
Fetched<std::vector<double>> column_norms(Queue<Cpu>&, MatrixView<const T> X) {
  std::vector<double> norms(std::size_t(X.cols()));
  for (std::int64_t j = 0; j < X.cols(); ++j) norms[std::size_t(j)] = column_norm(X, j);
  return norms;
}

/// The least and the largest magnitude on the diagonal, which is not empty.
template <class T>
std::pair<double, double> diagonal_range(MatrixView<const T> A) {
  double least = double(magnitude(A(0, 0))), most = least;
  for (std::int64_t i = 1; i < A.rows(); ++i) {
    least = std::min(least, double(magnitude(A(i, i))));
    most = std::max(most, double(magnitude(A(i, i))));
  }
  return {least, most};
}
/// How a factorization ended.
template <class T>
Fetched<Ending> ending_of(Queue<Cpu>&, MatrixView<const T> factors, MatrixView<std::int64_t> failed_at) {
  const auto [least, most] = factors.empty() ? std::pair(0.0, 0.0) : diagonal_range<T>(factors);
  return Ending{failed_at(0, 0), least, most};
}

/// Whether rows i, … of columns j, … are those of columns i, … of rows j, … but for roundoff, for blocks of one cache line. Same bits are
/// found without branches.
template <class T>
bool mirrors(MatrixView<const T> A, std::int64_t i, std::int64_t j) {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  constexpr std::int64_t line = 64 / sizeof(T);
  const T *const below = &A(i, j), *const above = &A(j, i);
  Bits different = 0;
  for (std::int64_t c = 0; c < line; ++c)
    for (std::int64_t r = 0; r < line; ++r)
      different |= std::bit_cast<Bits>(below[r + c * A.ld()]) ^ std::bit_cast<Bits>(above[c + r * A.ld()]);
  if (different == 0) return true;
  for (std::int64_t c = j; c < j + line; ++c)
    for (std::int64_t r = i; r < i + line; ++r)
      if (!equal_but_for_roundoff(A(r, c), A(c, r), A(r, r), A(c, c))) return false;
  return true;
}

/// Whether A = Aᵀ but for roundoff, with a positive diagonal.
template <class T>
bool may_be_positive_definite(MatrixView<const T> A) {
  constexpr std::int64_t line = 64 / sizeof(T);
  const std::int64_t n = A.rows(), whole = n / line * line;
  for (std::int64_t i = 0; i < n; ++i)
    if (!(A(i, i) > T(0)) || !equal_but_for_roundoff(A(i, 0), A(0, i), A(i, i), A(0, 0)))
      return false;  // most matrices that are not symmetric
  for (std::int64_t j = 0; j < whole; j += line)
    for (std::int64_t i = j; i < whole; i += line)
      if (!mirrors(A, i, j)) return false;
  for (std::int64_t i = whole; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j)
      if (!equal_but_for_roundoff(A(i, j), A(j, i), A(i, i), A(j, j))) return false;
  return true;
}
/// No method is there for what would be Hermitian.
template <ComplexElement T>
bool may_be_positive_definite(MatrixView<const T>) {
  return false;
}
template <class T>
Fetched<bool> may_be_positive_definite(Queue<Cpu>&, MatrixView<const T> A) {
  return may_be_positive_definite<T>(A);
}

}  // namespace lasolve
