// The solver at one place: has factors made, applies them, refines, checks and reports. Written once; the CPU and CUDA
// instantiations are in solvers/places/cpu/engine.cpp and solvers/places/cuda/engine.cu.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/named_range.hpp"
#include "solvers/driver/factoring.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/refine.hpp"

namespace lasolve {

/// Factors of A in the precision asked for, and solves with them. A and all right-hand sides are at one place. What throws
/// leaves the factors and their report as they were, and nothing under way.
template <class T, class Place>
class Solver {
 public:
  Solver(Queue<Place>& q, const GemmBackend<Place>& gemm, Given<T, Place> given, const Options& options, Report&& start)
      : q_(q), gemm_(gemm), factoring_(q, gemm, std::move(given), options), made_{std::move(start)} {
    factoring_.begin(made_.report);
  }

  /// To be called once: see Factoring::factors().
  void factor(Await<Place> await = {}, Method likely = Method::automatic, std::optional<Stopwatch> since = {}) {
    const NamedRange<Place> range("lasolve factor");
    const Settled settled(q_);
    Factored made = factoring_.factors(std::move(made_.report), std::move(await), likely, since);
    if (options_.condition && made.report.outcome.ok()) {
      rcond_of(made);
      take_times(q_, made.report);
    }
    made_ = std::move(made);
  }

  /// An estimate of 1 / (‖A‖₁‖A⁻¹‖₁), kept: see Factorization::rcond().
  double rcond() {
    const Settled settled(q_);
    if (made_.report.outcome.kind == Outcome::singular) return 0;
    if (!made_.report.outcome.ok()) return std::nan("");
    const double rcond = rcond_of(made_);
    take_times(q_, made_.report);
    return rcond;
  }

  /// To be called before the memory of A goes, which no solve reads again. rcond() then has what it needs.
  void release_A() {
    if (factoring_.in_place()) return;
    const Settled settled(q_);
    q_.phase(Phase::check);
    A_.norm(q_, Op::transpose);
    take_times(q_, made_.report);
  }

  const Report& report() const { return made_.report; }
  void ran_on(int threads) { made_.report.threads = threads; }
  /// Adds what another queue did for these factors.
  void spent(Phase phase, double seconds) { made_.report.phases.seconds_of(phase) += seconds; }

  /// X ← op(A)⁻¹ B, n × nrhs; X may be B. The phases and the total of the report are those of this solve, which began with `solving`.
  Report solve(MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op, Stopwatch solving = {}) {
    const NamedRange<Place> range("lasolve solve");
    if (!made_.report.outcome.ok()) return without_times(made_.report, B.cols());
    if (B.empty()) {  // there may be ever so many columns of no rows: they are not looked at
      Report report = without_times(made_.report, B.cols());
      if (options_.check) judge(report, 0, epsilon<T>);
      return report;
    }
    if (static_cast<const void*>(B.data()) == X.data() && (options_.check || made_.report.refine != Refine::none)) {
      Matrix<T, Place> kept(B.rows(), B.cols());  // B is read again when X is there
      const Settled settled(q_);
      q_.phase(Phase::other);
      convert(q_, B, kept.view());
      return solve(kept.view(), X, op, solving);
    }
    std::optional<Factored> replaced;
    const Settled settled(q_);
    Refinement solved = solve_with(made_, B, X, op);
    const double refining = solving.seconds();  // where it was refined, the last residual was waited for
    if (options_.check && (options_.condition || !solved.converged)) {
      q_.phase(Phase::check);
      require_finite_sides(*column_norms<T>(q_, B));  // before anything follows from them
    }
    if (!solved.converged && made_.is_coarse() && factoring_.may_be_as_fine_as_A()) {
      replaced = factoring_.fallen_back(Report(made_.report),
                                        std::string("refinement in ") + name_of(made_.report.precision) + " stalled");
      if (replaced->report.outcome.ok()) solved = solve_with(*replaced, B, X, op);
    }
    Factored& made = replaced ? *replaced : made_;
    const bool is_there = made.report.outcome.ok();
    if (is_there && options_.condition) rcond_of(made);
    Report report = without_times(made.report, B.cols());
    if (!replaced && made.report.refine != Refine::none) take_times(q_, report, refining);
    if (is_there && !solved.converged) report.outcome = {Outcome::not_converged, solved.updates};
    report.refine_iterations = solved.updates, report.refinement_residuals = std::move(solved.residuals);
    if (is_there && options_.check) check(made, B, X, op, report);
    if (is_there && options_.condition) judge_condition(report, roundoff_of_solutions<T>(report));
    take_times(q_, report);
    report.solve_seconds = report.phases.seconds_of(Phase::solve) + report.phases.seconds_of(Phase::refine);
    if (replaced) made_ = std::move(*replaced);  // only now, when nothing can throw
    return report;
  }

