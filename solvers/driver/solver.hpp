// The solver on one device: has factors made, applies them, refines and checks. Written once; the CPU and CUDA
// instantiations are in solvers/devices/cpu/engine.cpp and solvers/devices/cuda/engine.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/named_range.hpp"
#include "solvers/driver/factoring.hpp"
#include "solvers/driver/judge.hpp"
#include "solvers/driver/triangles.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/refine.hpp"

namespace lasolve {

/// Factors of A in the precision asked for, and solves with them. A and all right-hand sides are on one device. What throws
/// leaves the factors and their report as they were, and nothing under way.
template <class T, class Space>
class Solver {
 public:
  Solver(Queue<Space>& q, const GemmBackend<Space>& gemm, Given<T, Space> given, const Recipes& recipes,
         const Options& options, Facts&& start)
      : q_(q), gemm_(gemm), factoring_(q, gemm, std::move(given), recipes, options), made_{{}, std::move(start)} {
    made_.facts.n = A_.order(), made_.facts.gemm = gemm.name;
    if (options.check && !recipe_.check) made_.facts.notes.push_back(not_checked_in_place);
  }

  /// To be called once: see Factoring::factors().
  void factor(Await<Space> await = {}, std::optional<Stopwatch> since = {}) {
    const NamedRange<Space> range("lasolve factor");
    const Settled settled(q_);
    Factored made = factoring_.factors(std::move(made_.facts), std::move(await), since);
    if (made.facts.outcome.ok() && judge_.is_judged(made)) {
      leaves_condition_ = tests_beside(made, made.recipe);
      if (!leaves_condition_) judge_.rcond_of(made);
      made.facts.times.take(q_);
    }
    if constexpr (std::is_same_v<Space, Cpu>)
      made.facts.threads = q_.threads_used();  // some may not have been had, or needed
    made_ = std::move(made);
    write_report();
  }

  /// Whether the condition of A is left until solutions are refined, or somebody asks.
  bool leaves_condition() const { return leaves_condition_; }
  /// To be called before the report is read then.
  void complete_report() {
    if (leaves_condition_ && made_.facts.outcome.ok() && !made_.facts.rcond) rcond();
  }

  /// An estimate of 1 / (‖A‖₁‖A⁻¹‖₁), kept: see Factorization::rcond().
  double rcond() {
    const Settled settled(q_);
    if (made_.facts.outcome.kind == Outcome::singular) return 0;
    if (!made_.facts.outcome.ok()) return std::nan("");
    const double rcond = judge_.rcond_of(made_);
    made_.facts.times.take(q_);
    write_report();
    return rcond;
  }

  void with_triangles(const std::function<void(Triangles<T>&)>& use) {
    const Settled settled(q_);
    TrianglesOf<T, Space> triangles(q_, gemm_, made_, [&]() -> std::optional<Factored> {
      const auto finer = factoring_.after(made_.recipe, Reason::too_coarse);
      return finer ? std::optional(factoring_.fallen_back(made_.recipe, *finer, made_.facts, "")) : std::nullopt;
    });
    use(triangles);
    q_.take_times();
  }

  /// To be called before the memory of A goes, which no solve reads again. rcond() then has what it needs.
  void release_A() {
    if (factoring_.in_place()) return;
    const Settled settled(q_);
    q_.phase(Phase::check);
    A_.norm(q_, Op::transpose);
    if (made_.recipe.scaled == Scaled::none && factoring_.is_too_small()) made_ = factoring_.scaled_up(made_);
    made_.facts.times.take(q_);
    write_report();
  }

  const Report& report() const { return report_; }
  const Recipe& recipe() const { return made_.recipe; }
  /// Adds what another queue did for these factors.
  void spent(Phase phase, double seconds) {
    made_.facts.times.phases.seconds_of(phase) += seconds;
    write_report();
  }

  /// X ← op(A)⁻¹ B, n × nrhs; X may be B, and is all NaN without a solution. The phases and the total of the report are those of this
  /// solve, which began with `solving`.
  Report solve(MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op, Stopwatch solving = {}) {
    const NamedRange<Space> range("lasolve solve");
    if (B.empty() || !made_.facts.outcome.ok()) {
      complete_report();
      SolveFacts facts = solve_begun(made_, B.cols());
      const Settled settled(q_);
      if (!facts.outcome.ok())
        leave_no_solution(X, facts.times);
      else if (recipe_.check)
        facts.backward_error = 0;
      return report_of(report_, std::move(facts));
    }
    const SolveRecipe by = resolve(made_.recipe, {.n = B.rows(),
                                                  .nrhs = B.cols(),
                                                  .overwritten = static_cast<const void*>(B.data()) == X.data(),
                                                  .watched = bool(progress_of(Step::solve))});
    tell_recipe(by);
    if (!by.keeps_B) return solve_out_of_place(by, B, X, op, solving);
    Matrix<T, Space> kept(B.rows(), B.cols());
    const Settled settled(q_);
    q_.phase(Phase::other);
    convert(q_, B, kept.view());
    return solve_out_of_place(by, kept.view(), X, op, solving);
  }

