// What the check of a solution is: HPL's.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "lasolve/lasolve.hpp"
#include "solvers/largest.hpp"

namespace lasolve {

/// max over columns of ‖b − A x‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞), from these norms; NaN where there is one or a size overflows.
inline double backward_error(double a, const std::vector<double>& r, const std::vector<double>& x,
                             const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t j = 0; j < r.size(); ++j) {
    const double size = a * x[j] + b[j];  // where it overflows, nothing is known
    worst = larger(worst, r[j] == 0 ? 0 : std::isfinite(size) ? r[j] / size : std::nan(""));
  }
  return worst;
}

/// Writes a backward error into a report, whose solution is inaccurate if it is too large for the roundoff `eps`. Returns
/// whether it passed.
inline bool judge(Report& report, double backward_error, double eps) {
  report.backward_error = backward_error;
  report.hpl_residual = backward_error / (eps * double(std::max<std::int64_t>(1, report.n)));
  const bool passed = *report.hpl_residual < hpl_threshold;
  if (report.outcome.ok() && !passed) report.outcome = {Outcome::inaccurate, 0};
  return passed;
}

}  // namespace lasolve
