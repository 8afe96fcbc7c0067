// What a product has to be: each element at small sizes, a random projection of all of it at any size.
#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "bench/sums.hpp"
#include "core/cpu/parallel.hpp"
#include "io/generators.hpp"

namespace lasolve::bench {

/// What a T is checked with.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// X ← numbers in [−1, 1), or integers of at most `most`, the same for any number of threads.
template <class X>
void fill_random(const Queue<Cpu>& q, MatrixView<X> view, std::uint64_t seed) {
  const io::Formula formula{.seed = seed};
  on_shares(q, view.cols(), double(view.rows()) * double(view.cols()), [&](std::int64_t first, std::int64_t columns) {
    for (std::int64_t j = first; j < first + columns; ++j)
      for (std::int64_t i = 0; i < view.rows(); ++i) view(i, j) = X(formula.random(i, j));
  });
}
template <class X>
void fill_integers(const Queue<Cpu>& q, MatrixView<X> view, std::int64_t most, std::uint64_t seed) {
  const io::Formula formula{.seed = seed};
  on_shares(q, view.cols(), double(view.rows()) * double(view.cols()), [&](std::int64_t first, std::int64_t columns) {
    for (std::int64_t j = first; j < first + columns; ++j)
      for (std::int64_t i = 0; i < view.rows(); ++i)
        view(i, j) = X(std::nearbyint(double(most) * formula.random(i, j)));
  });
}

/// α·op(A)·op(B) + β·C in precision P, with operands on the host.
template <Precision P>
struct Expression {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;

  double alpha, beta;
  Operand<In> A, B;
  MatrixView<const T> C;

  std::int64_t m() const { return C.rows(); }
  std::int64_t n() const { return C.cols(); }
  std::int64_t k() const { return A.cols(); }
  double multiplications() const { return double(m()) * double(n()) * double(k()); }
};

/// ‖X‖, Frobenius.
template <class X>
double frobenius(MatrixView<const X> view) {
  double sum = 0;
  for (std::int64_t j = 0; j < view.cols(); ++j)
    for (std::int64_t i = 0; i < view.rows(); ++i) sum += double(view(i, j)) * double(view(i, j));
  return std::sqrt(sum);
}

/// (√(k+2)·max(|α|,1)·‖A‖‖B‖ + 2·max(|β|,1)·‖C₀‖): times u, what ‖C − Cref‖ may be.
template <Precision P>
double bound(const Expression<P>& e) {
  const double ab = std::sqrt(double(e.k() + 2)) * std::max(std::abs(e.alpha), 1.0) * frobenius(e.A.stored()) *
                    frobenius(e.B.stored());
  return ab + (e.beta == 0 ? 0 : 2 * std::max(std::abs(e.beta), 1.0) * frobenius(e.C));
}

/// Column j, summed in W.
template <class W, Precision P>
std::vector<W> expected_column(const Expression<P>& e, std::int64_t j) {
  std::vector<W> column(std::size_t(e.m()), 0);
  for (std::int64_t l = 0; l < e.k(); ++l)
    for (std::int64_t i = 0; i < e.m(); ++i) column[std::size_t(i)] += W(e.A(i, l)) * W(e.B(l, j));
  for (std::int64_t i = 0; i < e.m(); ++i) {
    W& c = column[std::size_t(i)];
    c = W(e.alpha) * c + (e.beta == 0 ? W(0) : W(e.beta) * W(e.C(i, j)));
  }
  return column;
}

/// Column j of |α|·|op(A)|·|op(B)| + |β|·|C₀|.
template <Precision P>
std::vector<double> magnitudes_of_column(const Expression<P>& e, std::int64_t j) {
  std::vector<double> column(std::size_t(e.m()), 0);
  for (std::int64_t l = 0; l < e.k(); ++l)
    for (std::int64_t i = 0; i < e.m(); ++i) column[std::size_t(i)] += std::abs(double(e.A(i, l)) * double(e.B(l, j)));
  for (std::int64_t i = 0; i < e.m(); ++i) {
    double& c = column[std::size_t(i)];
    c = std::abs(e.alpha) * c + (e.beta == 0 ? 0 : std::abs(e.beta * double(e.C(i, j))));
  }
  return column;
}

/// All of it, with at least the digits of W: for small sizes. W long double wants finite operands.
template <class W, Precision P>
Matrix<W> expected(const Queue<Cpu>& q, const Expression<P>& e) {
  const std::int64_t m = e.m(), n = e.n(), k = e.k();
  RowStrips a(m, k);
  ColumnStrips b(n, k);
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t i = 0; i < m; ++i) a(i, l) = double(e.A(i, l));
    for (std::int64_t j = 0; j < n; ++j) b(j, l) = double(e.B(l, j));
  }
  Matrix<W> R(m, n);
  const auto finish = [&](std::int64_t first, std::int64_t columns, auto sum) {
    for (std::int64_t j = first; j < first + columns; ++j)
      for (std::int64_t i = 0; i < m; ++i)
        R(i, j) = W(e.alpha) * sum(i, j) + (e.beta == 0 ? W(0) : W(e.beta) * W(e.C(i, j)));
  };
  Matrix<double> high(m, n);
  if constexpr (std::is_same_v<W, double>) {
    on_shares(q, n, 2 * e.multiplications(), [&](std::int64_t first, std::int64_t columns) {
      sum_products(a, b, first, columns, high.view());
      finish(first, columns, [&](std::int64_t i, std::int64_t j) { return high(i, j); });
    });
  } else {
    Matrix<double> low(m, n);
    const SplitProducts split(m, n, std::move(a), std::move(b));
    on_shares(q, n, 6 * e.multiplications(), [&](std::int64_t first, std::int64_t columns) {
      split(first, columns, high.view(), low.view());
      finish(first, columns, [&](std::int64_t i, std::int64_t j) { return W(high(i, j)) + W(low(i, j)); });
    });
  }
  return R;
}

