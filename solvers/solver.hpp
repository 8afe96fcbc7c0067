// The solver at one place: picks the method, factors, applies, refines, checks and reports. Written once; the CPU and
// CUDA instantiations are in solvers/cpu/engine.cpp and solvers/cuda/engine.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/stopwatch.hpp"
#include "solvers/accuracy.hpp"
#include "solvers/engine.hpp"
#include "solvers/refine.hpp"

namespace lasolve {

/// Adds the phases since the last call to a report, and to its total the wall time that they took, which is their sum
/// where it is not given. The check is not part of the total.
template <class Place>
void take_times(Queue<Place>& q, Report& report, std::optional<double> wall_seconds = {}) {
  q.finish();
  const PhaseTimes times = q.take_times();
  report.phases += times;
  double sum = 0;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (Phase(p) != Phase::check) sum += times.seconds[p];
  report.total_seconds += wall_seconds.value_or(sum);
}

/// Makes a queue wait for the first columns of a matrix that is still arriving.
template <class Place>
using Await = std::function<void(Queue<Place>&, std::int64_t columns)>;

/// Factors of A in the precision asked for, and solves with them. A and all right-hand sides are at one place.
template <class T, class Place>
class Solver {
 public:
  Solver(Queue<Place>& q, const GemmBackend<Place>& gemm, Given<T, Place> given, const Options& options, Report start)
      : q_(q),
        gemm_(gemm),
        A_(given.A),
        memory_(std::move(given.memory)),
        options_(options),
        report_(std::move(start)) {
    require(A_.rows() == A_.cols(), "the matrix is not square");
    require(options.precision <= Precision::fp32, "factors are fp64 or fp32");
    require(options.precision != Precision::fp64 || std::is_same_v<T, double>, "fp64 factors of an fp32 matrix");
    require(options.block_size >= 0, "the block size is negative");
    const bool coarse = coarse_wanted();
    require(coarse ? bool(gemm.f32) : may_factor_as_A(),
            "this GEMM backend does not offer the precision of the factors");
    report_.n = A_.rows();
    report_.gemm = gemm.name;
    report_.refine = options.refine != Refine::automatic ? options.refine : coarse ? Refine::classical : Refine::none;
    if (in_place())
      require(!coarse && report_.refine == Refine::none, "factors in place of A leave nothing to refine with");
    else
      require_memory(coarse);
  }

  /// To be called once. With `await`, A is still arriving, and is factored as it comes; an automatic method is then the one
  /// that is `likely`, and if that was Cholesky in vain, LU when all is there.
  void factor(Await<Place> await = {}, Method likely = Method::automatic) {
    await_ = std::move(await);
    if (!await_) require_finite();
    if (in_place() && std::exchange(options_.check, false))
      report_.notes.push_back("the solution is not checked: A was overwritten with its factors");
    q_.phase(Phase::other);
    report_.method = await_ && options_.factorization == Method::automatic ? likely : options_.factorization;
    if (report_.method == Method::automatic)
      report_.method = may_be_positive_definite(q_, A_) ? Method::cholesky : Method::lu;
    if (!coarse_wanted()) return factor_in(full_);
    factor_in(coarse_);
    if (!report_.outcome.ok() && report_.refine != Refine::none && may_factor_as_A())
      fall_back("in fp32, " + report_.outcome.message());
    if (!report_.outcome.ok() && coarse_) report_.notes.push_back("this was found in fp32, to which A was rounded");
  }

  const Report& report() const { return report_; }
  /// Adds what another queue did for these factors.
  void spent(Phase phase, double seconds) { report_.phases.seconds_of(phase) += seconds; }

  /// X ← op(A)⁻¹ B. The phases and the total of the report are those of this solve.
  Report solve(MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op) {
    require(B.rows() == A_.rows() && X.rows() == A_.rows() && B.cols() == X.cols(),
            "the right-hand sides or the solutions have the wrong size");
    if (!report_.outcome.ok()) return without_times(B.cols());
    if (static_cast<const void*>(B.data()) == X.data() && !B.empty() &&
        (options_.check || report_.refine != Refine::none)) {
      q_.phase(Phase::other);
      Matrix<T, Place> kept(B.rows(), B.cols());  // B is read again when X is there
      convert(q_, B, kept.view());
      return solve(kept.view(), X, op);
    }
    Outcome outcome;
    int iterations = 0;
    if (coarse_ && !solve_with(*coarse_, B, X, op, iterations)) {
      if (may_factor_as_A())
        fall_back("refinement with fp32 factors stalled");
      else
        outcome = {Outcome::not_converged, iterations};
    }
    if (!coarse_ && full_ && !solve_with(*full_, B, X, op, iterations)) outcome = {Outcome::not_converged, iterations};
    Report report = without_times(B.cols());
    if (report.outcome.ok()) report.outcome = outcome;
    report.refine_iterations = iterations;
    if (options_.check && report_.outcome.ok()) check(B, X, op, report);
    take_times(q_, report);
    report.solve_seconds = report.phases.seconds_of(Phase::solve) + report.phases.seconds_of(Phase::refine);
    return report;
  }

