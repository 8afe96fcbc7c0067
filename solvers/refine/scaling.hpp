// What is asked of a matrix where a solution is in doubt: how it looks with its rows and columns scaled, and how much elements grew.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/cpu/parallel.hpp"
#include "solvers/ending.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/known_matrix.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/scales.hpp"

namespace lasolve {

/// Which elements no two threads are given at once: those of a row, or of a column.
enum class Alone { rows, columns };

inline int threads_of_host(const Queue<Cpu>& q) { return q.threads(); }
inline int threads_of_host(const Queue<Cuda>&) { return 0; }  // all

/// f(i, j, |aᵢⱼ|) for all elements, on all cores of the host, or on one for a triangle: a few columns of what is stored come there at a
/// time. Each row, or each column, is seen by one thread, in order.
template <class T, class Space, class F>
void for_each_magnitude(Queue<Space>& q, const SystemMatrix<T, Space>& A, Alone alone, F f) {
  const auto* const symmetric = std::get_if<Symmetric<T, Space>>(&A);
  const auto* const spread = std::get_if<SpreadOperand<T, Space>>(&A);
  const Operand<T, Space> given = symmetric ? symmetric->half
                                  : spread  ? Operand<T, Space>(MatrixView<const T, Space>())
                                            : std::get<Operand<T, Space>>(A);
  const MatrixView<const T, Space> stored = given.stored();
  const bool flips = (spread ? spread->op : given.op()) != Op::none;
  const std::int64_t n = spread ? spread->rows() : stored.rows(), columns = spread ? n : stored.cols(),
                     at_once = std::max<std::int64_t>(1, (1 << 22) / std::max<std::int64_t>(1, n));
  Matrix<T, Space> brought(n, spread ? std::min(at_once, n) : 0);
  const Queue<Cpu> host(symmetric ? 1 : threads_of_host(q));  // an element of a triangle belongs to two rows
  for (std::int64_t first = 0; first < columns; first += at_once) {
    const std::int64_t count = std::min(at_once, columns - first);
    if (spread) spread->matrix->columns(first, brought.view().columns(0, count));
    const Matrix<T> some =
        on_host(q, spread ? std::as_const(brought).view().columns(0, count) : stored.columns(first, count));
    const auto look = [&](Range rows, Range cols) {
      for (std::int64_t c = cols.begin; c < cols.end; ++c)
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
          const std::int64_t i = flips ? first + c : r, j = flips ? r : first + c;
          if (symmetric && i < j) continue;
          const double size = double(magnitude(some(r, c)));
          f(i, j, size);
          if (symmetric && i > j) f(j, i, size);
        }
    };
    const bool by_rows = (alone == Alone::rows) != flips;
    on_shares(host, by_rows ? n : count, double(n) * double(count), [&](std::int64_t begin, std::int64_t length) {
      const Range share{begin, begin + length};
      by_rows ? look(share, {0, count}) : look({0, n}, share);
    });
  }
}

/// How much larger than A, as it was scaled, its factors are.
template <class T, class Space>
Growth growth_of(Queue<Space>& q, KnownMatrix<T, Space>& A, const Scales& by, const SizesOfFactors& factors) {
  long double most = 0, norm = 0;
  if (!A.is_triangle() && by.rows.empty() && by.columns.empty()) {
    most = std::ldexp(A.largest_element(q), by.exponent);
    norm = std::ldexp(A.norm(q, Op::none), by.exponent);
  } else {
    std::vector<long double> sums(std::size_t(A.order()), 0), mosts = sums;
    for_each_magnitude(q, A.with(Op::none), Alone::rows, [&](std::int64_t i, std::int64_t j, double a) {
      const long double scaled = std::ldexp(static_cast<long double>(a), int(by.of(i, j)));
      mosts[std::size_t(i)] = larger(mosts[std::size_t(i)], scaled), sums[std::size_t(i)] += scaled;
    });
    most = largest(mosts), norm = largest(sums);
  }
  return {double(factors.of_U / most), double(factors.product / norm), factors.of_L};
}

/// How op(A) x = b is looked at: as op(A) C y = b with x = C y, and each row in the size that it then has.
struct Scaling {
  std::vector<long double> row_sums;  ///< Σⱼ|aᵢⱼ|cⱼ
  std::vector<int> columns = {};      ///< the exponents of the weights cⱼ, powers of two; empty: all are 1
  double weighed(double x, std::size_t j) const { return columns.empty() ? x : std::ldexp(x, -columns[j]); }
};

/// Where all of A is seen in one place. Where it is not, `largest` and `sum` make numbers those of all places, each of its kind.
struct SeenHere {
  void largest(std::vector<std::int64_t>&) const {}
  void sum(std::vector<long double>&) const {}
};

