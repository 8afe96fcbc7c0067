// Whether a product is right: each element at small sizes, a random projection of all of it at any size.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "bench/product.hpp"
#include "core/cpu/parallel.hpp"
#include "io/generators.hpp"

namespace lasolve::bench {

/// What a T is checked with.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// uniform: in [−1, 1); integers: of at most 8, whose products and sums need no rounding, however operands are cut.
enum class Values { uniform, integers };

/// X ← values, the same for any number of threads.
template <class T>
void fill(const Queue<Cpu>& q, MatrixView<T> X, Values values, std::uint64_t seed) {
  const io::Formula formula{.seed = seed};
  on_shares(q, X.cols(), double(X.rows()) * double(X.cols()), [&](std::int64_t first, std::int64_t columns) {
    for (std::int64_t j = first; j < first + columns; ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i) {
        const double x = formula.random(i, j);
        X(i, j) = T(values == Values::uniform ? x : std::nearbyint(8 * x));
      }
  });
}

/// The operands of a product in precision P, on the host. C is NaN where β = 0 forbids to read it.
template <Precision P>
struct Inputs {
  using In = typename Arithmetic<P>::Operand;
  using T = typename Arithmetic<P>::Result;

  Product p;
  Matrix<In> A, B;
  Matrix<T> C;

  Inputs(const Queue<Cpu>& q, const Product& product, Values values)
      : p(product), A(p.m, p.k), B(p.k, p.n), C(p.m, p.n) {
    fill<In>(q, A, values, 1);
    fill<In>(q, B, values, 2);
    fill<T>(q, C, values, 3);
    if (p.beta != 0) return;
    for (std::int64_t j = 0; j < p.n; ++j) std::fill_n(&C(0, j), p.m, std::numeric_limits<T>::quiet_NaN());
  }
};

/// ‖X‖, Frobenius.
template <class T>
double frobenius(MatrixView<const T> X) {
  double sum = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) sum += double(X(i, j)) * double(X(i, j));
  return std::sqrt(sum);
}

/// (√(k+2)·max(|α|,1)·‖A‖‖B‖ + 2·max(|β|,1)·‖C₀‖): times u, what ‖C − Cref‖ may be.
template <Precision P>
double bound(const Inputs<P>& in) {
  const Product& p = in.p;
  const double ab =
      std::sqrt(double(p.k + 2)) * std::max(std::abs(p.alpha), 1.0) * frobenius(in.A.view()) * frobenius(in.B.view());
  return ab + (p.beta == 0 ? 0 : 2 * std::max(std::abs(p.beta), 1.0) * frobenius(in.C.view()));
}

/// α·A·B + β·C, as on paper: for small sizes.
template <Precision P, class T = typename Arithmetic<P>::Result>
Matrix<Wide<T>> reference(const Inputs<P>& in) {
  Matrix<Wide<T>> R(in.p.m, in.p.n);
  for (std::int64_t j = 0; j < in.p.n; ++j)
    for (std::int64_t i = 0; i < in.p.m; ++i) {
      Wide<T> sum = 0;
      for (std::int64_t l = 0; l < in.p.k; ++l) sum += Wide<T>(in.A(i, l)) * Wide<T>(in.B(l, j));
      R(i, j) = Wide<T>(in.p.alpha) * sum + (in.p.beta == 0 ? 0 : Wide<T>(in.p.beta) * Wide<T>(in.C(i, j)));
    }
  return R;
}

/// X·v.
template <class T, class W>
std::vector<W> times(const Queue<Cpu>& q, MatrixView<const T> X, const std::vector<W>& v) {
  std::vector<W> y(std::size_t(X.rows()), 0);
  on_shares(q, X.rows(), double(X.rows()) * double(X.cols()), [&](std::int64_t first, std::int64_t rows) {
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = first; i < first + rows; ++i) y[std::size_t(i)] += W(X(i, j)) * v[std::size_t(j)];
  });
  return y;
}

/// Checks C with 2(mk + kn + mn) operations instead of 2mnk: C·x against α·A·(B·x) + β·C₀·x (Freivalds, IFIP 1977). With
/// x of random signs, the mean of ‖E·x‖² is ‖E‖², Frobenius, so the bound is that of the GEMM contract.
template <Precision P>
class Projection {
 public:
  using T = typename Arithmetic<P>::Result;

  Projection(const Queue<Cpu>& q, const Inputs<P>& in) : q_(q), x_(std::size_t(in.p.n)), bound_(bound(in)) {
    const io::Formula random{.seed = 4};
    for (std::size_t j = 0; j < x_.size(); ++j) x_[j] = random.random(std::int64_t(j), 0) < 0 ? -1 : 1;
    y_ = times(q, in.A.view(), times(q, in.B.view(), x_));
    for (Wide<T>& y : y_) y *= Wide<T>(in.p.alpha);
    if (in.p.beta == 0) return;
    const auto c = times(q, in.C.view(), x_);
    for (std::size_t i = 0; i < y_.size(); ++i) y_[i] += Wide<T>(in.p.beta) * c[i];
  }

  /// The error of C as a share of what unit roundoff u allows; NaN and above 1 are wrong.
  double error(MatrixView<const T> C, double u) const {
    const auto y = times(q_, C, x_);
    Wide<T> sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - y_[i]) * (y[i] - y_[i]);
    return double(std::sqrt(sum)) / (u * bound_);
  }

 private:
  const Queue<Cpu>& q_;
  std::vector<Wide<T>> x_, y_;
  double bound_;
};

/// The same share, from each element.
template <Precision P, class T = typename Arithmetic<P>::Result>
double full_error(const Inputs<P>& in, const Matrix<T>& C, double u) {
  const auto R = reference(in);
  Wide<T> sum = 0;
  for (std::int64_t j = 0; j < in.p.n; ++j)
    for (std::int64_t i = 0; i < in.p.m; ++i) sum += (R(i, j) - Wide<T>(C(i, j))) * (R(i, j) - Wide<T>(C(i, j)));
  return double(std::sqrt(sum)) / (u * bound(in));
}

/// The elements of C that are not the reference, bit for bit.
template <Precision P, class T = typename Arithmetic<P>::Result>
std::int64_t differences(const Inputs<P>& in, const Matrix<T>& C) {
  const auto R = reference(in);
  std::int64_t count = 0;
  for (std::int64_t j = 0; j < in.p.n; ++j)
    for (std::int64_t i = 0; i < in.p.m; ++i) count += !(T(R(i, j)) == C(i, j));
  return count;
}

}  // namespace lasolve::bench
