// Iterative refinement: factors in one precision, residuals and updates in another.
#pragma once

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solvers/factors.hpp"
#include "solvers/refine/excess_of_inverse.hpp"
#include "solvers/refine/gmres.hpp"
#include "solvers/refine/in_parts.hpp"
#include "solvers/refine/open_right_hand_sides.hpp"
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
  bool tests =
      false;  ///< beside them, how fast errors vanish: ExcessOfInverse. Classical, and not with extra residuals
};

struct Refinement {
  int updates = 0, gmres_steps = 0;
  std::vector<std::size_t> stalled = {};  ///< the right-hand sides that did not converge
  std::vector<double> residuals = {};     ///< before the first update, and after each: see Report
  std::vector<std::vector<double>> history = {};
  std::optional<double> excess_of_inverse = {};  ///< where that is tested
  /// Of the solutions as they were left, unless residuals were in twice the precision; without exponents.
  std::optional<ResidualNorms> last = {};

  bool converged() const { return stalled.empty(); }
};

/// One that took over where another stalled.
inline Refinement merged(Refinement&& first, Refinement&& second) {
  first.updates += second.updates, first.gmres_steps += second.gmres_steps;
  first.residuals.insert(first.residuals.end(), second.residuals.begin(), second.residuals.end());
  std::move(second.history.begin(), second.history.end(), std::back_inserter(first.history));
  if (first.last && second.last)
    for (const std::size_t j : first.stalled)
      first.last->b[j] = second.last->b[j], first.last->x[j] = second.last->x[j], first.last->r[j] = second.last->r[j];
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
  /// A residual is known, in units of where it ends.
  void learn(int update, long double worst) {
    if (std::isfinite(before_) && worst > 1 && worst < before_)
      expected_ = update + std::max(1.0, double(std::log(worst) / std::log(before_ / worst)));
    before_ = worst;
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
  long double before_ = std::numeric_limits<long double>::infinity();
};

/// How far right-hand sides are from where their refinement ends: at 1.
template <class T>
class Distances {
 public:
  /// `a_norm`: ‖op(A)‖∞, of order n.
  Distances(const RefineTo& to, long double a_norm, std::int64_t n)
      : to_(to), a_norm_(a_norm), bound_(a_norm * epsilon<T> * std::sqrt(double(n))) {}

  /// In units of the residual that is small enough. Of no solution yet: of one as small as can be.
  double of_residual(long double r, double x, double b) const {
    if (r == 0) return 0;
    if (to_.accuracy > 0) return double(r / (to_.accuracy * (a_norm_ * x + b)));
    return double(r / (bound_ * (x == 0 ? b / a_norm_ : x)));
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

/// How the refinement of right-hand sides goes, from residual to residual.
template <class T>
class Course {
 public:
  Course(Refine how, const RefineTo& to, long double a_norm, std::int64_t n, std::int64_t nrhs)
      : how_(how),
        to_(to),
        distances_(to, a_norm, n),
        before_(std::size_t(nrhs), std::numeric_limits<double>::infinity()),
        now_(before_.size(), 0),
        residuals_(now_),
        last_{{}, now_, now_, std::vector<long double>(now_.size(), 0)} {}

  /// Residuals of the right-hand sides `which`, and how large their last updates were, if there were any: the positions of those that are to
  /// be updated again.
  std::vector<std::size_t> after(std::span<const std::size_t> which, const ResidualNorms& of,
                                 const std::vector<double>& lasts, Refinement& its) {
    std::vector<std::size_t> stay;
    if (to_.history > 0) its.history.emplace_back(to_.history, std::nan(""));
    for (std::size_t i = 0; i < which.size(); ++i) {
      const std::size_t j = which[i];
      last_.b[j] = of.b[i], last_.x[j] = of.x[i], last_.r[j] = of.r[i];
      residuals_[j] = distances_.of_residual(of.r[i], of.x[i], of.b[i]);
      if (j < to_.history) its.history.back()[j] = distances_.residual(residuals_[j]);
      const auto last = lasts.empty() ? std::nullopt : std::optional(lasts[i]);
      now_[j] = to_.extra ? distances_.of_update(of.r[i], of.x[i], last) : residuals_[j];
      if (distances_.ends(now_[j])) continue;
      if (may_gain(how_, its.updates, now_[j], before_[j]))
        stay.push_back(i);
      else
        its.stalled.push_back(j);
      before_[j] = now_[j];
    }
    if (const double residual = distances_.residual(largest(residuals_)); std::isfinite(residual))
      its.residuals.push_back(residual);
    return stay;
  }
  /// In units of where it ends.
  double worst() const { return largest(now_); }
  /// The norms of each right-hand side that were given last.
  const ResidualNorms& last() const { return last_; }
  /// To what part of its right-hand side GMRES solves for an update. By less than four digits of M⁻¹r, r itself may not become smaller.
  double tolerance(std::size_t j) const { return to_.extra ? 1e-4 : std::clamp(0.1 / now_[j], 1e-10, 1e-4); }

 private:
  const Refine how_;
  const RefineTo to_;
  const Distances<T> distances_;
  std::vector<double> before_, now_, residuals_;
  ResidualNorms last_;
};

/// Coarse factors take fewer exponents than T has. Where r, or the x that is to be corrected, is out of their range, r is divided by the size of x.
/// Where there is no x yet, r is brought to √‖A‖, and so x to about 1/√‖A‖.
class RangeOfFactors {
 public:
  RangeOfFactors(const Exponents& its, const Exponents& of_T, long double a_norm)
      : its_(its),
        of_A_(a_norm > 0 && std::isfinite(a_norm) ? std::ilogb(a_norm) : 0),
        is_narrow_(its.most < of_T.most) {}

  /// By which exponent residuals of a size are to be divided: 0 within the range.
  int exponent(long double r, double x) const {
    if (!(is_narrow_ && r > 0 && std::isfinite(r) && std::isfinite(x))) return 0;
    const int of_r = std::ilogb(r), of_x = x > 0 ? std::ilogb(x) : of_r - of_A_;
    if (has(of_r) && has(of_x)) return 0;
    return x > 0 ? of_x : of_r - of_A_ / 2;
  }

 private:
  bool has(int exponent) const {
    constexpr int room = 32;  // for larger and smaller ones
    return its_.least + room <= exponent && exponent <= its_.most - room;
  }

  Exponents its_;
  int of_A_;
  bool is_narrow_;
};

/// Right-hand sides that factors did not take as they are have no solutions yet: their first update is one.
template <class T, class Space>
void begin_anew_out_of_range(Queue<Space>& q, const RangeOfFactors& range, const OpenRightHandSides<T, Space>& open,
                             ResidualNorms& norms) {
  for (std::size_t i = 0; i < open.count(); ++i) {
    const bool is_there = norms.x[i] > 0 && std::isfinite(norms.x[i]) && std::isfinite(norms.r[i]);
    if (is_there || range.exponent(norms.b[i], 0) == 0) continue;
    const auto j = std::int64_t(i);
    fill(q, T(0), open.X().columns(j, 1));
    convert<T>(q, open.B().columns(j, 1), open.R().columns(j, 1));
    norms.exponents[i] = 0, norms.x[i] = 0, norms.r[i] = norms.b[i];
  }
}

/// Residuals, with the exponents of `norms`, become numbers that factors take. The exponents by which updates are to be scaled back.
template <class T, class Space>
std::vector<int> bring_into_range(Queue<Space>& q, const RangeOfFactors& range, const ResidualNorms& norms,
                                  const std::vector<std::size_t>& which, MatrixView<T, Space> R) {
  std::vector<int> scaled;
  for (const std::size_t i : which) {
    const int before = norms.exponents[i], e = range.exponent(norms.r[i], norms.x[i]);
    if (const auto r = R.columns(std::int64_t(scaled.size()), 1); e != 0) scale<T>(q, before - e, r, r);
    scaled.push_back(e != 0 ? e : before);
  }
  return scaled;
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
  Refinement all;
  Course<T> course(how, to, a_norm, B.rows(), B.cols());
  RefinementTeller teller(progress_of(Step::refine));
  OpenRightHandSides<T, Space> open(q, B, X, R, to.extra, std::move(which));
  const RangeOfFactors range(factors.exponents(), exponents_of<T>, a_norm);
  ExcessOfInverse excess(B.rows());
  if (to.tests) open.add_errors();
  std::vector<double> lasts;
  for (;;) {
    const std::size_t count = open.count(), columns = open.which().size();
    bool errors_stay = count < columns;
    if (count == 0 && errors_stay) errors_stay = excess.goes_on(largest(*column_norms<T>(q, std::as_const(open).X())));
    if (count == 0 && !errors_stay) break;
    ResidualNorms norms = residual_in_parts<T, Space>(
        q, Phase::refine, count > 0 ? teller.residual(all.updates) : nullptr, A, [=] { return a_norm; }, open.X(),
        open.B(), open.R(), open.tail());
    std::vector<std::size_t> stay;
    if (count > 0) {
      if (all.updates == 0) begin_anew_out_of_range(q, range, open, norms);
      stay = course.after(std::span(open.which()).first(count), norms, lasts, all);
      errors_stay = errors_stay && excess.goes_on(largest(std::span<const double>(norms.x).subspan(count)));
      teller.learn(all.updates, course.worst());
    }
    if (errors_stay)
      for (std::size_t i = count; i < columns; ++i) stay.push_back(i);
    if (stay.empty()) break;
    open.keep(stay);
    const MatrixView<T, Space> D = open.R();
    const std::vector<int> scaled = bring_into_range<T>(q, range, norms, stay, D);
    if (how == Refine::gmres) {
      std::vector<double> tolerances;
      for (const std::size_t j : open.which()) tolerances.push_back(course.tolerance(j));
      all.gmres_steps += correct_by_gmres(q, Phase::refine, factors, A, op, a_norm, D, tolerances);
    } else {
      in_parts(
          q, Phase::refine, D.rows(), D.cols(), open.count() > 0 ? teller.solve(all.updates) : nullptr,
          [&](std::int64_t j, std::int64_t some) { factors.apply(q, D.columns(j, some), D.columns(j, some), op); });
    }
    for (std::size_t i = 0; i < scaled.size(); ++i)
      if (const auto d = D.columns(std::int64_t(i), 1); scaled[i] != 0) scale<T>(q, scaled[i], d, d);
    if (to.extra) lasts = *column_norms<T>(q, D);
    open.update(D);
    all.updates += open.count() > 0;
  }
  open.leave();
  all.excess_of_inverse = excess.value();
  if (!to.extra) all.last = course.last();
  return all;
}

}  // namespace lasolve
