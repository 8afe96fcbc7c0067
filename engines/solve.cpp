#include "engines/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "core/stopwatch.hpp"
#include "engines/factors.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/method.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/refine.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/refine/scaling.hpp"

namespace lasolve::engines {

namespace {

/// With what a solve is tried.
struct Attempt {
  Method method;
  Precision precision;
  std::optional<Scales> scales = {};  ///< of rows and columns of A
};

/// By columns: the largest magnitudes of B, X and the residual.
struct Sizes {
  std::vector<double> b, x;
  std::vector<long double> r;
  std::vector<int> exponents;  ///< R is 2^−exponent times the residual
};

/// By columns.
std::vector<double> largest_magnitudes(MatrixView<const double> X) {
  std::vector<double> all(std::size_t(X.cols()), 0.0);
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) all[std::size_t(j)] = larger(all[std::size_t(j)], std::abs(X(i, j)));
  return all;
}

class Solve {
 public:
  Solve(const System& system, Distributed<double>& X)
      : system_(system), engine_(system.engine), q_(std::max(1, system.options.threads)), X_(X) {}

  Report report() &&;

 private:
  bool tried(const Attempt&);
  std::optional<Attempt> after(const Attempt&);
  bool has_room_for_fp64();
  bool refine(const Factors&, double accuracy);
  Sizes residual(Distributed<double>* R);
  void check(const Factors&);
  void judge_by_condition(const Factors&);
  bool judge_scaled(const Factors&, const Scaling&, std::optional<double>& rcond);
  void apply(const Factors&, int exponent, MatrixView<double> X, Op op);
  std::optional<Scales> scales_for(Method, bool always);
  bool passes() const;
  bool is_fp32_refined(const Attempt& a) const {
    return a.precision != Precision::fp64 && system_.options.refine != Refine::none;
  }
  double roundoff() const {
    return unit_roundoff_of(report_.refine == Refine::none ? report_.precision : Precision::fp64);
  }
  /// Seconds since the last call, when all ranks are here; what follows is on the clock.
  double lap() {
    double nothing = 0;
    engine_.sum({&nothing, 1});
    return clock_.lap();
  }
  double& seconds_of(Phase p) { return report_.phases.seconds_of(p); }

