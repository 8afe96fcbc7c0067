// Classical iterative refinement: factors in one precision, residuals and updates in another.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "solvers/factors.hpp"
#include "solvers/refine/by_sides.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// Unit roundoff.
template <class T>
constexpr double epsilon = unit_roundoff_of(precision_of<T>);

struct Refinement {
  int updates;
  bool converged;
  std::vector<double> residuals = {};  ///< before the first update, and after each: see Report
};

/// How far a refinement is, as far as that is known: as many updates are expected as it takes if each gains what the last one did.
class RefinementTeller {
 public:
  explicit RefinementTeller(std::function<void(double)> tell) : tell_(std::move(tell)) {}
  /// Of update `update`, the residual before it, and then the update itself.
  std::function<void(double)> residual(int update) const { return part(update, 0); }
  std::function<void(double)> solve(int update) const { return part(update, 1); }
  /// A residual is known, in units of where it ends, and the one before.
  void learn(int update, long double worst, long double before) {
    if (std::isfinite(before) && worst > 1 && worst < before)
      expected_ = update + std::max(1.0, double(std::log(worst) / std::log(before / worst)));
  }

 private:
  std::function<void(double)> part(int update, int which) const {
    if (!tell_) return {};
    return [this, update, which](double share) {
      tell_(std::min(0.99, (update + (which + share) / 2) / (expected_ + 0.5)));
    };
  }
  const std::function<void(double)> tell_;
  double expected_ = 3;
};

/// X ← X + inv(L U)(B − A X) until, for every column, ‖r‖∞ ≤ ‖x‖∞·‖A‖∞·ε·√n, at most 30 times.
///
/// On entry X solves the system in the precision of the factors, which solve with A where they are applied with `op`; `a_norm` is
/// ‖A‖∞, `R` (n × nrhs) is workspace.
/// Not converged: the residual is not finite, or an update did not halve it, or 30 updates were not enough.
/// Source: the stopping rule is LAPACK's dsgesv; Langou, Langou, Luszczek, Kurzak, Buttari & Dongarra, SC 2006.
template <class T, class Space>
Refinement refine(Queue<Space>& q, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A, Op op,
                  long double a_norm, MatrixView<const T, Space> B, MatrixView<T, Space> X, MatrixView<T, Space> R) {
  constexpr int most_updates = 30;
  const long double bound = a_norm * epsilon<T> * std::sqrt(double(B.rows()));
  long double before = std::numeric_limits<double>::infinity();
  std::vector<double> residuals;
  RefinementTeller teller(teller_of(Step::refine));
  for (int iteration = 0;; ++iteration) {
    const auto [exponents, b, x, r] = residual_by_sides<T, Space>(
        q, Phase::refine, teller.residual(iteration), A, [=] { return a_norm; }, X, B, R);  // R = B − A X
    long double worst = 0;                                                                  // in units of the bound
    for (std::size_t j = 0; j < r.size(); ++j) worst = larger(worst, r[j] == 0 ? 0 : r[j] / (x[j] * bound));
    if (const auto residual = double(worst * bound / a_norm); std::isfinite(residual)) residuals.push_back(residual);
    if (worst <= 1 && std::isfinite(bound)) return {iteration, true, std::move(residuals)};
    if (!(worst < before / 2) || iteration == most_updates) return {iteration, false, std::move(residuals)};
    teller.learn(iteration, worst, before);
    before = worst;
    by_sides(q, Phase::refine, R.rows(), R.cols(), teller.solve(iteration), [&](std::int64_t j, std::int64_t some) {
      factors.apply(q, R.columns(j, some), R.columns(j, some), op);  // D = inv(L U) R, in the place of R
    });
    for (std::size_t j = 0; j < r.size(); ++j)
      if (const auto d = R.columns(std::int64_t(j), 1); exponents[j] != 0) scale<T>(q, exponents[j], d, d);
    add(q, R, X);  // X ← X + D
  }
}

}  // namespace lasolve
