// Iterative refinement: factors in one precision, residuals and updates in another.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/factors.hpp"
#include "solvers/refine/gmres.hpp"
#include "solvers/refine/in_parts.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// Unit roundoff.
template <class T>
constexpr double epsilon = unit_roundoff_of(precision_of<T>);

/// How solutions are refined, and until when.
struct RefineTo {
  double accuracy = 0;      ///< the backward error of each; 0: that of LAPACK's dsgesv
  bool extra = false;       ///< residuals in twice the precision, until x itself is accurate
  std::size_t history = 0;  ///< of how many right-hand sides all residuals are kept
};

struct Refinement {
  int updates = 0, gmres_steps = 0;
  std::vector<std::size_t> stalled = {};  ///< the right-hand sides that did not converge
  std::vector<double> residuals = {};     ///< before the first update, and after each: see Report
  std::vector<std::vector<double>> history = {};

  bool converged() const { return stalled.empty(); }
};

/// One that took over where another stalled.
inline Refinement merged(Refinement&& first, Refinement&& second) {
  first.updates += second.updates, first.gmres_steps += second.gmres_steps;
  first.residuals.insert(first.residuals.end(), second.residuals.begin(), second.residuals.end());
  std::move(second.history.begin(), second.history.end(), std::back_inserter(first.history));
  first.stalled = std::move(second.stalled);
  return std::move(first);
}

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

/// Right-hand sides that are still refined, side by side: those that are done cost nothing more.
template <class T, class Space>
class OpenRightHandSides {
 public:
  /// R is workspace, as wide as B. `in_two`: X gets a tail, which is zero.
  OpenRightHandSides(Queue<Space>& q, MatrixView<const T, Space> B, MatrixView<T, Space> X, MatrixView<T, Space> R,
                     bool in_two, std::vector<std::size_t> which)
      : q_(q), all_X_(X), tail_(B.rows(), in_two ? B.cols() : 0), B_(B), X_(X), R_(R) {
    if (in_two) fill(q_, T(0), tail_.view());
    std::vector<std::size_t> all(std::size_t(B.cols()));
    std::iota(all.begin(), all.end(), 0);
    which_ = all;
    keep(which);
  }

  MatrixView<const T, Space> B() const { return B_; }
  MatrixView<T, Space> X() const { return X_; }
  MatrixView<T, Space> R() const { return R_; }
  /// What X has below its last digits, or nothing.
  MatrixView<const T, Space> tail() const {
    return tail_.cols() == 0 ? MatrixView<const T, Space>() : tail_.view().columns(0, X_.cols());
  }
  /// X ← X + D.
  void update(MatrixView<const T, Space> D) {
    tail_.cols() == 0 ? add(q_, D, X_) : add_in_two(q_, D, X_, tail_.view().columns(0, X_.cols()));
  }
  /// Which they are of all.
  const std::vector<std::size_t>& which() const { return which_; }

  /// `positions`: of those that stay, among those that are left, in order. The others are where they were given.
  void keep(const std::vector<std::size_t>& positions) {
    if (positions.size() == which_.size()) return;
    const auto n = B_.rows(), count = std::int64_t(positions.size());
    Matrix<T, Space> B(n, count), X(n, count);
    const Settled settled(q_);
    std::vector<std::size_t> which;
    for (std::int64_t j = 0; j < count; ++j) {
      const auto from = std::int64_t(positions[std::size_t(j)]);
      convert<T>(q_, B_.columns(from, 1), B.view().columns(j, 1));
      convert<T>(q_, MatrixView<const T, Space>(X_.columns(from, 1)), X.view().columns(j, 1));
      for (const MatrixView<T, Space> own : {R_, tail_.view()})
        if (own.cols() > 0) convert<T>(q_, MatrixView<const T, Space>(own.columns(from, 1)), own.columns(j, 1));
      which.push_back(which_[std::size_t(from)]);
    }
    leave();
    own_B_ = std::move(B), own_X_ = std::move(X);
    B_ = own_B_.view(), X_ = own_X_.view(), R_ = R_.columns(0, count);
    which_ = std::move(which);
  }

  /// Solutions go where they were given.
  void leave() {
    if (own_X_.cols() == 0) return;
    for (std::size_t j = 0; j < which_.size(); ++j)
      convert<T>(q_, std::as_const(own_X_).view().columns(std::int64_t(j), 1),
                 all_X_.columns(std::int64_t(which_[j]), 1));
    q_.finish();
  }

 private:
  Queue<Space>& q_;
  const MatrixView<T, Space> all_X_;
  Matrix<T, Space> own_B_, own_X_;  // once some were left out
  Matrix<T, Space> tail_;
  MatrixView<const T, Space> B_;
  MatrixView<T, Space> X_, R_;
  std::vector<std::size_t> which_;
};

/// How far right-hand sides are from where their refinement ends: at 1.
template <class T>
class Distances {
 public:
  /// `a_norm`: ‖op(A)‖∞, of order n.
  Distances(const RefineTo& to, long double a_norm, std::int64_t n)
      : to_(to), a_norm_(a_norm), bound_(a_norm * epsilon<T> * std::sqrt(double(n))) {}

