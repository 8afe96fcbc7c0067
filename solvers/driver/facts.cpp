#include "solvers/driver/facts.hpp"

#include <iterator>

#include "solvers/flops.hpp"
#include "solvers/refine/accuracy.hpp"

namespace lasolve {

Report report_of(const Decided& decided, const Facts& of) {
  Report r;
  r.outcome = of.outcome;
  r.n = of.n, r.device = of.device, r.gemm = of.gemm, r.threads = of.threads;
  r.products_of = of.products_of, r.small_below = of.small_below;
  r.method = decided.method, r.refine = decided.refine;
  r.schedule = decided.schedule, r.block_size = decided.block_size;
  r.precision = decided.precision.name, r.storage = decided.precision.storage;
  r.products = decided.precision.products, r.residual = decided.precision.residual;
  r.phases = of.times.phases, r.total_seconds = of.times.total_seconds;
  r.factor_seconds = of.factor_seconds;
  if (of.outcome.ok()) r.factor_gflops = flops_of(decided.method, double(of.n)) * 1e-9 / of.factor_seconds;
  r.rcond = of.rcond;
  if (of.rcond) r.digits = trusted_digits(*of.rcond, decided.roundoff_of_solutions());
  r.notes = of.notes;
  return r;
}

Report report_of(Report r, SolveFacts&& of) {
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
  r.growth = of.growth;
  r.refine_iterations = of.refine_iterations, r.refinement_residuals = std::move(of.refinement_residuals);
  std::move(of.notes.begin(), of.notes.end(), std::back_inserter(r.notes));
  return r;
}

void add_times(Report& r, const Times& more) { r.phases += more.phases, r.total_seconds += more.total_seconds; }

}  // namespace lasolve