 private:
  using Factored = lasolve::Factored<T, Place>;

  double rcond_of(Factored& made) {
    Report& report = made.report;
    if (report.rcond) return *report.rcond;
    q_.phase(Phase::check);
    require(!factoring_.in_place() || A_.knows_norm(Op::transpose),
            "the norm of A is not known, which its factors have overwritten: ask for the condition in the options");
    const long double norm = A_.norm(q_, Op::transpose);
    report.rcond = made.with(gemm_, [&](auto& factors, const auto& gemm) {
      return reciprocal_condition(q_, gemm, factors, norm, teller_of(Step::condition));
    });
    report.digits = trusted_digits(*report.rcond, roundoff_of_solutions<T>(report));
    return *report.rcond;
  }

  Refinement solve_with(Factored& made, MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op) {
    return made.with(gemm_, [&](auto& factors, const auto& gemm) { return solve_with(gemm, factors, B, X, op); });
  }

  /// Solves with these factors and refines if asked to.
  template <class F>
  Refinement solve_with(const Gemm<F, Place>& gemm, Factors<F, Place>& factors, MatrixView<const T, Place> B,
                        MatrixView<T, Place> X, Op op) {
    constexpr bool in_place = std::is_same_v<F, T>;
    const bool refined = made_.report.refine != Refine::none;
    Matrix<F, Place> D;
    Matrix<T, Place> R;
    const Settled settled(q_);
    q_.phase(Phase::solve, 2.0 * double(B.rows()) * double(B.rows()) * double(B.cols()));
    if (!in_place || refined) D = Matrix<F, Place>(B.rows(), B.cols());
    if constexpr (!in_place) convert(q_, B, D.view());
    by_sides(q_, Phase::solve, B.rows(), B.cols(), teller_of(Step::solve), [&](std::int64_t j, std::int64_t some) {
      if constexpr (in_place)
        factors.apply(q_, gemm, B.columns(j, some), X.columns(j, some), op);
      else
        factors.apply(q_, gemm, D.view().columns(j, some), D.view().columns(j, some), op);
    });
    if constexpr (!in_place) convert<F>(q_, D.view(), X);
    if (!refined) return {0, true};
    q_.phase(Phase::refine);
    R = Matrix<T, Place>(B.rows(), B.cols());
    return refine<T>(q_, gemm, factors, A_.with(op), op, A_.norm(q_, op), B, X, R.view(), D.view());
  }

  /// `b`: the largest magnitudes of the columns of B.
  void require_finite_sides(const std::vector<double>& b) const {
    lasolve::require_finite(options_.allow_nonfinite || std::isfinite(largest(b)), "the right-hand sides have");
  }

  /// That B is finite is part of it, so that all is waited for at once.
  void check(Factored& made, MatrixView<const T, Place> B, MatrixView<const T, Place> X, Op op, Report& report) {
    q_.phase(Phase::check);
    Matrix<T, Place> R(B.rows(), B.cols());
    const Settled settled(q_);
    A_.measure(q_, op);
    const auto norm_of_A = [&] { return A_.norm(q_, op); };
    const auto [exponents, b, x, r] =
        residual_by_sides<T, Place>(q_, Phase::check, teller_of(Step::check), A_.with(op), norm_of_A, X, B, R.view());
    require_finite_sides(b);
    const double u = roundoff_of_solutions<T>(report);
    const bool passed = judge(report, backward_error(norm_of_A(), r, x, b), u);
    if (options_.condition && *report.rcond < u && passed &&
        A_.rowwise_backward_error(q_, op, R, exponents, x, B) < hpl_threshold * double(report.n) * u) {
      const double of_scaled_rows = made.with(gemm_, [&](auto& f, const auto& gemm) {
        return reciprocal_condition_of_scaled_rows(q_, gemm, f, A_.row_sums(q_, op), op);
      });
      if (of_scaled_rows >= u) report.rcond_of_scaled_rows = of_scaled_rows;
    }
    if (report.outcome.kind == Outcome::not_converged &&
        passed) {  // at the limit of the precision there is no more to gain
      report.notes.push_back("refinement ended without meeting its own bound; the check passed");
      report.outcome = {};
    }
    if (!passed && options_.factorization == Method::cholesky && A_.is_whole() &&
        !*may_be_positive_definite(q_, A_.view()))
      report.notes.push_back("the matrix is not symmetric; Cholesky reads one of its triangles only");
  }

  Queue<Place>& q_;
  const GemmBackend<Place>& gemm_;
  Factoring<T, Place> factoring_;
  KnownMatrix<T, Place>& A_ = factoring_.A;
  const Options& options_ = factoring_.options;
  Factored made_;
};

}  // namespace lasolve