  const System& system_;
  Engine& engine_;
  Queue<Cpu> q_;
  Distributed<double>& X_;
  Distributed<double> ones_;  // A·1, where no right-hand sides were given
  const Distributed<double>* B_ = nullptr;
  FactsOfA facts_;
  Stopwatch clock_;
  Report report_;
};

/// R ← 2^−e (B − op(A) X), where that is wanted. B and X are whole on each rank, some columns at a time.
Sizes Solve::residual(Distributed<double>* R) {
  Sizes sizes;
  const std::int64_t n = system_.A.n();
  for_strips(n, X_.cols(), [&](std::int64_t first, std::int64_t count) {
    Matrix<double> x = gathered(engine_, X_, first, count), r = gathered(engine_, *B_, first, count);
    const std::vector<double> norms_x = largest_magnitudes(x.view()), norms_b = largest_magnitudes(r.view());
    const std::vector<int> exponents = exponents_within_range<double>(facts_.norm, norms_x, norms_b);
    for (std::int64_t j = 0; j < count; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        const int e = exponents[std::size_t(j)];
        if (e != 0) x(i, j) = std::ldexp(x(i, j), -e), r(i, j) = std::ldexp(r(i, j), -e);
        if (engine_.ranks().rank != 0) r(i, j) = 0;
      }
    subtract_product(engine_, q_, system_.A, system_.op, x, r);
    const std::vector<long double> wide = unscaled(largest_magnitudes(r.view()), exponents);
    sizes.b.insert(sizes.b.end(), norms_b.begin(), norms_b.end());
    sizes.x.insert(sizes.x.end(), norms_x.begin(), norms_x.end());
    sizes.r.insert(sizes.r.end(), wide.begin(), wide.end());
    sizes.exponents.insert(sizes.exponents.end(), exponents.begin(), exponents.end());
    if (R) keep_own(r, first, *R);
  });
  return sizes;
}

/// X ← X + inv(op(A)) (B − op(A) X), as lasolve::refine() does it; false where a column stalls.
bool Solve::refine(const Factors& factors, double accuracy) {
  constexpr int most_updates = 30;
  lap();
  const Distances<double> distances({.accuracy = accuracy}, facts_.norm, system_.A.n());
  const auto columns = std::size_t(X_.cols());
  std::vector<double> before(columns, std::numeric_limits<double>::infinity());
  std::vector<char> open(columns, true);
  bool stalled = false;
  report_.refine = Refine::classical;
  for (int updates = 0;; ++updates) {
    Distributed<double> R(X_.layout());
    const Sizes sizes = residual(&R);
    double worst = 0;
    bool any = false;
    for (std::size_t j = 0; j < columns; ++j) {
      if (!open[j]) continue;
      const double now = distances.of_residual(sizes.r[j], sizes.x[j], sizes.b[j]);
      worst = larger(worst, now);
      const bool goes_on = !distances.ends(now) && now < before[j] / 2 && updates < most_updates;
      stalled |= !distances.ends(now) && !goes_on;
      open[j] = goes_on, before[j] = now, any |= goes_on;
    }
    if (const double residual = distances.residual(worst); std::isfinite(residual))
      report_.refinement_residuals.push_back(residual);
    if (!any) break;
    ++report_.refine_iterations;
    factors.apply(system_.op, R);
    for (std::int64_t at = 0; at < X_.layout().cols.count(); ++at) {
      const auto j = std::size_t(X_.layout().cols.index_at(at));
      if (!open[j]) continue;
      for (std::int64_t i = 0; i < X_.layout().rows.count(); ++i)
        X_.local()(i, at) += std::ldexp(R.local()(i, at), sizes.exponents[j]);
    }
  }
  seconds_of(Phase::refine) += lap();
  return !stalled;
}

bool Solve::passes() const {
  const double error = *report_.backward_error, accuracy = system_.options.accuracy;
  return accuracy > 0 ? error <= accuracy : *report_.hpl_residual < hpl_threshold;
}

/// Measures the backward error; a solution with fine factors that fails is refined, but not where another matrix was factored.
void Solve::check(const Factors& factors) {
  const auto measure = [&] {
    lap();
    const Sizes sizes = residual(nullptr);
    report_.backward_error = backward_error(facts_.norm, sizes.r, sizes.x, sizes.b);
    report_.hpl_residual = hpl_residual(*report_.backward_error, system_.A.n(), roundoff());
    seconds_of(Phase::check) += lap();
  };
  measure();
  const bool is_of_A = facts_.is_symmetric || !record_of(report_.method).is_symmetric;
  if (!passes() && is_of_A && report_.refine == Refine::none && system_.options.refine != Refine::none) {
    const double before = *report_.hpl_residual;
    refine(factors, system_.options.accuracy);
    measure();
    report_.notes.push_back(fmt::format("the HPL check was {:.1e}: the solution was refined", before));
  }
  if (passes()) return;
  const bool misses_accuracy = system_.options.accuracy > 0 && *report_.hpl_residual < hpl_threshold;
  report_.outcome = {misses_accuracy ? Outcome::accuracy_not_reached : Outcome::inaccurate, 0};
}

/// X ← op(A)⁻¹ 2^exponent X, where X is whole on each rank.
void Solve::apply(const Factors& factors, int exponent, MatrixView<double> X, Op op) {
  for (std::int64_t j = 0; j < X.cols(); ++j)
    for (std::int64_t i = 0; i < X.rows(); ++i) X(i, j) = std::ldexp(X(i, j), exponent);
  Distributed<double> here(layout_of(engine_.ranks(), X.rows(), X.cols(), system_.A.layout().rows.block));
  keep_own(X, 0, here);
  factors.apply(op, here);
  copy_on_host<double>(gathered(engine_, here, 0, X.cols()), X);
}

void Solve::judge_by_condition(const Factors& factors) {
  lap();
  const auto by_factors = [&](int exponent, MatrixView<double> X, Op op) { apply(factors, exponent, X, op); };
  report_.rcond = reciprocal_condition(system_.A.n(), facts_.one_norm, exponents_of<double>, by_factors);
  double counts = *report_.rcond;
  if (counts < roundoff() && system_.options.check) {
    Scaling scaling{facts_.row_sums};
    if (judge_scaled(factors, scaling, report_.rcond_of_scaled_rows)) {
      counts = *report_.rcond_of_scaled_rows;
    } else {
      scaling = scaling_of_columns(
          facts_.row_sums, [&](auto f) { for_each_magnitude(system_.A, system_.op, f); }, SeenByAll(engine_));
      if (judge_scaled(factors, scaling, report_.rcond_of_scaled_columns)) counts = *report_.rcond_of_scaled_columns;
    }
  }
  if (counts < roundoff()) report_.outcome = {Outcome::ill_conditioned, 0};
  report_.digits = trusted_digits(counts, roundoff());
  seconds_of(Phase::check) += lap();
}

/// As lasolve::Solver::judge_scaled() does it: the condition with rows, and columns, scaled, where each row of the residual is small for
/// itself, and at least one digit is left.
bool Solve::judge_scaled(const Factors& factors, const Scaling& by, std::optional<double>& rcond) {
  Distributed<double> R(X_.layout());
  const Sizes sizes = residual(&R);
  double error = 0;
  for_strips(system_.A.n(), X_.cols(), [&](std::int64_t first, std::int64_t count) {
    const Matrix<double> r = gathered(engine_, R, first, count), x = gathered(engine_, X_, first, count),
                         b = gathered(engine_, *B_, first, count);
    for (std::int64_t j = 0; j < count; ++j)
      error = larger(error,
                     backward_error_of_rows<double>(by, r.view().columns(j, 1), sizes.exponents[std::size_t(first + j)],
                                                    x.view().columns(j, 1), b.view().columns(j, 1)));
  });
  if (!(error < hpl_threshold * double(system_.A.n()) * roundoff())) return false;
  const double its = reciprocal_condition_of<double>(
      exponents_of<double>, by, system_.op,
      [&](int exponent, MatrixView<double> X, Op op) { apply(factors, exponent, X, op); });
  if (its >= 10 * roundoff()) rcond = its;
  return rcond.has_value();
}

std::optional<Scales> Solve::scales_for(Method method, bool always) {
  return scales_of(engine_, system_.A, record_of(method).is_symmetric, always);
}

/// Whether there is nothing more to try.
bool Solve::tried(const Attempt& by) {
  const Options& options = system_.options;
  report_.method = by.method;
  report_.pivoting = record_of(by.method).pivotings.front();
  report_.precision = report_.storage = report_.products = by.precision;
  report_.refine = Refine::none;
  report_.backward_error.reset(), report_.hpl_residual.reset();
  report_.refine_iterations = 0, report_.refinement_residuals.clear();
  lap();
  report_.equilibration = by.scales ? by.scales->kind() : Equilibration::none;
  const Factors factors(engine_, system_.A, by.method, by.precision, facts_.one_norm, by.scales.value_or(Scales()));
  const double seconds = lap();
  report_.total_seconds += seconds;
  report_.factor_seconds = factors.seconds();
  seconds_of(Phase::other) += seconds - factors.seconds();  // A was copied
  report_.outcome = factors.outcome();
  if (!report_.outcome.ok()) return false;
  report_.factor_gflops = record_of(by.method).flops(double(system_.A.n())) * 1e-9 / factors.seconds();

  for (std::int64_t j = 0; j < X_.local().cols(); ++j)
    for (std::int64_t i = 0; i < X_.local().rows(); ++i) X_.local()(i, j) = B_->local()(i, j);
  lap();
  factors.apply(system_.op, X_);
  report_.solve_seconds = lap();
  seconds_of(Phase::solve) += report_.solve_seconds;
  report_.phases.flops[std::size_t(Phase::solve)] += 2 * double(report_.n) * double(report_.n) * double(report_.nrhs);
  const double refined_before = seconds_of(Phase::refine);
  bool converged = true;
  if (is_fp32_refined(by) || options.refine == Refine::classical) converged = refine(factors, options.accuracy);
  if (options.check) check(factors);
  report_.total_seconds += report_.solve_seconds + seconds_of(Phase::refine) - refined_before;
  if (!converged && (!options.check || !passes()))
    report_.outcome = {Outcome::not_converged, report_.refine_iterations};
  if (report_.outcome.ok() && options.condition == Condition::on) judge_by_condition(factors);
  return report_.outcome.ok();
}

/// Of all machines, where the factors in fp32 are gone.
bool Solve::has_room_for_fp64() {
  const BlockCyclic& layout = system_.A.layout();
  const double wanted = double(layout.rows.count()) * double(layout.cols.count()) * sizeof(double);
  double lacks = wanted * engine_.ranks().on_this_machine > double(Memory<Cpu>::available()) ? 1 : 0;
  engine_.sum({&lacks, 1});
  return lacks == 0;
}

/// What takes the place of an attempt that failed; the reason is noted.
std::optional<Attempt> Solve::after(const Attempt& failed) {
  const Options& options = system_.options;
  const Outcome& outcome = report_.outcome;
  const auto again = [&](Method method) { return failed.scales ? scales_for(method, true) : std::nullopt; };
  if (outcome.kind == Outcome::ill_conditioned) return {};
  if (is_fp32_refined(failed)) {
    const std::string why = outcome.has_solution() ? "refinement in fp32 stalled" : "in fp32, " + outcome.message();
    const bool has_room = has_room_for_fp64();
    report_.notes.push_back(why +
                            (has_room ? ": fp64 factors were used instead" : ": there is no memory for fp64 factors"));
    if (!has_room) return {};
    return Attempt{failed.method, Precision::fp64, failed.scales};
  }
  if (options.factorization == Method::automatic && record_of(failed.method).is_symmetric) {
    report_.notes.push_back(lu_was_used(why_no_cholesky(outcome)));
    return Attempt{automatic_methods[1], failed.precision, again(automatic_methods[1])};
  }
  if (options.equilibrate == Wanted(Wanted::automatic) && !failed.scales)
    if (std::optional<Scales> scales = scales_for(failed.method, false)) {
      report_.notes.push_back(rows_and_columns_were_scaled(outcome.has_solution() ? Outcome() : outcome));
      return Attempt{failed.method, failed.precision, std::move(scales)};
    }
  if (record_of(failed.method).is_symmetric && !facts_.is_symmetric && outcome.has_solution())
    report_.outcome = {Outcome::not_symmetric, 0};
  return {};
}

Report Solve::report() && {
  const Options& options = system_.options;
  report_.n = system_.A.n(), report_.nrhs = X_.cols();
  report_.device = "cpu", report_.threads = q_.threads();
  report_.schedule = Schedule::right_looking, report_.block_size = system_.A.layout().rows.block;
  report_.residual = Precision::fp64;
  lap();
  facts_ = measured(engine_, system_.A, system_.op);
  seconds_of(Phase::check) += lap();
  if (!options.allow_nonfinite) require(facts_.is_finite, "the matrix has NaN or infinite elements");
  B_ = system_.B;
  if (!B_) {
    ones_ = Distributed<double>(X_.layout());
    keep_own({facts_.product.data(), report_.n, 1, std::max<std::int64_t>(1, report_.n)}, 0, ones_);
    B_ = &ones_;
  }
  const Method likely = automatic_methods[facts_.is_symmetric ? 0 : 1];
  const Method method = options.factorization == Method::automatic ? likely : options.factorization;
  std::optional<Attempt> next =
      Attempt{method, options.precision == Precision::automatic ? Precision::fp64 : options.precision};
  if (options.equilibrate == Wanted(Wanted::on)) next->scales = scales_for(method, true);
  while (next && !tried(*next)) next = after(*next);
  if (system_.B || !report_.outcome.has_solution()) return std::move(report_);
  const Matrix<double> x = gathered(engine_, X_, 0, 1);
  double worst = 0;
  for (std::int64_t i = 0; i < report_.n; ++i) worst = larger(worst, std::abs(x(i, 0) - 1));
  report_.forward_error = worst;
  return std::move(report_);
}

}  // namespace

int bytes_of_an_element(const Options& options) {
  return bytes_of(options.precision == Precision::automatic ? Precision::fp64 : options.precision);
}

Report solve(const System& system, Distributed<double>& X) { return Solve(system, X).report(); }

}  // namespace lasolve::engines