 private:
  using Factored = lasolve::Factored<T, Space>;

  /// The same, where B is to be read again.
  Report solve_out_of_place(const SolveRecipe& by, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op,
                            Stopwatch solving) {
    std::optional<Factored> replaced;
    const Settled settled(q_);
    Refinement refined = solve_with(made_, B, X, op);
    const double refining = solving.seconds();  // where it was refined, the last residual was waited for
    if (recipe_.check && (judge_.is_judged(made_) || !refined.converged())) {
      q_.phase(Phase::check);
      require_finite_rhs(*column_norms<T>(q_, B));  // before anything follows from them
    }
    const auto climb_where_it_stalled = [&] {
      for (const Reason why : {Reason::elements_grew, Reason::too_coarse}) {
        const Factored& stalled = replaced ? *replaced : made_;
        const Recipe* const next = refined.converged() ? nullptr : factoring_.after(stalled.recipe, why);
        if (!next) continue;
        const std::string in = name_of(stalled.recipe.precision.name);
        replaced = replaced_by(*next, replaced, "refinement in " + in + " stalled");
        if (replaced->facts.outcome.ok()) refined = solve_with(*replaced, B, X, op);
      }
    };
    climb_where_it_stalled();
    SolveFacts facts = judged(replaced ? *replaced : made_, by, std::move(refined), B, X, op,
                              replaced || !made_.recipe.refines() ? std::nullopt : std::optional(refining));
    if (const auto partial = factoring_.after((replaced ? *replaced : made_).recipe, Reason::elements_grew);
        partial && facts.outcome.kind == Outcome::inaccurate) {
      replaced = replaced_by(*partial, replaced, "a solution failed its check");
      facts = judged(*replaced, by, replaced->facts.outcome.ok() ? solve_with(*replaced, B, X, op) : Refinement(), B, X,
                     op);
    }
    const Factored& tried = replaced ? *replaced : made_;
    if (recipe_.reads_A_again() && tried.facts.outcome.ok() && !facts.outcome.ok()) {  // else A may be gone
      Times spent;  // which an attempt that has no memory would forget
      spent.take(q_);
      if (std::optional<Factored> scaled = factoring_.equilibrated(tried, facts.notes)) {
        replaced = std::move(scaled);
        refined = solve_with(*replaced, B, X, op);
        climb_where_it_stalled();
        facts = judged(*replaced, by, std::move(refined), B, X, op);
      }
      facts.times.add(spent.phases);
    }
    Factored& made = replaced ? *replaced : made_;
    if (made.facts.outcome.ok())
      facts.times.take(q_);
    else
      leave_no_solution(X, facts.times);
    std::optional<Report> anew;  // of the factors, where there are others, or a condition number
    if (replaced || made.facts.rcond) lasolve::write_report(anew.emplace(), made.recipe, Facts(made.facts));
    Report report = report_of(anew ? *anew : report_, std::move(facts));
    if (replaced) made_ = std::move(*replaced);  // only now, when nothing can throw
    if (anew) std::swap(report_, *anew);
    return report;
  }

  /// Factors by the next recipe, in the place of those that replaced the first, or beside these.
  Factored replaced_by(const Recipe& next, std::optional<Factored>& replaced, const std::string& why) {
    const Factored& tried = replaced ? *replaced : made_;
    const Recipe recipe = tried.recipe;
    Facts facts = tried.facts;
    replaced.reset();
    return factoring_.fallen_back(recipe, next, std::move(facts), why);
  }

