// How far solutions can be trusted: the condition of A, and bounds of their errors.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/driver/factoring.hpp"
#include "solvers/refine/bounds.hpp"
#include "solvers/refine/refine.hpp"
#include "solvers/refine/refined_factors.hpp"
#include "solvers/refine/scaling.hpp"

namespace lasolve {

/// op(A) X ≈ B, with the residuals R times 2^−exponents, one for each column.
template <class T, class Space>
struct SolvedSystem {
  Op op;
  MatrixView<const T, Space> B, X, R;
  std::vector<int> exponents;
};

template <class T, class Space>
class Judge {
 public:
  using Factored = lasolve::Factored<T, Space>;

  Judge(Queue<Space>& q, Factoring<T, Space>& factoring) : q_(q), factoring_(factoring) {}

  /// Whether solutions are judged by the condition of A, which is estimated where it is not known.
  bool is_judged(const Factored& made) {
    const Recipe& by = made.recipe;
    const Facts& facts = made.facts;
    if (by.condition != Estimate::in_doubt) return by.condition == Estimate::always;
    if (facts.rcond) return true;
    return by.estimates_condition(facts.range_of_pivots, by.precision.unit_roundoff()) && may_know_norm();
  }

  /// Whether the factors are tested, if they are asked to, before they may tell the condition of A. Let M = A + E. For coarse factors
  /// ‖E‖ is about u ‖A‖ times the growth. They are tested unless ten times that is below 1/‖M⁻¹‖₁.
  bool is_to_be_tested(Factored& made) {
    const Facts& facts = made.facts;
    if (!made.recipe.is_coarse() || facts.excess_of_inverse) return false;
    const bool is_known = !record_of(made.recipe.method).may_grow || facts.growth;
    const double grown = facts.growth ? std::max(1.0, facts.growth->of_elements) : 1;
    return !is_known || of_factors(made).rcond <= 10 * made.recipe.precision.unit_roundoff() * grown;
  }

  /// Where A⁻¹ may exceed the inverse that factors apply by more than this, rcond is divided by that: it may then be below the true value.
  static constexpr double most_excess = 5;
  double rcond_of(Factored& made) {
    if (made.facts.rcond) return *made.facts.rcond;
    ConditionEstimate its = of_factors(made);
    q_.phase(Phase::check);
    if (std::optional<RefinedFactors<T, Space>> refined = refined_factors(made)) {
      its = condition_estimate(q_, *refined, A_.norm(q_, Op::transpose));
      made.facts.rcond_is_sure = refined->has_solved_all();
      if (!made.facts.rcond_is_sure) made.facts.notes.push_back(condition_is_not_sure);
    } else if (const double excess = made.facts.excess_of_inverse.value_or(1); excess > most_excess) {
      its.rcond /= excess;
    }
    made.facts.inverse = its.inverse;
    return made.facts.rcond.emplace(its.rcond);
  }

  /// Error bounds of solutions that passed their check, `at_once` columns sharing one.
  void bound(Factored& made, std::int64_t at_once, const SolvedSystem<T, Space>& its, SolveFacts& facts) {
    const Op op = its.op;
    std::optional<RefinedFactors<T, Space>> refined = refined_factors(made);
    Factors<T, Space>& factors = refined ? *refined : *made.factors;
    constexpr double no_bound = std::numeric_limits<double>::infinity();
    ErrorBounds worst;
    for (std::int64_t j = 0; j < its.B.cols(); j += at_once) {
      RowsOfBounds rows(its.B.rows());
      for (std::int64_t k = j; k < j + at_once; ++k)
        rows.add<T, Space>(q_, its.X.columns(k, 1), its.B.columns(k, 1), its.R.columns(k, 1),
                           its.exponents[std::size_t(k)]);
      const ErrorBounds some =
          error_bounds(q_, factors, A_.with(op), op, A_.norm(q_, op), made.facts.inverse.of(op), rows);
      worst = {larger(worst.forward, some.forward), larger(worst.componentwise, some.componentwise)};
    }
    worst.forward *= !refined                                                ? allowance(made, facts)
                     : refined->has_solved_all() && made.facts.rcond_is_sure ? 1
                                                                             : no_bound;
    if (facts.extra_residuals && facts.outcome.ok() && made.facts.rcond_is_sure)
      worst.forward = std::min(worst.forward, bound_of_extra_residuals<T>(its.B.rows(), *made.facts.rcond));
    if (worst.forward < 1) facts.forward_error_bound = worst.forward;
    if (at_once == 1) facts.componentwise_backward_error = worst.componentwise;
  }