/// With the weights of columns that LAPACK's geequ gives: rows are brought to a sum of 1, and then the largest element of each column
/// to about 1. for_each(alone, f): f(i, j, |aᵢⱼ|) for all elements that are seen here; `seen`: as SeenHere.
template <class ForEach, class Seen>
Scaling scaling_of_columns(const std::vector<long double>& row_sums, ForEach for_each, const Seen& seen) {
  const std::size_t n = row_sums.size();
  std::vector<long double> largest(n, 0);
  for_each(Alone::columns, [&](std::int64_t i, std::int64_t j, double a) {
    auto& most = largest[std::size_t(j)];
    most = larger(most, a / row_sums[std::size_t(i)]);
  });
  constexpr std::int64_t none = std::numeric_limits<int>::min();
  std::vector<std::int64_t> exponents;
  for (const long double most : largest) exponents.push_back(most > 0 ? std::ilogb(most) : none);
  seen.largest(exponents);
  Scaling scaling{std::vector<long double>(n, 0), std::vector<int>(n, 0)};
  for (std::size_t j = 0; j < n; ++j)
    if (exponents[j] != none) scaling.columns[j] = int(-exponents[j]);
  const auto [least, most] = std::minmax_element(scaling.columns.begin(), scaling.columns.end());
  const int middle = n == 0 ? 0 : *least + (*most - *least) / 2;  // only ratios of weights count
  for (int& exponent : scaling.columns) exponent -= middle;
  for_each(Alone::rows, [&](std::int64_t i, std::int64_t j, double a) {
    scaling.row_sums[std::size_t(i)] += std::ldexp(static_cast<long double>(a), scaling.columns[std::size_t(j)]);
  });
  seen.sum(scaling.row_sums);
  return scaling;
}

template <class T, class Space>
Scaling scaling_of_columns(Queue<Space>& q, const SystemMatrix<T, Space>& A, const std::vector<long double>& row_sums) {
  return scaling_of_columns(
      row_sums, [&](Alone alone, auto f) { for_each_magnitude(q, A, alone, f); }, SeenHere());
}

/// max over all elements of |r|ᵢ / (Σⱼ|aᵢⱼ|cⱼ‖y‖∞ + |b|ᵢ), for the residual r times 2^−exponent, and x = C y: as the backward error,
/// but of each row for itself. One column, on the host.
template <class T>
double backward_error_of_rows(const Scaling& by, MatrixView<const T> r, int exponent, MatrixView<const T> x,
                              MatrixView<const T> b) {
  double worst = 0, y = 0;
  for (std::int64_t i = 0; i < x.rows(); ++i) y = larger(y, by.weighed(double(magnitude(x(i, 0))), std::size_t(i)));
  for (std::int64_t i = 0; i < r.rows(); ++i) {
    const long double size = by.row_sums[std::size_t(i)] * y + magnitude(b(i, 0));
    const long double residual = std::ldexp(static_cast<long double>(magnitude(r(i, 0))), exponent);
    worst = larger(worst, residual == 0 ? 0 : double(residual / size));
  }
  return worst;
}

/// The largest of all columns.
template <class T, class Space>
double backward_error_of_rows(Queue<Space>& q, const Scaling& by, MatrixView<const T, Space> R,
                              const std::vector<int>& exponents, MatrixView<const T, Space> X,
                              MatrixView<const T, Space> B) {
  double worst = 0;
  for (std::int64_t j = 0; j < R.cols(); ++j) {
    const Matrix<T> r = on_host(q, R.columns(j, 1)), b = on_host(q, B.columns(j, 1)), x = on_host(q, X.columns(j, 1));
    worst = larger(worst, backward_error_of_rows<T>(by, r, exponents[std::size_t(j)], x, b));
  }
  return worst;
}

/// An estimate of 1 / ‖ |C⁻¹op(A)⁻¹| |op(A) C| ‖∞: the reciprocal condition number ‖·‖∞ of op(A) C with its rows scaled to a sum of 1
/// each, the best that scaling of rows can reach. At most three solves. 0: nothing that can be computed with.
/// apply(e, X, op): X ← op(A)⁻¹ 2^e X for a few columns on the host, by factors that take such exponents; of a complex A, as a real one.
/// Source: Bauer, "Genauigkeitsfragen bei der Lösung linearer Gleichungssysteme", ZAMM 1966; Skeel, J. ACM 26, 1979.
template <class T, class Apply>
double reciprocal_condition_of(Exponents of, const Scaling& by, Op op, Apply apply) {
  const int most = of.most * 3 / 4;  // else a weight hides its column by underflow
  if (std::any_of(by.columns.begin(), by.columns.end(), [most](int exponent) { return std::abs(exponent) > most; }))
    return 0;
  int e = 0, less = 0;  // so that neither the sums overflow, nor what rows have in op(A)⁻¹
  for (const long double sum : by.row_sums)
    if (sum > 0 && std::isfinite(sum)) e = std::max(e, std::ilogb(sum) - 1000), less = std::min(less, std::ilogb(sum));
  less = std::min(0, less + most);
  const auto each = [](MatrixView<double> X, auto f) {
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i) f(X(i, j), std::size_t(i / parts<T>));
  };
  const auto scale_rows = [&](double& x, std::size_t i) { x *= double(std::ldexp(by.row_sums[i], -e)); };
  const auto weigh = [&](double& x, std::size_t i) { x = by.weighed(x, i); };
  // ‖C⁻¹op(A)⁻¹ D‖∞ = ‖D op(A)⁻ᵀ C⁻¹‖₁ with D the sums on a diagonal.
  const double inverse =
      estimated_norms(parts<T> * std::int64_t(by.row_sums.size()), [&](MatrixView<double> X, Op side) {
        side == Op::transpose ? each(X, scale_rows) : each(X, weigh);
        apply(less, X, side == Op::none ? flipped(op) : op);
        side == Op::none ? each(X, scale_rows) : each(X, weigh);
      }).one;
  return reciprocal_of_condition(inverse, std::ldexp(1.0L, e - less));
}

template <class T, class Space>
double reciprocal_condition_of(Queue<Space>& q, Factors<T, Space>& factors, const Scaling& by, Op op) {
  return reciprocal_condition_of<T>(factors.exponents(), by, op, [&](int e, MatrixView<double> X, Op its) {
    apply_to_host_columns(q, factors, e, X, its);
  });
}

}  // namespace lasolve
