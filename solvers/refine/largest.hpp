// The largest of some numbers, where a NaN stays.
#pragma once

#include <span>
#include <vector>

namespace lasolve {

/// The larger; NaN if either is.
template <class Number>
constexpr Number larger(Number a, Number b) {
  return a >= b || a != a ? a : b;
}

/// Of magnitudes, 0 if there are none. Of the sums of a row each, it is the norm ‖A‖∞.
template <class Number>
Number largest(std::span<const Number> magnitudes) {
  Number most = 0;
  for (const Number x : magnitudes) most = larger(most, x);
  return most;
}
template <class Number>
Number largest(const std::vector<Number>& magnitudes) {
  return largest(std::span<const Number>(magnitudes));
}

}  // namespace lasolve
