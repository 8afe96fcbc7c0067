// The solver at one place: picks the method, factors, applies, refines, checks and reports. Written once; the CPU and
// CUDA instantiations are in solvers/cpu/engine.cpp and solvers/cuda/engine.cu.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/stopwatch.hpp"
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

/// Factors of A in the precision asked for, and solves with them. A and all right-hand sides are at one place.
template <class T, class Place>
class Solver {
 public:
  Solver(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<const T, Place> A, const Options& options,
         Report start)
      : q_(q), gemm_(gemm), A_(A), options_(options), report_(std::move(start)) {
    require(A.rows() == A.cols(), "the matrix is not square");
    require(options.precision != Precision::fp64 || std::is_same_v<T, double>, "fp64 factors of an fp32 matrix");
    require(options.block_size >= 0, "the block size is negative");
    const bool coarse = std::is_same_v<T, double> && options.precision == Precision::fp32;
    report_.n = A.rows();
    report_.gemm = gemm.name;
    report_.refine = options.refine != Refine::automatic ? options.refine : coarse ? Refine::classical : Refine::none;
    require_memory(coarse);
    if (options.check && !options.allow_nonfinite) require_finite();
    factor(coarse);
  }

  const Report& report() const { return report_; }

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
    if (coarse_ && !solve_with(*coarse_, B, X, op, iterations)) fall_back("refinement with fp32 factors stalled");
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

  template <class F>
  static constexpr Precision precision_of = std::is_same_v<F, double> ? Precision::fp64 : Precision::fp32;

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

  void require_finite() {
    q_.phase(Phase::check);
    norms_[0] = row_sum_norm<T>(q_, A_);
    if (std::isfinite(norms_[0])) return;
    for (double norm : column_norms<T>(q_, A_))
      require(std::isfinite(norm), "the matrix has an entry that is NaN or infinite");
  }

  double norm(Op op) {
    double& norm = norms_[op == Op::none ? 0 : 1];
    if (norm < 0) norm = row_sum_norm<T>(q_, {A_, op});
    return norm;
  }

  void factor(bool coarse) {
    q_.phase(Phase::other);
    report_.method = options_.factorization;
    if (report_.method == Method::automatic)
      report_.method = may_be_positive_definite(q_, A_) ? Method::cholesky : Method::lu;
    if (coarse) {
      factor_in(coarse_);
      if (!report_.outcome.ok() && report_.refine != Refine::none) fall_back("in fp32, " + report_.outcome.message());
      if (!report_.outcome.ok() && coarse_) report_.notes.push_back("this was found in fp32, to which A was rounded");
    } else {
      factor_in(full_);
    }
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

  /// Factors in the precision F; a Cholesky that was not asked for by name falls back to LU.
  template <class F>
  void factor_in(std::unique_ptr<Factors<F, Place>>& factors) {
    const double n = double(A_.rows()), flops = report_.method == Method::lu ? lu_flops(n) : cholesky_flops(n);
    const std::int64_t nb =
        options_.block_size > 0 ? options_.block_size : default_block_size(q_, report_.method, A_.rows());
    report_.block_size = std::min(nb, std::max<std::int64_t>(1, A_.rows()));
    q_.phase(Phase::other);
    factors = std::make_unique<Factors<F, Place>>(q_, A_, report_.method);
    take_times(q_, report_);  // what was done until now is no progress
    set_aside_phases();
    if (options_.progress)
      q_.on_progress([this, flops](double done) { options_.progress(std::min(1.0, done / flops)); });
    const Stopwatch factoring;
    q_.phase(Phase::other);
    report_.outcome = factors->factor(q_, gemm_, report_.block_size);
    report_.factor_seconds =
        factoring.seconds();  // the outcome has been waited for; to read the clocks of phases is no work
    q_.finish();
    q_.on_progress({});
    report_.factor_gflops = report_.outcome.ok() ? flops * 1e-9 / report_.factor_seconds : 0;
    report_.precision = precision_of<F>;
    take_times(q_, report_, report_.factor_seconds);
    if (report_.outcome.kind != Outcome::not_positive_definite || options_.factorization != Method::automatic) return;
    report_.notes.push_back("symmetric with a positive diagonal, but " + report_.outcome.message() +
                            ": LU was used instead of Cholesky");
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
    double worst = 0;
    for (std::size_t j = 0; j < r.size(); ++j) {
      const double size = norm(op) * x[j] + b[j];  // where it overflows, nothing is known
      const double backward = r[j] == 0 ? 0 : std::isfinite(size) ? r[j] / size : std::nan("");
      if (!(backward <= worst) && worst == worst) worst = backward;  // a NaN stays
    }
    const bool as_fine_as_A = report.precision == precision_of<T> || report.refine != Refine::none;
    const double eps = as_fine_as_A ? epsilon<T> : epsilon<float>;
    report.backward_error = worst;
    report.hpl_residual = worst / (eps * double(std::max<std::int64_t>(1, A_.rows())));
    const bool passed = *report.hpl_residual < hpl_threshold;
    if (report.outcome.ok() && !passed) report.outcome = {Outcome::inaccurate, 0};
    if (report.outcome.kind == Outcome::not_converged &&
        passed) {  // at the limit of the precision there is no more to gain
      report.notes.push_back("refinement ended without meeting its own bound; the check passed");
      report.outcome = {};
    }
    if (!passed && options_.factorization == Method::cholesky && !may_be_positive_definite(q_, A_))
      report.notes.push_back("the matrix is not symmetric; Cholesky reads its lower triangle only");
  }

  Queue<Place>& q_;
  const GemmBackend<Place>& gemm_;
  MatrixView<const T, Place> A_;
  Options options_;
  Report report_;
  double norms_[2] = {-1, -1};  // ‖A‖∞ and ‖Aᵀ‖∞ once known
  std::unique_ptr<Factors<T, Place>> full_;
  std::unique_ptr<Factors<float, Place>> coarse_;
};

}  // namespace lasolve
