// How far solutions are from the exact ones, at most, and how well they solve each equation for itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/power_of_two.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// Of some right-hand sides: the worst of them.
struct ErrorBounds {
  double forward = 0;        ///< of ‖x − x̂‖∞ / ‖x̂‖∞
  double componentwise = 0;  ///< max |b − A x̂|ᵢ / (|A||x̂| + |b|)ᵢ
};

/// What bounds the errors of some right-hand sides, each over its ‖x̂‖∞: the largest of each row.
struct RowsOfBounds {
  std::vector<double> x, b, r;

  explicit RowsOfBounds(std::int64_t n) : x(std::size_t(n), 0), b(x), r(x) {}

  /// R is 2^−exponent times the residual.
  template <class T, class Space>
  void add(Queue<Space>& q, MatrixView<const T, Space> X, MatrixView<const T, Space> B, MatrixView<const T, Space> R,
           int exponent) {
    const Matrix<T> its_x = on_host(q, X), its_b = on_host(q, B), its_r = on_host(q, R);
    double norm = 0;
    for (std::int64_t i = 0; i < X.rows(); ++i) norm = larger(norm, double(magnitude(its_x(i, 0))));
    if (norm == 0) return;  // and so is b
    const auto take = [norm](std::vector<double>& of, const Matrix<T>& its) {
      for (std::size_t i = 0; i < of.size(); ++i) of[i] = larger(of[i], double(magnitude(its.data()[i])) / norm);
    };
    take(x, its_x), take(b, its_b);
    if (exponent == 0) return take(r, its_r);
    const PowerOfTwo unscaled(exponent);
    std::vector<double> residuals(r.size(), 0);
    take(residuals, its_r);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = larger(r[i], unscaled(residuals[i]));
  }
};

/// ‖|A⁻¹| w‖∞ / ‖x̂‖∞ with w = |r| + (n + 1) u (|A||x̂| + |b|), of right-hand sides together. It is at most ‖A⁻¹‖∞ max w, which is
/// taken where no weight is below half of the largest. Else it is estimated: solves of four columns, three times at most.
/// `a_norm`, `inverse_norm`: ‖op(A)‖∞, ‖op(A)⁻¹‖∞.
/// Source: LAPACK's xGERFS; Arioli, Demmel & Duff, SIMAX 10, 1989.
template <class T, class Space>
ErrorBounds error_bounds(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A, Op op,
                         long double a_norm, long double inverse_norm, const RowsOfBounds& rows) {
  const std::size_t n = rows.x.size();
  if (largest(rows.x) == 0) return {};  // zeros, exactly
  const double u = unit_roundoff_of(precision_of<T>), safe = std::numeric_limits<real_of<T>>::min();
  std::vector<double> sizes = *std::visit([&](const auto& a) { return row_sums_of_magnitudes(q, a, rows.x); }, A);
  std::vector<double> weights(n);
  ErrorBounds bounds;
  for (std::size_t i = 0; i < n; ++i) {
    sizes[i] += rows.b[i];
    const double least = double(n + 1) * safe;
    bounds.componentwise = larger(bounds.componentwise, rows.r[i] == 0 ? 0 : rows.r[i] / std::max(sizes[i], least));
    weights[i] = rows.r[i] + double(n + 1) * (u * sizes[i] + safe);
  }
  const double most = largest(weights);
  if (!(most > 0 && std::isfinite(most))) return {most == 0 ? 0 : most / most, bounds.componentwise};
  if (*std::min_element(weights.begin(), weights.end()) >= most / 2) {
    bounds.forward = double(parts<T> * inverse_norm * most);
    return bounds;
  }
  const Exponents of = factors.exponents();
  const int e = std::clamp(std::ilogb(a_norm) / 2, of.least, of.most - 2), of_weights = std::ilogb(most);
  const PowerOfTwo near_one(-of_weights);
  for (double& weight : weights) weight = near_one(weight);
  // ‖op(A)⁻¹D‖∞ = ‖D op(A)⁻ᵀ‖₁ with the weights on a diagonal D.
  const double norm = estimated_norms(q, WeightedInverse<T, Space>{factors, flipped(op), e, weights}).one;
  // The norms of complex vectors are at most √2 times those of moduli, and those of real vectors at least 1/√2 times.
  bounds.forward = parts<T> * std::ldexp(norm, of_weights - e);
  return bounds;
}

/// The same where refinement with residuals in twice the precision has converged: all updates that would follow are below the last digit. 1
/// where A is too ill-conditioned to trust that.
/// Source: LAPACK's xGERFSX.
template <class T>
double bound_of_extra_residuals(std::int64_t n, double rcond) {
  const double u = unit_roundoff_of(precision_of<T>);
  return rcond < double(n) * u ? 1 : std::max(10.0, std::sqrt(double(n))) * u;
}

}  // namespace lasolve
