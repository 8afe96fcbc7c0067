// The solver at one place: picks the method, factors, applies, refines, checks and reports. Written once; the CPU and
// CUDA instantiations are in solvers/places/cpu/engine.cpp and solvers/places/cuda/engine.cu.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/choose.hpp"
#include "core/fetched.hpp"
#include "core/named_range.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/blocking.hpp"
#include "solvers/driver/engine.hpp"
#include "solvers/driver/factored.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/driver/times.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/known_matrix.hpp"
#include "solvers/refine/refine.hpp"
#include "solvers/refine/settled.hpp"

namespace lasolve {

/// Makes a queue wait for the first columns of a matrix that is still arriving.
template <class Place>
using Await = std::function<void(Queue<Place>&, std::int64_t columns)>;

/// Factors of A in the precision asked for, and solves with them. A and all right-hand sides are at one place. What throws
/// leaves the factors and their report as they were, and nothing under way.
template <class T, class Place>
class Solver {
 public:
  Solver(Queue<Place>& q, const GemmBackend<Place>& gemm, Given<T, Place> given, const Options& options, Report&& start)
      : q_(q),
        gemm_(gemm),
        A_(given.A, options.triangle),
        memory_(std::move(given.memory)),
        options_(options),
        wanted_(solve_precision(options.precision, precision_of<T>)),
        made_{std::move(start)} {
    require(given.A.rows() == given.A.cols(), "the matrix is not square");
    require_offered(gemm, options, wanted_.products);
    const bool coarse = is_coarser_than<T>(wanted_.name);
    Report& report = made_.report;
    report.n = A_.order();
    report.gemm = gemm.name;
    report.refine = options.refine != Refine::automatic ? options.refine : coarse ? Refine::classical : Refine::none;
    if (in_place())
      require(!coarse && report.refine == Refine::none, "factors in place of A leave nothing to refine with");
    else
      require_memory();
  }

  /// To be called once. With `await`, A is still arriving, and is factored as it comes; an automatic method is then the one
  /// that is `likely`, and if that was Cholesky in vain, LU when all is there.
  void factor(Await<Place> await = {}, Method likely = Method::automatic) {
    const NamedRange<Place> range("lasolve factor");
    const Settled settled(q_);
    await_ = std::move(await);
    const bool picks = options_.factorization == Method::automatic && may_go_by_schedule(options_, Method::cholesky);
    tries_ = picks && !await_ && !in_place() && !options_.progress && !task_watcher() && A_.is_whole() &&
             A_.order() <= q_.tuning().cholesky_tried_order;
    likely = !picks ? Method::lu : A_.is_whole() ? likely : Method::cholesky;
    const bool may_be_positive = !await_ && (tries_ || look_at_A(picks));
    Report report = std::move(made_.report);
    if (in_place() && std::exchange(options_.check, false)) report.notes.push_back(not_checked_in_place);
    report.method = await_ && options_.factorization == Method::automatic ? likely : options_.factorization;
    if (report.method == Method::automatic) report.method = may_be_positive ? Method::cholesky : Method::lu;
    Factored made = factored(std::move(report), wanted_);
    if (made.is_coarse() && !made.report.outcome.ok()) {
      const std::string in = std::string("in ") + name_of(made.report.precision);
      if (made.report.refine != Refine::none && may_factor_as_A()) {
        made.release();
        const std::string why = in + ", " + made.report.outcome.message();
        made = fallen_back(std::move(made.report), why);
      } else {
        made.report.notes.push_back("this was found " + in + ", which is coarser than A");
      }
    }
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
    if (in_place()) return;
    const Settled settled(q_);
    q_.phase(Phase::check);
    A_.norm(q_, Op::transpose);
    take_times(q_, made_.report);
  }

  const Report& report() const { return made_.report; }
  void ran_on(int threads) { made_.report.threads = threads; }
  /// Adds what another queue did for these factors.
  void spent(Phase phase, double seconds) { made_.report.phases.seconds_of(phase) += seconds; }

