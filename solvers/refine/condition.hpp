// How much of a solution can be trusted: reciprocal condition numbers from factors, written once over how they are applied.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "core/magnitude.hpp"
#include "core/power_of_two.hpp"
#include "core/settled.hpp"
#include "solvers/copy.hpp"
#include "solvers/factors.hpp"
#include "solvers/refine/estimated_norms.hpp"
#include "solvers/refine/inverse_norms.hpp"
#include "solvers/refine/largest.hpp"

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

/// What is told by estimates of ‖A⁻¹ 2^e‖, given ‖A‖₁. estimated(e): these, by factors that take such exponents.
template <class Estimated>
ConditionEstimate condition_estimate(std::int64_t n, long double norm, Exponents of, Estimated estimated) {
  if (n == 0) return {1, {}};
  if (!(norm > 0 && std::isfinite(norm))) return {};
  // A⁻¹ 2^e with ‖A‖₁ about 2^2e, so that neither small matrices have inverses that overflow, nor large ones right-hand sides.
  const int e = std::clamp(std::ilogb(norm) / 2, of.least, of.most - 2);
  const EstimatedNorms norms = estimated(e);
  const InverseNorms its{std::ldexp(static_cast<long double>(norms.one), -e),
                         std::ldexp(static_cast<long double>(norms.infinity), -e)};
  return {reciprocal_of_condition(norm, its.one), its};
}

/// rcond alone. solve(e, X, op): X ← op(A)⁻¹ 2^e X for a few columns on the host.
template <class Solve>
double reciprocal_condition_on_host(std::int64_t n, long double norm, Exponents of, Solve solve) {
  const auto estimated = [&](int e) {
    return estimated_norms(n, [&](MatrixView<double> X, Op op) { solve(e, X, op); });
  };
  return condition_estimate(n, norm, of, estimated).rcond;
}

/// Columns of an estimate in the memory of a device other than the host. view(), and weigh() with the weights of rows.
template <class T, class Space>
class ColumnsOn;

/// D op(A)⁻¹ 2^exponent, with weights on the diagonal of D, if there are any.
template <class T, class Space>
struct WeightedInverse {
  Factors<T, Space>& factors;
  Op op = Op::none;
  int exponent = 0;
  std::span<const double> weights = {};
};

/// Estimates of its norms. `tell`, unless empty, hears of each solve.
template <class T, class Space>
EstimatedNorms estimated_norms(Queue<Space>& q, const WeightedInverse<T, Space>& M,
                               const std::function<void(double)>& tell = {}) {
  int solves = 0;
  const auto solve = [&](MatrixView<T, Space> X, Op side) {
    M.factors.apply(q, X, X, op_of_complex<T>(side == Op::none ? M.op : flipped(M.op)));
    constexpr double most = 3;
    if (tell) tell(++solves / most);
  };
  const std::int64_t n = M.factors.order();
  if constexpr (std::is_same_v<Space, Cpu>) {
    Matrix<T> x(n, std::min<std::int64_t>(parts<T> * n, ColumnsOfEstimate::most));
    const auto its = as_real(x.view());
    const PowerOfTwo scaled(M.exponent);
    const auto weigh = [&](MatrixView<double> X) {
      for (std::int64_t j = 0; j < X.cols() && !M.weights.empty(); ++j)
        for (std::int64_t i = 0; i < X.rows(); ++i) X(i, j) *= M.weights[std::size_t(i / parts<T>)];
    };
    const auto for_each = [&](auto f) {
      for (std::int64_t j = 0; j < its.cols(); ++j)
        for (std::int64_t i = 0; i < its.rows(); ++i) f(i, j);
    };
    return estimated_norms(parts<T> * n, [&](MatrixView<double> X, Op side) {
      if (side == Op::transpose) weigh(X);
      for_each([&](std::int64_t i, std::int64_t j) { its(i, j) = real_of<T>(scaled(X(i, j))); });
      solve(x.view(), side);
      for_each([&](std::int64_t i, std::int64_t j) { X(i, j) = double(its(i, j)); });
      if (side == Op::none) weigh(X);
    });
  } else {
    ColumnsOn<T, Space> X(q, n, M.weights);
    const Settled settled(q);
    return estimated_norms(X, [&](Op side) {
      if (side == Op::transpose) X.weigh();
      scale<T>(q, M.exponent, X.view(), X.view());
      solve(X.view(), side);
      if (side == Op::none) X.weigh();
    });
  }
}

template <class T, class Space>
ConditionEstimate condition_estimate(Queue<Space>& q, Factors<T, Space>& factors, long double norm,
                                     const std::function<void(double)>& tell = {}) {
  return condition_estimate(factors.order(), norm, factors.exponents(), [&](int e) {
    return estimated_norms(q, WeightedInverse<T, Space>{factors, Op::none, e}, tell);
  });
}

}  // namespace lasolve