  /// What is to be said of X, which was solved for with these factors. `refining`: the wall time until it was refined.
  SolveFacts judged(Factored& made, const SolveRecipe& by, Refinement&& refined, MatrixView<const T, Space> B,
                    MatrixView<T, Space> X, Op op, std::optional<double> refining = {}) {
    const bool is_there = made.facts.outcome.ok(), is_judged_by_condition = is_there && judge_.is_judged(made);
    if (is_judged_by_condition) judge_.rcond_of(made);
    SolveFacts facts = solve_begun(made, B.cols());
    if (refining) facts.times.take(q_, *refining);
    if (is_there && !refined.converged()) facts.outcome = {Outcome::not_converged, refined.updates};
    std::optional<ResidualNorms> last = std::move(refined.last);
    keep(std::move(refined), facts);
    if (is_there && recipe_.check) check(made, by, B, X, op, facts, std::move(last));
    if (is_judged_by_condition && facts.outcome.ok() && facts.rcond_that_counts(*made.facts.rcond) < facts.roundoff)
      facts.outcome = {Outcome::ill_conditioned, 0};
    return facts;
  }

  void write_report() { lasolve::write_report(report_, made_.recipe, Facts(made_.facts)); }
  static SolveFacts solve_begun(const Factored& made, std::int64_t nrhs) {
    const Recipe& by = made.recipe;
    SolveFacts facts{made.facts.outcome, nrhs, by.refine, by.roundoff_of_solutions()};
    facts.extra_residuals = by.extra;
    return facts;
  }
  static void keep(Refinement&& refined, SolveFacts& facts) {
    facts.refine_iterations = refined.updates, facts.gmres_steps = refined.gmres_steps;
    if (refined.gmres_steps > 0) facts.refine = Refine::gmres;
    facts.refinement_residuals = std::move(refined.residuals), facts.residual_history = std::move(refined.history);
  }

  /// X ← NaN: what was there before is no solution.
  void leave_no_solution(MatrixView<T, Space> X, Times& times) {
    if (X.empty()) return;  // there may be ever so many columns of no rows
    q_.phase(Phase::other);
    fill(q_, T(std::numeric_limits<real_of<T>>::quiet_NaN()), X);
    times.take(q_);
  }

  /// Solves with these factors and refines if asked to.
  Refinement solve_with(Factored& made, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) {
    Matrix<T, Space> R;
    const Settled settled(q_);
    q_.phase(Phase::solve, 2.0 * double(B.rows()) * double(B.rows()) * double(B.cols()));
    in_parts(q_, Phase::solve, B.rows(), B.cols(), progress_of(Step::solve), [&](std::int64_t j, std::int64_t some) {
      made.factors->apply(q_, B.columns(j, some), X.columns(j, some), op);
    });
    if (!made.recipe.refines()) return {};
    R = Matrix<T, Space>(B.rows(), B.cols());
    return refined_with(made, made.recipe, B, X, op, R.view());
  }

  /// With more right-hand sides a test alone costs little, and room for copies of all much.
  static constexpr std::int64_t most_beside_a_test = 16;
  /// Whether factors are tested beside the right-hand sides that are refined, for error bounds of these.
  bool tests_beside(Factored& made, const Recipe& recipe) {
    return recipe.bounds && recipe.refine == Refine::classical && !recipe.extra && judge_.is_to_be_tested(made);
  }

  /// Refines X by a recipe. R is workspace. Right-hand sides that stall begin anew by what comes after it, with the same factors.
  Refinement refined_with(Factored& made, const Recipe& recipe, MatrixView<const T, Space> B, MatrixView<T, Space> X,
                          Op op, MatrixView<T, Space> R) {
    constexpr std::int64_t most_kept =
        (1 << 20) / 62;  // numbers of a history, of two refinements with 31 residuals each
    const std::int64_t history = recipe.history ? std::min(B.cols(), most_kept) : 0;
    const RefineTo alone{recipe.accuracy, recipe.extra, std::size_t(history)};
    RefineTo first_to = alone;
    first_to.tests = B.cols() <= most_beside_a_test && tests_beside(made, recipe);
    q_.phase(Phase::refine);
    const auto by = [&](Refine how, const RefineTo& end, std::vector<std::size_t> which) {
      return refine<T>(q_, how, *made.factors, A_.with(op), op, A_.norm(q_, op), end, B, X, R, std::move(which));
    };
    std::vector<std::size_t> all(std::size_t(B.cols()));
    std::iota(all.begin(), all.end(), 0);
    factoring_.tell(recipe);
    Refinement first = by(recipe.refine, first_to, std::move(all));
    if (first_to.tests) made.facts.excess_of_inverse = first.excess_of_inverse;
    const std::optional<Recipe> next = recipe.after_stall();
    if (first.converged() || !next) return first;
    factoring_.tell(*next);
    for (const std::size_t j : first.stalled)
      made.factors->apply_in_T(q_, B.columns(std::int64_t(j), 1), X.columns(std::int64_t(j), 1), op);
    return merged(std::move(first), by(next->refine, alone, first.stalled));
  }