  /// Conditions with rows, and then with columns scaled, used if rcond leaves no digit of the solutions.
  void judge_scaled(Factored& made, const SolvedSystem<T, Space>& its, SolveFacts& facts) {
    Scaling scaling{A_.row_sums(q_, its.op).wide()};
    if (judge_scaled(made, scaling, facts.rcond_of_scaled_rows, its, facts.roundoff)) return;
    scaling = scaling_of_columns(q_, A_.with(its.op), scaling.row_sums);
    judge_scaled(made, scaling, facts.rcond_of_scaled_columns, its, facts.roundoff);
  }

 private:
  /// That of M, which the factors multiply to.
  ConditionEstimate of_factors(Factored& made) {
    if (made.facts.of_factors) return *made.facts.of_factors;
    q_.phase(Phase::check);
    require(may_know_norm(),
            "the norm of A is not known, which its factors have overwritten: ask for the condition in the options");
    const long double norm = A_.norm(q_, Op::transpose);
    if (!factoring_.in_place() && made.recipe.scaled == Scaled::none && factoring_.is_too_small())
      made = factoring_.scaled_up(made);
    return made.facts.of_factors.emplace(condition_estimate(q_, *made.factors, norm, progress_of(Step::condition)));
  }
  /// In place, ‖A‖₁ is known only where it was taken before, and if it is finite.
  bool may_know_norm() {
    return !factoring_.in_place() || (A_.knows_norm(Op::transpose) && std::isfinite(A_.norm(q_, Op::transpose)));
  }

  /// Whether the factors may replace A in estimates of ‖A⁻¹‖.
  bool may_replace_A(Factored& made) {
    if (is_to_be_tested(made)) {
      const MatrixView<T, Space> none(nullptr, A_.order(), 0, std::max<std::int64_t>(1, A_.order()));
      made.facts.excess_of_inverse =
          refine<T>(q_, Refine::classical, *made.factors, A_.with(Op::none), Op::none, A_.norm(q_, Op::none),
                    {.tests = true}, MatrixView<const T, Space>(none), none, none, {})
              .excess_of_inverse;
    }
    return std::isfinite(made.facts.excess_of_inverse.value_or(1));
  }
  /// Factors corrected by GMRES, if they are not good enough alone.
  std::optional<RefinedFactors<T, Space>> refined_factors(Factored& made) {
    if (may_replace_A(made)) return {};
    return std::optional<RefinedFactors<T, Space>>(std::in_place, *made.factors,
                                                   std::array{A_.with(Op::none), A_.with(Op::conjugate_transpose)},
                                                   std::array{A_.norm(q_, Op::none), A_.norm(q_, Op::transpose)});
  }
  /// The factor on a bound from M: the result of the test, if there was one. Else, for solutions that were not refined to the last digits, an
  /// allowance for ‖E‖ of about (n + 1) u ‖A‖, at most 2.
  double allowance(const Factored& made, const SolveFacts& facts) {
    if (made.facts.excess_of_inverse) return *made.facts.excess_of_inverse;
    if (!made.recipe.is_coarse() || (facts.refine != Refine::none && made.recipe.accuracy == 0)) return 1;
    return 1 / (1 - std::min(0.5, double(A_.order() + 1) * made.recipe.precision.unit_roundoff() / *made.facts.rcond));
  }

  /// `rcond` ← the condition with scaled rows and columns, where that counts: each row of the residual is small for itself, and at
  /// least one digit is left.
  bool judge_scaled(Factored& made, const Scaling& by, std::optional<double>& rcond, const SolvedSystem<T, Space>& of,
                    double u) {
    const double error = backward_error_of_rows<T, Space>(q_, by, of.R, of.exponents, of.X, of.B);
    if (!(error < hpl_threshold * double(of.B.rows()) * u)) return false;
    std::optional<RefinedFactors<T, Space>> refined = refined_factors(made);
    const double its = reciprocal_condition_of<T, Space>(q_, refined ? *refined : *made.factors, by, of.op);
    if (its >= 10 * u) rcond = its;
    return rcond.has_value();
  }

  Queue<Space>& q_;
  Factoring<T, Space>& factoring_;
  KnownMatrix<T, Space>& A_ = factoring_.A;
};

}  // namespace lasolve