/// vᵀ·op(X).
template <class W, class X>
std::vector<W> times(const Queue<Cpu>& q, const std::vector<W>& v, Operand<X> x) {
  std::vector<W> y(std::size_t(x.cols()), 0);
  const MatrixView<const X> stored = x.stored();
  on_shares(q, x.cols(), double(x.rows()) * double(x.cols()), [&](std::int64_t first, std::int64_t count) {
    if (x.op() == Op::none)
      for (std::int64_t j = first; j < first + count; ++j)
        for (std::int64_t i = 0; i < x.rows(); ++i) y[std::size_t(j)] += v[std::size_t(i)] * W(stored(i, j));
    else
      for (std::int64_t i = 0; i < x.rows(); ++i)
        for (std::int64_t j = first; j < first + count; ++j) y[std::size_t(j)] += v[std::size_t(i)] * W(stored(j, i));
  });
  return y;
}

/// Checks C with 2(mk + kn + mn) operations instead of 2mnk: xᵀ·C against α·(xᵀ·A)·B + β·xᵀ·C₀, with x of random signs
/// (Freivalds, IFIP 1977). A column with one wrong element always differs, one with several at least half of the time; and
/// the mean of ‖xᵀ·E‖² is ‖E‖², Frobenius, so the bound is that of the GEMM contract.
template <class W, Precision P>
class Projection {
 public:
  using T = typename Arithmetic<P>::Result;

  Projection(const Queue<Cpu>& q, const Expression<P>& e) : q_(q), x_(std::size_t(e.m())) {
    const io::Formula random{.seed = 4};
    for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = random.random(std::int64_t(i), 0) < 0 ? -1 : 1;
    y_ = times(q, times(q, x_, e.A), e.B);
    for (W& y : y_) y *= W(e.alpha);
    if (e.beta == 0) return;
    const auto c = times(q, x_, Operand<T>(e.C));
    for (std::size_t j = 0; j < y_.size(); ++j) y_[j] += W(e.beta) * c[j];
  }

  /// xᵀ·(C − expected).
  std::vector<W> error(MatrixView<const T> C) const {
    auto y = times(q_, x_, Operand<T>(C));
    for (std::size_t j = 0; j < y.size(); ++j) y[j] -= y_[j];
    return y;
  }

 private:
  const Queue<Cpu>& q_;
  std::vector<W> x_, y_;
};

