// The largest of some numbers, where a NaN stays.
#pragma once

#include <vector>

namespace lasolve {

/// The larger; NaN if either is.
constexpr double larger(double a, double b) { return a >= b || a != a ? a : b; }

/// Of magnitudes, 0 if there are none. Of the sums of a row each, it is the norm ‖A‖∞.
inline double largest(const std::vector<double>& magnitudes) {
  double most = 0;
  for (double x : magnitudes) most = larger(most, x);
  return most;
}

}  // namespace lasolve