  /// `b`: the largest magnitudes of the columns of B.
  void require_finite_rhs(const std::vector<double>& b) const {
    lasolve::require_finite(!recipe_.finite || std::isfinite(largest(b)), "the right-hand sides have");
  }

  /// That B is finite is part of it, so that all is waited for at once. Where refinement has just computed the residuals of X, `last` has their norms.
  void check(Factored& made, const SolveRecipe& by, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op,
             SolveFacts& facts, std::optional<ResidualNorms>&& last) {
    q_.phase(Phase::check);
    Matrix<T, Space> R;
    const Settled settled(q_);
    A_.measure(q_, op);
    const auto norm_of_A = [&] { return A_.norm(q_, op); };
    const double u = facts.roundoff;
    const auto room = [&] {
      if (R.cols() == 0) R = Matrix<T, Space>(B.rows(), B.cols());
      return R.view();
    };
    const auto look = [&] {
      return residual_in_parts<T, Space>(q_, Phase::check, progress_of(Step::check), A_.with(op), norm_of_A, X, B,
                                         room());
    };
    const auto judged = [&](const ResidualNorms& of) {
      const double error = backward_error(norm_of_A(), of.r, of.x, of.b);
      facts.backward_error = error;
      const bool asked = recipe_.accuracy > 0, passed = asked ? error <= recipe_.accuracy : passes(error, B.rows(), u);
      if (facts.outcome.ok() && !passed)
        facts.outcome = {asked ? Outcome::accuracy_not_reached : Outcome::inaccurate, 0};
      return passed;
    };
    ResidualNorms norms = last && by.bounded_at_once == 0 ? *std::move(last) : look();
    require_finite_rhs(norms.b);
    bool passed = judged(norms);
    if (const std::optional<Recipe> next = passed ? std::nullopt : mending(made, facts)) {
      facts.refine = next->refine;
      keep(refined_with(made, *next, B, X, op, room()), facts);
      q_.phase(Phase::check);
      facts.outcome = made.facts.outcome;
      passed = judged(norms = look());
    }
    const bool leaves_no_digit = judge_.is_judged(made) && passed && *made.facts.rcond < u;
    if (leaves_no_digit && R.cols() == 0) norms = look();
    const SolvedSystem<T, Space> solved{op, B, X, R.view(), std::move(norms.exponents)};
    if (leaves_no_digit) judge_.judge_scaled(made, solved, facts);
    if (by.bounded_at_once > 0 && passed) judge_.bound(made, by.bounded_at_once, solved, facts);
    if (facts.outcome.kind == Outcome::not_converged &&
        passed) {  // at the limit of the precision there is no more to gain
      facts.notes.push_back("refinement ended without meeting its own bound; the check passed");
      facts.outcome = {};
    }
    if (!passed && record_of(made.recipe.method).is_symmetric && A_.is_whole() &&
        !*may_be_positive_definite(q_, A_.view()))
      facts.outcome = {Outcome::not_symmetric, 0};
  }

  /// What refines solutions that miss the accuracy which was asked for, or failed a check by no more than elements grew in an LU, which is
  /// said. By more, something else is wrong, as the backend, which nothing must hide.
  std::optional<Recipe> mending(Factored& made, SolveFacts& facts) {
    const std::optional<Recipe> next = made.recipe.after_inaccuracy();
    if (recipe_.accuracy > 0) return next;
    if (!record_of(made.recipe.method).may_grow || made.recipe.is_coarse()) return {};
    const auto sizes = made.factors->sizes(q_);
    if (!sizes) return {};
    facts.growth = growth_of(q_, A_, made.factors->scales(), *sizes);
    const double grown = facts.growth->of_elements,
                 hpl = hpl_residual(*facts.backward_error, A_.order(), facts.roundoff);
    if (!(hpl <= grown)) return {};
    facts.notes.push_back(elements_grew(grown, hpl, next.has_value()) +
                          (next || made.recipe.refines() ? "" : "; refinement may mend that"));
    return next;
  }

  Queue<Space>& q_;
  const GemmBackend<Space>& gemm_;
  Factoring<T, Space> factoring_;
  KnownMatrix<T, Space>& A_ = factoring_.A;
  Judge<T, Space> judge_{q_, factoring_};
  const Recipe& recipe_ = factoring_.first();
  bool leaves_condition_ = false;
  Factored made_;
  Report report_;  // of the factors
};

}  // namespace lasolve
