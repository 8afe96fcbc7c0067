// How much of a solution can be trusted: reciprocal condition numbers from factors, written once over how they are applied.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include "core/magnitude.hpp"
#include "core/power_of_two.hpp"
#include "core/settled.hpp"
#include "core/symmetric.hpp"
#include "solvers/copy.hpp"
#include "solvers/factors.hpp"
#include "solvers/refine/largest.hpp"
#include "solvers/refine/one_norm.hpp"

namespace lasolve {

/// A copy on the host.
template <class T, class Space>
Matrix<T> on_host(Queue<Space>& q, MatrixView<const T, Space> X) {
  Matrix<T> here(X.rows(), X.cols());
  if (X.empty()) return here;
  const Settled settled(q);
  copy<T>(q, X, here.view());
  q.finish();
  return here;
}

/// A complex matrix is a real one of twice the order, of which the vectors lie in memory as they are, and the transpose is the adjoint.
template <class T>
inline constexpr int parts = ComplexElement<T> ? 2 : 1;
template <class T, class Space>
auto as_real(MatrixView<T, Space> X) {
  if constexpr (ComplexElement<T>)
    return parts_of(X);
  else
    return X;
}
template <class T>
constexpr Op op_of_complex(Op op_of_real) {
  return ComplexElement<T> && op_of_real != Op::none ? Op::conjugate_transpose : op_of_real;
}

/// X ← op(A)⁻¹ X for a few columns on the host.
template <class T, class Space>
void apply_to_host_columns(Queue<Space>& q, Factors<T, Space>& factors, MatrixView<T> X, Op op) {
  if constexpr (std::is_same_v<Space, Cpu>) {
    factors.apply(q, X, X, op);
  } else {
    Matrix<T, Space> there(X.rows(), X.cols());
    const Settled settled(q);
    copy<T>(q, X, there.view());
    factors.apply(q, there.view(), there.view(), op);
    copy<T>(q, std::as_const(there).view(), X);
    q.finish();
  }
}

/// X ← op(A)⁻¹ 2^exponent X, with A as a real matrix.
template <class T, class Space>
void apply_to_host_columns(Queue<Space>& q, Factors<T, Space>& factors, int exponent, MatrixView<double> X, Op op) {
  const PowerOfTwo scaled(exponent);
  const auto for_each = [&](auto f) {
    for (std::int64_t j = 0; j < X.cols(); ++j)
      for (std::int64_t i = 0; i < X.rows(); ++i) f(i, j);
  };
  if constexpr (std::convertible_to<MatrixView<double>, MatrixView<T>>) {  // no copy then
    for_each([&](std::int64_t i, std::int64_t j) { X(i, j) = scaled(X(i, j)); });
    apply_to_host_columns<T>(q, factors, X, op);
  } else {
    Matrix<T> here(X.rows() / parts<T>, X.cols());
    const auto its = as_real(here.view());
    for_each([&](std::int64_t i, std::int64_t j) { its(i, j) = real_of<T>(scaled(X(i, j))); });
    apply_to_host_columns<T>(q, factors, here.view(), op_of_complex<T>(op));
    for_each([&](std::int64_t i, std::int64_t j) { X(i, j) = double(its(i, j)); });
  }
}

/// 1 / (x·y), where NaN and infinity mean that nothing can be trusted: 0. At most 1, as condition numbers are at least 1.
inline double reciprocal_of_condition(long double x, long double y) {
  const long double condition = x * y;
  return !std::isfinite(condition) ? 0 : condition <= 1 ? 1 : double(1 / condition);
}

/// An estimate of 1 / (‖A‖₁ ‖A⁻¹‖₁), given ‖A‖₁: at least the true value, nearly always within a factor of three. 0: A⁻¹ cannot
/// be represented. At most five solves, of four right-hand sides each; `tell`, unless empty, hears of each.
/// apply(e, X, op): X ← op(A)⁻¹ 2^e X for a few columns on the host, by factors that take such exponents.
template <class Apply>
double reciprocal_condition(std::int64_t n, long double norm, Exponents of, Apply apply,
                            const std::function<void(double)>& tell = {}) {
  if (n == 0) return 1;
  if (!(norm > 0 && std::isfinite(norm))) return 0;
  // A⁻¹ 2^e with ‖A‖₁ about 2^e, so that small matrices have inverses that do not overflow.
  const int e = std::clamp(std::ilogb(norm), of.least, of.most - 2);
  int solves = 0;
  const double inverse = one_norm_estimate(n, [&](MatrixView<double> X, Op op) {
    apply(e, X, op);
    constexpr double most = 5;
    if (tell) tell(++solves / most);
  });
  return reciprocal_of_condition(std::ldexp(norm, -e), inverse);
}

/// Columns of an estimate, and what A⁻¹ 2^exponent made of them: the last ones, of which some is nearly as large as can be.
struct Probe {
  Matrix<double> before, after;
  int exponent = 0;
};

/// `probe`, unless null, is written.
template <class T, class Space>
double reciprocal_condition(Queue<Space>& q, Factors<T, Space>& factors, long double norm,
                            const std::function<void(double)>& tell = {}, Probe* probe = nullptr) {
  const auto copy_of = [](MatrixView<const double> X) {
    Matrix<double> copy(X.rows(), X.cols());
    for (std::int64_t j = 0; j < X.cols(); ++j) std::copy_n(&X(0, j), X.rows(), &copy(0, j));
    return copy;
  };
  const auto apply = [&](int e, MatrixView<double> X, Op op) {
    const bool keeps = probe && op == Op::none;
    if (keeps) probe->before = copy_of(X), probe->exponent = e;
    apply_to_host_columns(q, factors, e, X, op);
    if (keeps) probe->after = copy_of(X);
  };
  return reciprocal_condition(parts<T> * factors.order(), norm, factors.exponents(), apply, tell);
}

/// How much a step of refinement changes such columns v = M⁻¹x, with M what the factors multiply to: the largest
/// ‖M⁻¹(x − A v)‖∞ / ‖v‖∞. NaN where that cannot be represented, or nothing was estimated.
template <class T, class Space>
double change_by_refinement(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A,
                            const Probe& probe) {
  const std::int64_t n = factors.order(), columns = probe.after.cols();
  if (columns == 0) return std::nan("");
  const PowerOfTwo scaled(probe.exponent);
  Matrix<T> x(n, columns), v(n, columns);
  const auto its_x = as_real(x.view()), its_v = as_real(v.view());
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < its_x.rows(); ++i)
      its_x(i, j) = real_of<T>(scaled(probe.before(i, j))), its_v(i, j) = real_of<T>(probe.after(i, j));
  std::vector<double> changes, sizes;
  const auto change = [&](MatrixView<T, Space> D, MatrixView<const T, Space> V) {
    std::visit([&](const auto& a) { residual<T>(q, a, V, MatrixView<const T, Space>(D), D); }, A);
    factors.apply_in_T(q, D, D, Op::none);
    changes = *column_norms<T>(q, MatrixView<const T, Space>(D)), sizes = *column_norms<T>(q, V);
  };
  if constexpr (std::is_same_v<Space, Cpu>) {
    change(x.view(), v.view());
  } else {
    Matrix<T, Space> X(n, columns), V(n, columns);
    const Settled settled(q);
    copy<T>(q, std::as_const(x).view(), X.view()), copy<T>(q, std::as_const(v).view(), V.view());
    change(X.view(), V.view());
  }
  double most = 0;
  for (std::size_t j = 0; j < sizes.size(); ++j) most = larger(most, changes[j] / sizes[j]);
  return most;
}

/// What factors tell of the condition of A.
struct SeenCondition {
  double rcond;   ///< an estimate
  double unseen;  ///< what a step of refinement changes of A⁻¹, where they may be too coarse for it; NaN: unknown
};

/// By factors with that unit roundoff, or 0 where they are as fine as A. What coarse ones cannot see of A is noise of their roundoff in what
/// they multiply to, M. That noise is then what M⁻¹ makes largest, and a step of refinement takes it away.
template <class T, class Space>
SeenCondition condition_by(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A,
                           long double norm, double coarse, const std::function<void(double)>& tell = {}) {
  constexpr double near = 10;
  Probe probe;
  const double rcond = reciprocal_condition(q, factors, norm, tell, coarse > 0 ? &probe : nullptr);
  const bool may_hide = coarse > 0 && rcond <= near * coarse;
  return {rcond, may_hide ? change_by_refinement(q, factors, A, probe) : 0};
}

}  // namespace lasolve