  /// X ← op(A)⁻¹ B, n × nrhs; X may be B. The phases and the total of the report are those of this solve.
  Report solve(MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op) {
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
      return solve(kept.view(), X, op);
    }
    std::optional<Factored> replaced;
    const Settled settled(q_);
    const Stopwatch solving;
    Refinement solved = solve_with(made_, B, X, op);
    const double refining = solving.seconds();  // where it was refined, the last residual was waited for
    if (options_.check && (options_.condition || !solved.converged)) {
      q_.phase(Phase::check);
      require_finite_sides(*column_norms<T>(q_, B));  // before anything follows from them
    }
    if (!solved.converged && made_.is_coarse() && may_factor_as_A()) {
      replaced = fallen_back(Report(made_.report),
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

  void require_memory() const {
    const double n = double(A_.order()), wanted = n * n * bytes_of(wanted_.storage);
    const auto free = Memory<Place>::available(std::size_t(wanted));
    if (wanted > double(free))
      throw OutOfMemory(std::is_same_v<Place, Cuda> ? "device" : "host", std::size_t(wanted), free);
  }

  bool in_place() const { return memory_.has_value(); }

  /// Whether the backend offers the precision of A.
  bool may_factor_as_A() const { return offers(gemm_, precision_of<T>); }

  bool requires_finite() const { return options_.check && !options_.allow_nonfinite; }
  /// Of which A the norm is needed later, too.
  Op op_of_norm() const { return in_place() ? Op::transpose : Op::none; }

  void require_finite() {
    if (!requires_finite()) return;
    q_.phase(Phase::check);
    require(std::isfinite(A_.norm(q_, op_of_norm())), "the matrix has an entry that is NaN or infinite");
  }

  /// Before A is factored, with one wait for all that is asked of it. Whether it may be positive definite, where `picks`.
  bool look_at_A(bool picks) {
    const bool measures = requires_finite() || in_place();  // in place for rcond(): n² reads, before A is overwritten
    Fetched<bool> may_be_positive = picks;                  // what a triangle lacks is the caller's word
    q_.phase(Phase::check);
    if (measures) A_.measure(q_, op_of_norm());
    q_.phase(Phase::other);
    if (picks && A_.is_whole()) may_be_positive = may_be_positive_definite(q_, A_.view());
    if (measures) A_.norm(q_, op_of_norm());
    require_finite();
    const bool may_be = *may_be_positive;
    if (measures || picks) take_times(q_, made_.report);
    return may_be;
  }

  double rcond_of(Factored& made) {
    Report& report = made.report;
    if (report.rcond) return *report.rcond;
    q_.phase(Phase::check);
    require(!in_place() || A_.knows_norm(Op::transpose),
            "the norm of the matrix is not known: it was overwritten while it arrived; see Options::condition");
    const long double norm = A_.norm(q_, Op::transpose);
    report.rcond = made.with(gemm_, [&](auto& factors, const auto& gemm) {
      return reciprocal_condition(q_, gemm, factors, norm, teller_of(Step::condition));
    });
    report.digits = trusted_digits(*report.rcond, roundoff_of_solutions<T>(report));
    return *report.rcond;
  }

  /// Factors in the precision of A, given the report of coarser ones.
  Factored fallen_back(Report&& report, const std::string& why) {
    const SolvePrecision own = solve_precision(Precision::automatic, precision_of<T>);
    report.notes.push_back(why + ": " + name_of(own.name) + " factors were used instead");
    return factored(std::move(report), own);
  }

  /// Why LU has to take the place of a Cholesky that was not asked for by name; empty: it has not.
  std::string why_lu_instead(const Report& report, bool was_arriving) {
    if (report.method != Method::cholesky || options_.factorization != Method::automatic) return "";
    if (was_arriving && A_.is_whole() && !*may_be_positive_definite(q_, A_.view()))
      return "symmetric at a first glance only";
    if (report.outcome.kind != Outcome::not_positive_definite) return "";
    return A_.is_whole() ? why_no_cholesky(report.outcome) : report.outcome.message();
  }

  /// What the factors will be in: that of A, or new memory.
  template <class F>
  Matrix<F, Place> memory_for() {
    if constexpr (std::is_same_v<F, T>)
      if (in_place()) return std::move(*memory_);
    return Matrix<F, Place>(A_.order(), A_.order());
  }

  /// Factors in a precision, in the type that they are stored in.
  Factored factored(Report&& report, const SolvePrecision& precision) {
    note_precision<T>(report, precision);
    return precision.storage == precision_of<T> ? factored_in<T>(std::move(report))
                                                : factored_in<float>(std::move(report));
  }

  /// The same, stored in F; a Cholesky that was not asked for by name falls back to LU. `report` holds what is known so far.
  template <class F>
  Factored factored_in(Report&& report) {
    const Gemm<F, Place> gemm(gemm_, report.products);
    const double n = double(A_.order()), flops = report.method == Method::lu ? lu_flops(n) : cholesky_flops(n);
    const Blocking by = blocking_of(q_, options_, report.method, bool(await_), report.storage, A_.order());
    report.schedule = by.schedule, report.block_size = by.columns;
    report.rcond = report.digits = {};
    q_.phase(Phase::other);
    prepare<F>(q_, report.method, A_.order());
    Matrix<F, Place> values = memory_for<F>();
    const auto bytes = std::int64_t(values.bytes());
    std::unique_ptr<Factors<F, Place>> factors;
    const Await<Place> await = std::exchange(await_, {});
    const Settled settled(q_, [&] {
      if (await) await(q_, A_.order());  // what is still to come may come to these values
    });
    const bool mirrors = must_mirror(report.method, options_.triangle);
    const bool as_it_comes = await && report.schedule == Schedule::left_looking && !mirrors;  // rows come last
    prepare_products<F>(q_, gemm, report.method, report.schedule, A_.order(), report.block_size, as_it_comes);
    const auto supply = [&](Queue<Place>& q, std::int64_t first, MatrixView<F, Place> columns) {
      await(q, first + columns.cols());
      q.phase(Phase::other);
      convert(q, A_.view().columns(first, columns.cols()), columns);
    };
    if (await && !as_it_comes) await(q_, A_.order());
    const bool tries = std::exchange(tries_, false);
    if (!as_it_comes && !tries) convert(q_, A_.view(), values.view());
    if (mirrors) mirror(q_, values.view(), options_.triangle);
    factors = std::make_unique<Factors<F, Place>>(report.method, std::move(values));
    std::optional<Fetched<Look>> look;
    if (tries) look = factors->take(q_, A_.view());
    const TaskWatcher* const watcher = task_watcher();
    if (options_.progress || watcher || bytes >= q_.tuning().waited_copy_bytes)
      take_times(q_, report);  // what was done until now is no progress, nor is it part of factor_seconds
    set_aside_phases(report);
    if (options_.progress)
      q_.on_progress([this, flops](double done) { options_.progress(std::min(1.0, done / flops)); });
    std::optional<TaskClock<Place>> clock;
    if (watcher) clock.emplace(q_, *watcher);
    const Stopwatch factoring;
    q_.phase(Phase::other);
    factors->factor(q_, gemm, report.schedule, report.block_size, as_it_comes ? supply : Supply<F, Place>(),
                    clock ? &*clock : nullptr);
    auto ended = factors->ending(q_);
    if (look) A_.measured(q_, op_of_norm(), (*look)->row_sums);
    const bool is_given_up = look && !(*look)->may_be_positive_definite;
    const Ending ending = *ended;
    report.outcome = factors->outcome_of(ending, report.outcome.of_rows);
    report.factor_seconds = factoring.seconds();  // the outcome was waited for
    tell_products(gemm, report);
    q_.finish();
    q_.on_progress({});
    if (clock) clock->tell();
    report.factor_gflops = report.outcome.ok() ? flops * 1e-9 / report.factor_seconds : 0;
    take_times(q_, report, report.factor_seconds);
    if (report.outcome.ok()) note_pivots<T>(factors->pivots_of(ending), report);
    if (await || look) require_finite();
    const std::string why = is_given_up ? "" : why_lu_instead(report, bool(await));
    take_times(q_, report);
    if (is_given_up || !why.empty()) {
      if (!in_place()) {
        if (!why.empty()) report.notes.push_back(lu_was_used(why));
        report.method = Method::lu;
        factors.reset();
        return factored_in<F>(std::move(report));
      }
      report.notes.push_back("A was overwritten, so that LU could not be tried; ask for LU by name");
    }
    return {std::move(report), std::move(factors)};
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
    require(options_.allow_nonfinite || std::isfinite(largest(b)),
            "the right-hand sides have an entry that is NaN or infinite");
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
  KnownMatrix<T, Place> A_;                 // overwritten if in place
  std::optional<Matrix<T, Place>> memory_;  // that of A, handed over, until the factors have it
  Await<Place> await_;                      // until A is there
  bool tries_ = false;                      // Cholesky, while A is looked at
  Options options_;
  SolvePrecision wanted_;
  Factored made_;
};

}  // namespace lasolve