 private:
  static constexpr double inf = std::numeric_limits<double>::infinity();

  Report without_times(std::int64_t nrhs) const {
    Report report = report_;
    report.nrhs = nrhs;
    report.phases = {};
    report.total_seconds = 0;
    return report;
  }

  void require_memory(bool coarse) const {
    const double n = double(A_.rows());
    const double wanted = n * n * (coarse ? sizeof(float) : sizeof(T));
    const auto free = Memory<Place>::available();
    if (wanted > double(free))
      throw OutOfMemory(std::is_same_v<Place, Cuda> ? "device" : "host", std::size_t(wanted), free);
  }

  bool in_place() const { return memory_.has_value(); }
  bool coarse_wanted() const { return std::is_same_v<T, double> && options_.precision == Precision::fp32; }

  /// Whether the backend offers the precision of A.
  bool may_factor_as_A() const { return bool(gemm_.template in<precision_of<T>>()); }

  void require_finite() {
    if (!options_.check || options_.allow_nonfinite) return;
    q_.phase(Phase::check);
    if (std::isfinite(norm(Op::none))) return;
    for (double norm : column_norms<T>(q_, A_))
      require(std::isfinite(norm), "the matrix has an entry that is NaN or infinite");
  }

  double norm(Op op) {
    double& norm = norms_[op == Op::none ? 0 : 1];
    if (norm < 0) norm = largest(row_sums_of_magnitudes<T>(q_, {A_, op}));
    return norm;
  }

  void fall_back(const std::string& why) {
    coarse_.reset();
    report_.notes.push_back(why + ": fp64 factors were used instead");
    factor_in(full_);
  }

  /// What factors that were given up have cost counts as other: the phases are those of the factors that are reported.
  void set_aside_phases() {
    for (Phase p : {Phase::panel, Phase::swap, Phase::trsm, Phase::gemm, Phase::solve, Phase::refine}) {
      report_.phases.seconds_of(Phase::other) += std::exchange(report_.phases.seconds_of(p), 0.0);
      report_.phases.flops[std::size_t(p)] = 0;
    }
  }

  /// Why LU has to take the place of a Cholesky that was not asked for by name; empty: it has not.
  std::string why_lu_instead(bool was_arriving) {
    if (report_.method != Method::cholesky || options_.factorization != Method::automatic) return "";
    if (was_arriving && !may_be_positive_definite(q_, A_)) return "symmetric at a first glance only";
    if (report_.outcome.kind != Outcome::not_positive_definite) return "";
    return "symmetric with a positive diagonal, but " + report_.outcome.message();
  }

  /// What the factors will be in: that of A, or new memory.
  template <class F>
  Matrix<F, Place> memory_for() {
    if constexpr (std::is_same_v<F, T>)
      if (in_place()) return std::move(*memory_);
    return Matrix<F, Place>(A_.rows(), A_.cols());
  }

  void choose_schedule(Precision precision) {
    const std::int64_t n = A_.rows();
    report_.schedule = options_.schedule != Schedule::automatic ? options_.schedule
                       : await_                                 ? Schedule::left_looking
                                                                : default_schedule(q_, report_.method);
    const std::int64_t nb = options_.block_size > 0
                                ? options_.block_size
                                : default_block_size(q_, report_.method, report_.schedule, precision, n);
    report_.block_size = std::min(nb, std::max<std::int64_t>(1, n));
  }