/// The first wrong element of a product.
struct WrongElement {
  std::int64_t i = 0, j = 0;
  double expected = 0, found = 0, bound = 0;  ///< bound: how far it may be off
  std::int64_t wrong = 0, of = 0;             ///< how many elements are wrong, of those that were looked at
  std::int64_t lost_step = -1;  ///< with this step of k, the first or the last, it would be right; −1: with none
};

/// Counts wrong elements and keeps the first.
class Wrongs {
 public:
  void look(bool wrong, std::int64_t i, std::int64_t j, double expected, double found, double bound) {
    ++first_.of;
    if (!wrong) return;
    if (first_.wrong++ == 0)
      first_.i = i, first_.j = j, first_.expected = expected, first_.found = found, first_.bound = bound;
  }
  std::optional<WrongElement> first() const { return first_.wrong > 0 ? std::optional(first_) : std::nullopt; }

 private:
  WrongElement first_;
};

/// Whether an element is wrong that needs no rounding: NaN has to be NaN, and infinity at least not finite.
template <class T, class W>
bool differs(W expected, T found) {
  if (std::isnan(expected)) return !std::isnan(found);
  if (std::isinf(expected)) return std::isfinite(found);
  return !(T(expected) == found);
}

/// Beyond so many multiplications not every element is computed anew.
inline constexpr double worth_computing = 9e6;

/// Bit for bit: of operands such that no sum, in whatever order, is rounded.
template <Precision P, class T = typename Arithmetic<P>::Result>
std::optional<WrongElement> wrong_bits(const Queue<Cpu>& q, const Expression<P>& e, MatrixView<const T> C) {
  Wrongs wrongs;
  const auto look = [&](std::int64_t i, std::int64_t j, double x) {
    wrongs.look(differs(x, C(i, j)), i, j, x, double(C(i, j)), 0);
  };
  if (e.multiplications() <= worth_computing) {
    const Matrix<double> R = expected<double>(q, e);
    for (std::int64_t j = 0; j < e.n(); ++j)
      for (std::int64_t i = 0; i < e.m(); ++i) look(i, j, R(i, j));
    return wrongs.first();
  }
  const auto error = Projection<double, P>(q, e).error(C);
  const auto column = std::find_if(error.begin(), error.end(), [](double x) { return x != 0; });  // NaN, too
  if (column == error.end()) return {};
  const std::int64_t j = column - error.begin();
  const auto x = expected_column<double>(e, j);
  for (std::int64_t i = 0; i < e.m(); ++i) look(i, j, x[std::size_t(i)]);
  return wrongs.first();
}

/// Of k: the last or the first step, without which a sum is what was found; −1 where it is neither. Of one step: nothing was added.
template <Precision P>
std::int64_t lost_step(const Expression<P>& e, const WrongElement& at) {
  const auto lacks = [&](std::int64_t l) {
    const double with = at.found + e.alpha * double(e.A(at.i, l)) * double(e.B(l, at.j));
    return with != at.found && std::abs(with - at.expected) <= at.bound;
  };
  if (e.k() > 0 && lacks(e.k() - 1)) return e.k() - 1;
  return e.k() > 1 && lacks(0) ? 0 : -1;
}

/// As ‖C − Cref‖ ≤ u·bound(e) asks, of which an element has its share, as all others have. `share` becomes the error as a
/// share of what is allowed.
template <Precision P, class T = typename Arithmetic<P>::Result>
std::optional<WrongElement> wrong_by_norm(const Queue<Cpu>& q, const Expression<P>& e, MatrixView<const T> C, double u,
                                          double& share) {
  using W = Wide<T>;
  const double allowed = u * bound(e), each = allowed / std::sqrt(double(e.m()) * double(e.n()));
  const auto judge = [&](W squares) {
    share = squares == 0 ? 0 : double(std::sqrt(squares)) / allowed;
    return share <= 1;
  };
  Wrongs wrongs;
  W squares = 0;
  const auto look = [&](std::int64_t i, std::int64_t j, W x) {
    const double off = double(std::abs(W(C(i, j)) - x));
    wrongs.look(!(off <= each), i, j, double(x), double(C(i, j)), each);
    return off;
  };
  if (e.multiplications() <= worth_computing) {
    const Matrix<W> R = expected<W>(q, e);
    for (std::int64_t j = 0; j < e.n(); ++j)
      for (std::int64_t i = 0; i < e.m(); ++i) {
        const W off = look(i, j, R(i, j));
        squares += off * off;
      }
    return judge(squares) ? std::nullopt : wrongs.first();
  }
  const auto error = Projection<W, P>(q, e).error(C);
  std::size_t worst = 0;
  for (std::size_t j = 0; j < error.size(); ++j) {
    squares += error[j] * error[j];
    if (!(std::abs(error[j]) <= std::abs(error[worst])) && !std::isnan(error[worst])) worst = j;
  }
  if (judge(squares)) return {};
  const auto x = expected_column<W>(e, std::int64_t(worst));
  WrongElement largest;
  double most = -1;
  for (std::int64_t i = 0; i < e.m(); ++i) {
    const double off = look(i, std::int64_t(worst), x[std::size_t(i)]);
    if (most < off)
      most = off,
      largest = {i, std::int64_t(worst), double(x[std::size_t(i)]), double(C(i, std::int64_t(worst))), each, 0, e.m()};
  }
  return wrongs.first() ? wrongs.first() : largest;  // many that are each within their share can be too much together
}

