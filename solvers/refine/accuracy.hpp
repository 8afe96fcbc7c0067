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

/// That over ε·n, with the roundoff ε; of a solution that passes it is below hpl_threshold.
inline double hpl_residual(double backward_error, std::int64_t n, double eps) {
  return backward_error / (eps * double(std::max<std::int64_t>(1, n)));
}
inline bool passes(double backward_error, std::int64_t n, double eps) {
  return hpl_residual(backward_error, n, eps) < hpl_threshold;
}

/// About how many digits of a solution can be trusted, with the condition number 1 / rcond and the roundoff u.
inline double trusted_digits(double rcond, double u) { return std::max(0.0, -std::log10(u / rcond)); }

}  // namespace lasolve
