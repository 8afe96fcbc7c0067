#include "engines/solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/cpu/copy_on_host.hpp"
#include "core/range.hpp"
#include "core/stopwatch.hpp"
#include "engines/factors.hpp"
#include "lasolve/names.hpp"
#include "solvers/devices/cpu/norms.hpp"
#include "solvers/driver/notes.hpp"
#include "solvers/method.hpp"
#include "solvers/refine/accuracy.hpp"
#include "solvers/refine/condition.hpp"
#include "solvers/refine/refine.hpp"
#include "solvers/refine/residual.hpp"
#include "solvers/refine/scaling.hpp"
#include "solvers/watch.hpp"

namespace lasolve::engines {

namespace {

/// The executor of the recipes of several processes: measures, does and notes what they say, and reports at the end.
class Solve {
 public:
  Solve(const System& system, Distributed<double>& X, Facts&& start)
      : system_(system),
        engine_(system.engine),
        q_(std::max(1, system.options.threads)),
        X_(X),
        facts_(std::move(start)) {
    facts_.n = system.A.n(), facts_.device = "cpu", facts_.threads = q_.threads();
  }

  Report report() &&;

 private:
  void know_A();
  const Recipe* after(const Recipe&);
  void attempt(const Recipe&);
  void solve_with(const Factors&, const Recipe&);
  bool refine(const Factors&, const Recipe&);
  ResidualNorms residual(Distributed<double>* R);
  bool check(const Factors&, const Recipe&);
  void judge_by_condition(const Factors&, const Recipe&);
  bool judge_scaled(const Factors&, const Scaling&, std::optional<double>& rcond);
  /// X ← op(A)⁻¹ 2^exponent X, where X is whole on each rank.
  auto apply(const Factors& factors) {
    return [&](int exponent, MatrixView<double> X, Op op) {
      scale<double>(q_, exponent, X, X);
      Distributed<double> here(layout_of(engine_.ranks(), X.rows(), X.cols(), system_.A.layout().rows.block));
      keep_own(X, 0, here);
      factors.apply(op, here);
      copy_on_host<double>(gathered(engine_, here, 0, X.cols()), X);
    };
  }
  std::optional<Scales> scales_of_A(const Recipe& by, bool always) {
    return scales_of(engine_, system_.A, record_of(by.method).is_symmetric, always);
  }
  Scales scales_for(const Recipe&);
  bool has_room_for(const Recipe&);
  /// Seconds since the last call, when all ranks are here; what follows is on the clock.
  double lap() {
    engine_.meet();
    return clock_.lap();
  }
  void lap(Phase p) { phases_.seconds_of(p) += lap(); }
  /// Whether A was factored, not another matrix, which is symmetric.
  bool is_of_A(const Recipe& by) const { return of_A_.is_symmetric || !record_of(by.method).is_symmetric; }

