// How a factorization ended, as its device tells it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "lasolve/lasolve.hpp"
#include "solvers/refine/largest.hpp"

namespace lasolve {

struct Ending {
  std::int64_t failed_at = -1;  ///< Outcome::at; −1: nowhere
  double least = 0, most = 0;   ///< magnitudes on the diagonal of the factors; 0 of an empty matrix
};

/// By the diagonal on the host.
template <class F>
Ending ending_by(std::int64_t failed_at, const std::vector<F>& diagonal) {
  if (diagonal.empty()) return {failed_at};
  Ending ending{failed_at, std::numeric_limits<double>::infinity()};
  for (const F element : diagonal) {
    const double size = std::abs(double(element));
    ending.least = std::min(ending.least, size), ending.most = std::max(ending.most, size);
  }
  return ending;
}

/// Of L or of U, or of some of its columns: the largest magnitude, and for each row the sum of its magnitudes with the weights of their
/// columns. NaN where there is one. The ones on the diagonal of L count for sums.
struct SizesOfPart {
  double most = 0;
  std::vector<double> sums = {};
};

/// A weight with which sums of magnitudes of L and U do not overflow.
inline constexpr double weight_of_sums = 0x1p-64;

struct SizesOfFactors {
  double of_L = 0, of_U = 0;  ///< the largest magnitudes, of L below its diagonal
  long double product = 0;    ///< ‖|L||U|‖∞
};

/// sizes_of(part, weights) measures a part.
template <class Measure>
SizesOfFactors sizes_of_factors(std::int64_t n, Measure sizes_of) {
  const SizesOfPart U = sizes_of(Factor::U, std::vector<double>(std::size_t(n), weight_of_sums)),
                    L = sizes_of(Factor::L, U.sums);
  return {L.most, U.most, static_cast<long double>(largest(L.sums)) / weight_of_sums};
}

/// How much larger factors are than the matrix that was factored.
struct Growth {
  double of_elements = 0;         ///< max|uᵢⱼ| / max|aᵢⱼ|
  double of_norms = 0;            ///< ‖|L||U|‖∞ / ‖A‖∞
  double largest_multiplier = 0;  ///< max|lᵢⱼ|
};

/// The smallest pivot over the largest; a pivot is the element on the diagonal to this power, 2 for Cholesky.
inline double range_of_pivots(double least, double most, int power) {
  const double range = least / most;
  return power == 2 ? range * range : range;
}

}  // namespace lasolve