  /// Factors in the precision F; a Cholesky that was not asked for by name falls back to LU.
  template <class F>
  void factor_in(std::unique_ptr<Factors<F, Place>>& factors) {
    const double n = double(A_.rows()), flops = report_.method == Method::lu ? lu_flops(n) : cholesky_flops(n);
    choose_schedule(precision_of<F>);
    q_.phase(Phase::other);
    prepare<F>(q_, report_.method, A_.rows());
    prepare_products<F>(q_, gemm_, report_.method, report_.schedule, A_.rows(), report_.block_size);
    Matrix<F, Place> values = memory_for<F>();
    const Await<Place> await = std::exchange(await_, {});
    const bool upper = report_.method == Method::cholesky && options_.triangle == Uplo::upper;
    const bool as_it_comes = await && report_.schedule == Schedule::left_looking && !upper;  // rows come last
    const auto supply = [&](Queue<Place>& q, std::int64_t first, MatrixView<F, Place> columns) {
      await(q, first + columns.cols());
      q.phase(Phase::other);
      convert(q, A_.columns(first, columns.cols()), columns);
    };
    if (await && !as_it_comes) await(q_, A_.cols());
    if (!as_it_comes) convert(q_, A_, values.view());
    if (upper) mirror_upper(q_, values.view());
    try {
      factors = std::make_unique<Factors<F, Place>>(report_.method, std::move(values));
    } catch (...) {
      if (await) await(q_, A_.cols()), q_.finish();  // what is still to come may come to these values
      throw;
    }
    take_times(q_, report_);  // what was done until now is no progress
    set_aside_phases();
    if (options_.progress)
      q_.on_progress([this, flops](double done) { options_.progress(std::min(1.0, done / flops)); });
    const Stopwatch factoring;
    q_.phase(Phase::other);
    report_.outcome =
        factors->factor(q_, gemm_, report_.schedule, report_.block_size, as_it_comes ? supply : Supply<F, Place>());
    report_.factor_seconds = factoring.seconds();  // the outcome was waited for
    q_.finish();
    q_.on_progress({});
    report_.factor_gflops = report_.outcome.ok() ? flops * 1e-9 / report_.factor_seconds : 0;
    report_.precision = precision_of<F>;
    take_times(q_, report_, report_.factor_seconds);
    if (await) require_finite();
    const std::string why = why_lu_instead(bool(await));
    if (await) take_times(q_, report_);
    if (why.empty()) return;
    if (in_place())
      return report_.notes.push_back("A was overwritten, so that LU could not be tried; ask for LU by name");
    report_.notes.push_back(why + ": LU was used instead of Cholesky");
    report_.method = Method::lu;
    factors.reset();
    factor_in(factors);
  }

  /// Solves with these factors and refines if asked to; false when the refinement did not converge.
  template <class F>
  bool solve_with(Factors<F, Place>& factors, MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op,
                  int& iterations) {
    const bool in_place = std::is_same_v<F, T>;
    q_.phase(Phase::solve, 2.0 * double(B.rows()) * double(B.rows()) * double(B.cols()));
    Matrix<F, Place> D;
    if (!in_place || report_.refine != Refine::none) D = Matrix<F, Place>(B.rows(), B.cols());
    if constexpr (in_place) {
      convert(q_, B, X);
      factors.apply(q_, gemm_, X, op);
    } else {
      convert(q_, B, D.view());
      factors.apply(q_, gemm_, D.view(), op);
      convert<F>(q_, D.view(), X);
    }
    if (report_.refine == Refine::none) return true;
    q_.phase(Phase::refine);
    Matrix<T, Place> R(B.rows(), B.cols());
    const auto [updates, converged] = refine<T>(q_, gemm_, factors, {A_, op}, norm(op), B, X, R.view(), D.view());
    iterations = updates;
    return converged;
  }

  void check(MatrixView<const T, Place> B, MatrixView<T, Place> X, Op op, Report& report) {
    q_.phase(Phase::check);
    Matrix<T, Place> R(B.rows(), B.cols());
    residual<T>(q_, {A_, op}, X, B, R);
    const auto r = column_norms<T>(q_, R.view()), x = column_norms<T>(q_, X), b = column_norms<T>(q_, B);
    const bool as_fine_as_A = report.precision == precision_of<T> || report.refine != Refine::none;
    const bool passed = judge(report, backward_error(norm(op), r, x, b), as_fine_as_A ? epsilon<T> : epsilon<float>);
    if (report.outcome.kind == Outcome::not_converged &&
        passed) {  // at the limit of the precision there is no more to gain
      report.notes.push_back("refinement ended without meeting its own bound; the check passed");
      report.outcome = {};
    }
    if (!passed && options_.factorization == Method::cholesky && !may_be_positive_definite(q_, A_))
      report.notes.push_back("the matrix is not symmetric; Cholesky reads one of its triangles only");
  }

  Queue<Place>& q_;
  const GemmBackend<Place>& gemm_;
  MatrixView<const T, Place> A_;            // overwritten if in place
  std::optional<Matrix<T, Place>> memory_;  // that of A, handed over, until the factors have it
  Await<Place> await_;                      // until A is there
  Options options_;
  Report report_;
  double norms_[2] = {-1, -1};  // ‖A‖∞ and ‖Aᵀ‖∞ once known
  std::unique_ptr<Factors<T, Place>> full_;
  std::unique_ptr<Factors<float, Place>> coarse_;
};

}  // namespace lasolve