/// Each element within u·√(k+2)·(norm of its row of op(A))·(norm of its column of op(B)): α = 1 and β = 0.
template <Precision P, class T = typename Arithmetic<P>::Result>
std::optional<WrongElement> wrong_by_element(const Queue<Cpu>& q, const Expression<P>& e, MatrixView<const T> C,
                                             double u) {
  std::vector<double> rows(std::size_t(e.m()), 0), cols(std::size_t(e.n()), 0);
  for (std::int64_t l = 0; l < e.k(); ++l) {
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = std::hypot(rows[i], double(e.A(std::int64_t(i), l)));
    for (std::size_t j = 0; j < cols.size(); ++j) cols[j] = std::hypot(cols[j], double(e.B(l, std::int64_t(j))));
  }
  const auto R = expected<Wide<T>>(q, e);
  Wrongs wrongs;
  for (std::int64_t j = 0; j < e.n(); ++j)
    for (std::int64_t i = 0; i < e.m(); ++i) {
      const double allowed = u * std::sqrt(double(e.k() + 2)) * rows[std::size_t(i)] * cols[std::size_t(j)];
      const double off = double(std::abs(Wide<T>(C(i, j)) - R(i, j)));
      wrongs.look(!(off <= allowed), i, j, double(R(i, j)), double(C(i, j)), allowed);
    }
  return wrongs.first();
}

/// The element whose error is the largest share of what a sum of products of its size may have, (k + 2)·u·(|α||op(A)||op(B)| + |β||C₀|),
/// which is its bound. Of a large product some columns are looked at, among them that which a projection says is the worst.
template <Precision P, class T = typename Arithmetic<P>::Result>
WrongElement worst_element(const Queue<Cpu>& q, const Expression<P>& e, MatrixView<const T> C, double u,
                           double& share) {
  using W = Wide<T>;
  std::vector<std::int64_t> columns;
  if (e.multiplications() <= worth_computing) {
    for (std::int64_t j = 0; j < e.n(); ++j) columns.push_back(j);
  } else {
    const auto error = Projection<W, P>(q, e).error(C);
    const auto by_size = [](W x, W y) { return std::abs(x) < std::abs(y); };
    columns = {0, e.n() / 2, e.n() - 1, std::max_element(error.begin(), error.end(), by_size) - error.begin()};
  }
  WrongElement worst;
  share = 0;
  for (const std::int64_t j : columns) {
    const auto x = expected_column<W>(e, j);
    const auto magnitudes = magnitudes_of_column(e, j);
    for (std::int64_t i = 0; i < e.m(); ++i) {
      const double allowed = u * double(e.k() + 2) * magnitudes[std::size_t(i)];
      const double off = double(std::abs(W(C(i, j)) - x[std::size_t(i)]));
      const double its = off == 0 ? 0 : std::isnan(off) ? std::numeric_limits<double>::infinity() : off / allowed;
      if (its > share) share = its, worst = {i, j, double(x[std::size_t(i)]), double(C(i, j)), allowed, 0, 0};
    }
  }
  return worst;
}

}  // namespace lasolve::bench
