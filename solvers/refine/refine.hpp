// Classical iterative refinement: factors in one precision, residuals and updates in another.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/factors.hpp"
#include "solvers/refine/residual.hpp"

namespace lasolve {

/// Unit roundoff.
template <class T>
constexpr double epsilon = unit_roundoff_of(precision_of<T>);

struct Refinement {
  int updates;
  bool converged;
  std::vector<double> residuals = {};  ///< before the first update, and after each: see Report
};

/// X ← X + inv(L U)(B − A X) until, for every column, ‖r‖∞ ≤ ‖x‖∞·‖A‖∞·ε·√n, at most 30 times.
///
/// On entry X solves the system in the precision of the factors, stored in F, which solve with A where they are applied with `op`;
/// `a_norm` is ‖A‖∞, `R` (n × nrhs) is workspace.
/// Not converged: the residual is not finite, or an update did not halve it, or 30 updates were not enough.
/// Source: the stopping rule is LAPACK's dsgesv; Langou, Langou, Luszczek, Kurzak, Buttari & Dongarra, SC 2006.
template <class T, class F, class Place>
Refinement refine(Queue<Place>& q, const Gemm<F, Place>& gemm, Factors<F, Place>& factors,
                  const SystemMatrix<T, Place>& A, Op op, long double a_norm, MatrixView<const T, Place> B,
                  MatrixView<T, Place> X, MatrixView<T, Place> R, MatrixView<F, Place> D) {
  constexpr int most_updates = 30;
  const long double bound = a_norm * epsilon<T> * std::sqrt(double(B.rows()));
  long double before = std::numeric_limits<double>::infinity();
  std::vector<double> residuals;
  for (int iteration = 0;; ++iteration) {
    const auto [exponents, b, x, r] = residual_without_overflow<T>(
        q, A, [=] { return a_norm; }, X, B, R);  // R = B − A X
    long double worst = 0;                       // in units of the bound
    for (std::size_t j = 0; j < r.size(); ++j) worst = larger(worst, r[j] == 0 ? 0 : r[j] / (x[j] * bound));
    if (const auto residual = double(worst * bound / a_norm); std::isfinite(residual)) residuals.push_back(residual);
    if (worst <= 1 && std::isfinite(bound)) return {iteration, true, std::move(residuals)};
    if (!(worst < before / 2) || iteration == most_updates) return {iteration, false, std::move(residuals)};
    before = worst;
    convert<T>(q, R, D);  // D = inv(L U) R
    factors.apply(q, gemm, D, D, op);
    for (std::size_t j = 0; j < r.size(); ++j)
      if (const auto d = D.columns(std::int64_t(j), 1); exponents[j] != 0) scale<F>(q, exponents[j], d, d);
    add(q, D, X);  // X ← X + D
  }
}

}  // namespace lasolve