  /// In units of the residual that is small enough.
  double of_residual(long double r, double x, double b) const {
    if (r == 0) return 0;
    return double(r / (to_.accuracy > 0 ? to_.accuracy * (a_norm_ * x + b) : bound_ * x));
  }
  /// In units of the last digit of x; before the first update: far.
  double of_update(long double r, double x, std::optional<double> update) const {
    if (r == 0) return 0;
    if (!update) return double(std::isfinite(r) ? std::numeric_limits<double>::max() : r);
    return *update / (epsilon<T> * x);
  }
  bool ends(double distance) const { return distance <= 1 && std::isfinite(bound_); }
  /// ‖r‖∞ / (‖A‖∞‖x‖∞), or the backward error, from of_residual().
  double residual(long double distance) const {
    return double(distance * (to_.accuracy > 0 ? to_.accuracy : bound_ / a_norm_));
  }

 private:
  const RefineTo to_;
  const long double a_norm_, bound_;
};

/// Whether one more update is made after so many: not where an update did not halve the residual, nor after 30. The first by inv(L U) = inv(A + E)
/// need not: before it the residual is about E x, which can be small though x is wrong, and after it about E e with the error e of x.
inline bool may_gain(Refine how, int updates, double now, double before) {
  constexpr int most_updates = 30;
  const bool may_grow = how == Refine::classical && updates == 1 && std::isfinite(now);
  return (now < before / 2 || may_grow) && updates < most_updates;
}

/// X ← X + D until, for every column, ‖r‖∞ ≤ ‖x‖∞·‖A‖∞·ε·√n for r = b − A x, or ‖r‖∞ ≤ (‖A‖∞‖x‖∞ + ‖b‖∞)·accuracy where that is not 0,
/// at most 30 times. D ≈ A⁻¹R is inv(L U) R, or, by GMRES, better than that. With extra residuals, X has a tail meanwhile, and the end is
/// ‖d‖∞ ≤ ε‖x‖∞: as each update is at most half of the one before, all that would follow are together no more than that.
///
/// On entry X solves the system in the precision of the factors, which solve with A where they are applied with `op`; `a_norm` is
/// ‖A‖∞, `R` (n × nrhs) is workspace. Of all right-hand sides, the columns `which` are refined.
/// Not converged: a residual is not finite, or may_gain() says no. With extra residuals: an update was not half as large as the one
/// before.
/// Source: the stopping rule is LAPACK's dsgesv; Langou, Langou, Luszczek, Kurzak, Buttari & Dongarra, SC 2006. With extra residuals,
/// xGERFSX; Demmel, Hida, Kahan, Li, Mukherjee & Riedy, "Error bounds from extra-precise iterative refinement", TOMS 32, 2006.
template <class T, class Space>
Refinement refine(Queue<Space>& q, Refine how, Factors<T, Space>& factors, const SystemMatrix<T, Space>& A, Op op,
                  long double a_norm, const RefineTo& to, MatrixView<const T, Space> B, MatrixView<T, Space> X,
                  MatrixView<T, Space> R, std::vector<std::size_t> which) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const Distances<T> distances(to, a_norm, B.rows());
  std::vector<double> before(std::size_t(B.cols()), infinity), now(before.size(), 0), residuals = now, lasts;
  Refinement all;
  long double worst_before = infinity;
  RefinementTeller teller(progress_of(Step::refine));
  OpenRightHandSides<T, Space> open(q, B, X, R, to.extra, std::move(which));
  for (;; ++all.updates) {
    const auto [exponents, b, x, r] = residual_in_parts<T, Space>(
        q, Phase::refine, teller.residual(all.updates), A, [=] { return a_norm; }, open.X(), open.B(), open.R(),
        open.tail());
    if (to.history > 0) all.history.emplace_back(to.history, std::nan(""));
    std::vector<std::size_t> stay;
    for (std::size_t i = 0; i < r.size(); ++i) {
      const std::size_t j = open.which()[i];
      residuals[j] = distances.of_residual(r[i], x[i], b[i]);
      if (j < to.history) all.history.back()[j] = distances.residual(residuals[j]);
      const auto last = lasts.empty() ? std::nullopt : std::optional(lasts[i]);
      now[j] = to.extra ? distances.of_update(r[i], x[i], last) : residuals[j];
      if (distances.ends(now[j])) continue;
      if (may_gain(how, all.updates, now[j], before[j]))
        stay.push_back(i);
      else
        all.stalled.push_back(j);
      before[j] = now[j];
    }
    if (const double residual = distances.residual(largest(residuals)); std::isfinite(residual))
      all.residuals.push_back(residual);
    if (stay.empty()) {
      open.leave();
      return all;
    }
    const long double worst = largest(now);
    teller.learn(all.updates, worst, worst_before);
    worst_before = worst;
    std::vector<int> scaled;
    for (const std::size_t i : stay) scaled.push_back(exponents[i]);
    open.keep(stay);
    const MatrixView<T, Space> D = open.R();
    if (how == Refine::gmres) {
      std::vector<double> tolerances;
      for (const std::size_t j : open.which())
        tolerances.push_back(to.extra ? 1e-4 : std::clamp(0.1 / now[j], 1e-10, 0.1));
      all.gmres_steps += correct_by_gmres(q, Phase::refine, factors, A, op, a_norm, D, tolerances);
    } else {
      in_parts(q, Phase::refine, D.rows(), D.cols(), teller.solve(all.updates), [&](std::int64_t j, std::int64_t some) {
        factors.apply(q, D.columns(j, some), D.columns(j, some), op);
      });
    }
    for (std::size_t i = 0; i < scaled.size(); ++i)
      if (const auto d = D.columns(std::int64_t(i), 1); scaled[i] != 0) scale<T>(q, scaled[i], d, d);
    if (to.extra) lasts = *column_norms<T>(q, D);
    open.update(D);
  }
}

}  // namespace lasolve
