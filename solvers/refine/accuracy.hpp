// What the check of a solution is: HPL's.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lasolve/lasolve.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

/// ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞) of one column, from these norms; NaN where one of them is NaN or infinite. Long doubles have
/// products and sums of doubles that do not overflow.
inline double backward_error(long double a, long double r, double x, double b) {
  const long double size = a * x + b;
  return r == 0 ? 0 : std::isfinite(size) ? double(r / size) : std::nan("");
}
/// The largest of all columns.
inline double backward_error(long double a, const std::vector<long double>& r, const std::vector<double>& x,
                             const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t j = 0; j < r.size(); ++j) worst = larger(worst, backward_error(a, r[j], x[j], b[j]));
  return worst;
}

/// Writes a backward error into a report, whose solution is inaccurate if it is too large for the roundoff `eps`. Returns
/// whether it passed.
inline bool judge(Report& report, double backward_error, double eps) {
  report.backward_error = backward_error;
  report.hpl_residual = backward_error / (eps * double(std::max<std::int64_t>(1, report.n)));
  const bool passed = *report.hpl_residual < hpl_threshold;
  if (!passed) report.digits.reset();
  if ((report.outcome.ok() || report.outcome.kind == Outcome::ill_conditioned) && !passed)
    report.outcome = {Outcome::inaccurate, 0};
  return passed;
}

/// About how many digits of a solution can be trusted, with the condition number 1 / rcond and the roundoff u.
inline double trusted_digits(double rcond, double u) { return std::max(0.0, -std::log10(u / rcond)); }

/// Writes into a report with an rcond what follows from it: a solution that is as good as its residual says may still be far
/// from the true one.
inline void judge_condition(Report& report, double u) {
  const double rcond = report.rcond_of_scaled_rows.value_or(report.rcond_of_scaled_columns.value_or(*report.rcond));
  report.digits.reset();
  if (!report.outcome.ok()) return;
  report.digits = trusted_digits(rcond, u);
  if (rcond < u) report.outcome = {Outcome::ill_conditioned, 0};
}

}  // namespace lasolve