  const System& system_;
  Engine& engine_;
  Queue<Cpu> q_;
  Distributed<double>& X_;
  Distributed<double> ones_;  // A·1, where no right-hand sides were given
  const Distributed<double>* B_ = nullptr;
  FactsOfA of_A_;
  Recipes recipes_;
  Facts facts_;        // of the last factors, and what was noted and took time before
  SolveFacts solve_;   // with them
  PhaseTimes phases_;  // of that solve
  Stopwatch clock_;
};

/// R ← 2^−e (B − op(A) X), where that is wanted. B and X are whole on each rank, some columns at a time.
ResidualNorms Solve::residual(Distributed<double>* R) {
  ResidualNorms all;
  for_strips(system_.A.n(), X_.cols(), [&](std::int64_t first, std::int64_t count) {
    Matrix<double> x = gathered(engine_, X_, first, count), r = gathered(engine_, *B_, first, count);
    const std::vector<double> norms_x = *column_norms<double>(q_, x.view()),
                              norms_b = *column_norms<double>(q_, r.view());
    const std::vector<int> exponents = exponents_within_range<double>(of_A_.norm, norms_x, norms_b);
    for (std::int64_t j = 0; j < count; ++j)
      for (const auto column : {x.view().columns(j, 1), r.view().columns(j, 1)})
        if (const int e = exponents[std::size_t(j)]; e != 0) scale<double>(q_, -e, column, column);
    if (engine_.ranks().rank != 0) fill(q_, 0.0, r.view());
    subtract_product(engine_, q_, system_.A, system_.op, x, r);
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    append(all.exponents, exponents), append(all.b, norms_b), append(all.x, norms_x);
    append(all.r, unscaled(*column_norms<double>(q_, r.view()), exponents));
    if (R) keep_own(r, first, *R);
  });
  return all;
}

/// X ← X + inv(op(A)) (B − op(A) X), as lasolve::refine() does it; false where a column stalls.
bool Solve::refine(const Factors& factors, const Recipe& by) {
  tell_recipe(recipes_, by);
  lap();
  const Distances<double> distances({.accuracy = by.accuracy}, of_A_.norm, system_.A.n());
  const auto columns = std::size_t(X_.cols());
  std::vector<double> before(columns, std::numeric_limits<double>::infinity());
  std::vector<char> open(columns, true);
  bool stalled = false;
  solve_.refine = by.refine;
  for (int updates = 0;; ++updates) {
    Distributed<double> R(X_.layout());
    const ResidualNorms norms = residual(&R);
    double worst = 0;
    bool any = false;
    for (std::size_t j = 0; j < columns; ++j) {
      if (!open[j]) continue;
      const double now = distances.of_residual(norms.r[j], norms.x[j], norms.b[j]);
      worst = larger(worst, now);
      const bool goes_on = !distances.ends(now) && may_gain(by.refine, updates, now, before[j]);
      stalled |= !distances.ends(now) && !goes_on;
      open[j] = goes_on, before[j] = now, any |= goes_on;
    }
    if (const double residual = distances.residual(worst); std::isfinite(residual))
      solve_.refinement_residuals.push_back(residual);
    if (!any) break;
    ++solve_.refine_iterations;
    factors.apply(system_.op, R);
    for (std::int64_t at = 0; at < X_.layout().cols.count(); ++at) {
      const auto j = std::size_t(X_.layout().cols.index_at(at));
      if (!open[j]) continue;
      for (std::int64_t i = 0; i < X_.layout().rows.count(); ++i)
        X_.local()(i, at) += std::ldexp(R.local()(i, at), norms.exponents[j]);
    }
  }
  lap(Phase::refine);
  return !stalled;
}

/// Measures the backward error. A solution that fails is refined where a recipe for that follows, but not where another matrix was
/// factored.
bool Solve::check(const Factors& factors, const Recipe& by) {
  const std::int64_t n = system_.A.n();
  const auto passes = [&] {
    lap();
    const ResidualNorms norms = residual(nullptr);
    const double error = backward_error(of_A_.norm, norms.r, norms.x, norms.b);
    solve_.backward_error = error;
    lap(Phase::check);
    return by.accuracy > 0 ? error <= by.accuracy : lasolve::passes(error, n, solve_.roundoff);
  };
  const auto hpl = [&] { return hpl_residual(*solve_.backward_error, n, solve_.roundoff); };
  bool passed = passes();
  if (const std::optional<Recipe> next = passed || !is_of_A(by) ? std::nullopt : by.after_inaccuracy()) {
    facts_.notes.push_back(fmt::format("the HPL check was {:.1e}: the solution was refined", hpl()));
    refine(factors, *next);
    passed = passes();
  }
  const bool misses_accuracy = by.accuracy > 0 && hpl() < hpl_threshold;
  if (!passed) solve_.outcome = {misses_accuracy ? Outcome::accuracy_not_reached : Outcome::inaccurate, 0};
  return passed;
}

void Solve::judge_by_condition(const Factors& factors, const Recipe& by) {
  lap();
  const double rcond =
      reciprocal_condition_on_host(system_.A.n(), of_A_.one_norm, exponents_of<double>, apply(factors));
  facts_.rcond = rcond;
  if (rcond < solve_.roundoff && by.check) {
    Scaling scaling{of_A_.row_sums};
    if (!judge_scaled(factors, scaling, solve_.rcond_of_scaled_rows)) {
      scaling = scaling_of_columns(
          of_A_.row_sums, [&](Alone, auto f) { for_each_magnitude(system_.A, system_.op, f); }, SeenByAll(engine_));
      judge_scaled(factors, scaling, solve_.rcond_of_scaled_columns);
    }
  }
  if (solve_.rcond_that_counts(rcond) < solve_.roundoff) solve_.outcome = {Outcome::ill_conditioned, 0};
  lap(Phase::check);
}

/// As lasolve::Solver::judge_scaled() does it: the condition with rows, and columns, scaled, where each row of the residual is small for
/// itself, and at least one digit is left.
bool Solve::judge_scaled(const Factors& factors, const Scaling& by, std::optional<double>& rcond) {
  Distributed<double> R(X_.layout());
  const ResidualNorms norms = residual(&R);
  double error = 0;
  for_strips(system_.A.n(), X_.cols(), [&](std::int64_t first, std::int64_t count) {
    const Matrix<double> r = gathered(engine_, R, first, count), x = gathered(engine_, X_, first, count),
                         b = gathered(engine_, *B_, first, count);
    for (std::int64_t j = 0; j < count; ++j)
      error = larger(error,
                     backward_error_of_rows<double>(by, r.view().columns(j, 1), norms.exponents[std::size_t(first + j)],
                                                    x.view().columns(j, 1), b.view().columns(j, 1)));
  });
  if (!(error < hpl_threshold * double(system_.A.n()) * solve_.roundoff)) return false;
  const double its = reciprocal_condition_of<double>(exponents_of<double>, by, system_.op, apply(factors));
  if (its >= 10 * solve_.roundoff) rcond = its;
  return rcond.has_value();
}

/// Where neither rows nor columns are scaled, by what takes A into the range of the factors.
Scales Solve::scales_for(const Recipe& by) {
  if (by.scaled == Scaled::rows_and_columns)
    if (std::optional<Scales> scales = scales_of_A(by, recipes_.first().scaled == by.scaled)) return *std::move(scales);
  const long double norm = of_A_.one_norm;
  if (by.is_coarse()) return {norm > 0 && std::isfinite(norm) ? -std::ilogb(norm) : 0};
  return {exponent_of_subnormal<double>(norm)};
}

/// Factors, and a solution by them where there are any.
void Solve::attempt(const Recipe& by) {
  tell_recipe(recipes_, by);
  facts_.times.add(std::exchange(phases_, {}));  // of what was tried before
  facts_.times.set_aside();
  solve_ = {{}, X_.cols(), by.refine, by.roundoff_of_solutions()};
  Scales scales = scales_for(by);
  facts_.equilibration = scales.rows.empty() && scales.columns.empty() ? Equilibration::none : scales.kind();
  lap();
  const Factors factors(engine_, system_.A, by, std::move(scales));
  const double seconds = lap();
  facts_.factor_seconds = factors.seconds();
  facts_.times.total_seconds += seconds;
  facts_.times.phases.seconds_of(Phase::other) += seconds - factors.seconds();  // A was copied
  solve_.outcome = facts_.outcome = factors.outcome();
  if (facts_.outcome.ok()) solve_with(factors, by);
}

void Solve::solve_with(const Factors& factors, const Recipe& by) {
  copy_on_host<double>(B_->local(), X_.local());
  lap();
  factors.apply(system_.op, X_);
  lap(Phase::solve);
  const auto n = double(X_.rows());
  phases_.flops[std::size_t(Phase::solve)] += 2 * n * n * double(X_.cols());
  const bool converged = !by.refines() || refine(factors, by);
  const bool passed = by.check && check(factors, by);
  if (!converged && !passed) solve_.outcome = {Outcome::not_converged, solve_.refine_iterations};
  if (solve_.outcome.ok() && by.condition == Estimate::always) judge_by_condition(factors, by);
}

/// On all machines, where the factors before are gone.
bool Solve::has_room_for(const Recipe& next) {
  const BlockCyclic& layout = system_.A.layout();
  const double elements = double(layout.rows.count()) * double(layout.cols.count());
  const auto bytes_each = bytes_of(next.precision.storage);
  const bool has_room = elements * bytes_each * engine_.ranks().on_this_machine <= double(Memory<Cpu>::available()) &&
                        elements <= double(engine_.most_elements(std::size_t(bytes_each)));
  double lacks = has_room ? 0 : 1;
  engine_.sum({&lacks, 1});
  return lacks == 0;
}

/// What takes the place of a recipe by which there is no answer, which is noted; null: nothing does.
const Recipe* Solve::after(const Recipe& tried) {
  const Outcome& outcome = solve_.outcome;
  if (outcome.ok() || outcome.kind == Outcome::ill_conditioned) return nullptr;
  std::vector<std::string>& notes = facts_.notes;
  if (const Recipe* const finer = recipes_.after(tried, Reason::too_coarse)) {
    const bool has_room = has_room_for(*finer);
    const std::string in = name_of(tried.precision.name), to = name_of(finer->precision.name);
    notes.push_back(
        (outcome.has_solution() ? "refinement in " + in + " stalled" : "in " + in + ", " + outcome.message()) + ": " +
        (has_room ? used_instead(tried, *finer) : "there is no memory for " + to + " factors"));
    return has_room ? finer : nullptr;
  }
  if (const Recipe* const other = recipes_.after(tried, Reason::not_positive_definite)) {
    notes.push_back(lu_was_used(why_no_cholesky(outcome)));
    return other;
  }
  const Recipe* const scaled = recipes_.after(tried, Reason::badly_scaled);
  if (!scaled || !scales_of_A(*scaled, false)) return nullptr;
  notes.push_back(rows_and_columns_were_scaled(outcome.has_solution() ? Outcome() : outcome));
  return scaled;
}

/// Reads A, decides, and has right-hand sides.
void Solve::know_A() {
  const std::int64_t n = system_.A.n();
  lap();
  of_A_ = measured(engine_, system_.A, system_.op);
  lap(Phase::check);
  Options options = system_.options;
  options.precision = precision_of(options), options.block_size = system_.A.layout().rows.block;
  Means means{.device = {Device::cpu}, .tuning = &q_.tuning(), .is_shared = true};
  for (const Precision p : precisions) means.precisions |= 1u << unsigned(p);
  means.has_gmres = contains(refinements, Refine::gmres);
  recipes_ = resolve(options, {.n = n, .glance = automatic_methods[of_A_.is_symmetric ? 0 : 1]}, means);
  if (recipes_.first().finite) require(of_A_.is_finite, "the matrix has NaN or infinite elements");
  B_ = system_.B;
  if (B_) return;
  ones_ = Distributed<double>(X_.layout());
  keep_own({of_A_.product.data(), n, 1, std::max<std::int64_t>(1, n)}, 0, ones_);
  B_ = &ones_;
}

Report Solve::report() && {
  know_A();
  const Recipe* next = &recipes_.first();
  if (next->scaled == Scaled::none && exponent_of_subnormal<double>(of_A_.one_norm) != 0)
    next = recipes_.after(*next, Reason::too_small);
  const Recipe* by = next;
  for (; next; next = after(*by)) attempt(*(by = next));
  Outcome& outcome = solve_.outcome;
  if (!is_of_A(*by) && !outcome.ok() && outcome.has_solution() && outcome.kind != Outcome::ill_conditioned)
    outcome = {Outcome::not_symmetric, 0};
  const Times before = facts_.times;
  solve_.times.add(phases_);
  Report report;
  write_report(report, *by, std::move(facts_));
  write_solve(report, std::move(solve_));
  add_times(report, before);
  if (system_.B || !report.outcome.has_solution()) return report;
  Matrix<double> x = gathered(engine_, X_, 0, 1);
  for (std::int64_t i = 0; i < report.n; ++i) x(i, 0) -= 1;
  report.forward_error = column_norm<double>(x.view());
  return report;
}

}  // namespace

Precision precision_of(const Options& options) {
  return options.precision == Precision::automatic ? Precision::fp64 : options.precision;
}

Report solve(const System& system, Distributed<double>& X, Facts start) {
  return Solve(system, X, std::move(start)).report();
}

}  // namespace lasolve::engines
