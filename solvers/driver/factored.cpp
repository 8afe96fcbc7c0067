#include "solvers/driver/factored.hpp"

#include <iterator>

#include "solvers/method.hpp"
#include "solvers/refine/accuracy.hpp"

namespace lasolve {
namespace {

void write_growth(Report& r, const std::optional<Growth>& of) {
  r.growth.reset(), r.norm_growth.reset(), r.largest_multiplier.reset();
  if (of) r.growth = of->of_elements, r.norm_growth = of->of_norms, r.largest_multiplier = of->largest_multiplier;
}

}  // namespace

void write_report(Report& r, const Recipe& by, Facts&& of) {
  r.outcome = of.outcome;
  r.n = of.n, r.device = std::move(of.device), r.gemm = std::move(of.gemm), r.threads = of.threads;
  r.cards = std::move(of.cards);
  r.products_of = std::move(of.products_of), r.small_below = of.small_below;
  r.method = by.method, r.pivoting = by.pivoting, r.refine = by.refine, r.schedule = by.schedule,
  r.block_size = by.block_size();
  r.precision = by.precision.name, r.storage = by.precision.storage;
  r.products = by.precision.products, r.residual = by.precision.residual;
  r.phases = of.times.phases, r.total_seconds = of.times.total_seconds, r.factor_seconds = of.factor_seconds;
  r.factor_gflops = of.outcome.ok() ? record_of(by.method).flops(double(of.n)) * 1e-9 / of.factor_seconds : 0;
  r.equilibration = of.equilibration;
  write_growth(r, of.growth);
  r.rcond = of.rcond;
  r.digits = of.rcond ? std::optional(trusted_digits(*of.rcond, by.roundoff_of_solutions())) : std::nullopt;
  r.notes = std::move(of.notes);
}

void write_solve(Report& r, SolveFacts&& of) {
  r.outcome = of.outcome;
  r.nrhs = of.nrhs;
  r.refine = of.refine;
  r.phases = of.times.phases, r.total_seconds = of.times.total_seconds;
  r.solve_seconds = r.phases.seconds_of(Phase::solve) + r.phases.seconds_of(Phase::refine);
  r.backward_error = of.backward_error;
  if (of.backward_error) r.hpl_residual = hpl_residual(*of.backward_error, r.n, of.roundoff);
  r.rcond_of_scaled_rows = of.rcond_of_scaled_rows, r.rcond_of_scaled_columns = of.rcond_of_scaled_columns;
  r.digits.reset();
  if (r.rcond && (of.outcome.ok() || of.outcome.kind == Outcome::ill_conditioned))
    r.digits = trusted_digits(of.rcond_that_counts(*r.rcond), of.roundoff);
  if (of.growth) write_growth(r, of.growth);
  r.forward_error_bound = of.forward_error_bound;
  r.componentwise_backward_error = of.componentwise_backward_error;
  r.refine_iterations = of.refine_iterations, r.gmres_steps = of.gmres_steps,
  r.refinement_residuals = std::move(of.refinement_residuals);
  r.residual_history = std::move(of.residual_history), r.extra_residuals = of.extra_residuals;
  std::move(of.notes.begin(), of.notes.end(), std::back_inserter(r.notes));
}

Report report_of(const Report& of_factors, SolveFacts&& facts) {
  Report r = of_factors;
  write_solve(r, std::move(facts));
  return r;
}

void add_times(Report& r, const Times& more) { r.phases += more.phases, r.total_seconds += more.total_seconds; }

}  // namespace lasolve
