// Whether coarse factors reveal how ill-conditioned A is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// By what factor A⁻¹ may exceed M⁻¹, the inverse that the factors apply: a heuristic estimate of ‖(I − F)⁻¹‖∞, as A⁻¹ = (I − F)⁻¹M⁻¹ with
/// F = I − M⁻¹A. Infinite if F may have an eigenvalue near 1: then A may have a tiny singular value that M hides.
///
/// This is the power method. A step of classical refinement makes F e of an error e. The component along an eigenvector with eigenvalue 1 never
/// shrinks. In random vectors it is about 1/√n. So each step must halve the largest element, down to 2⁻⁷/√n; the first may
/// make it 32 times as large. Scaling rows of A does not change F, and transposing A does not change its eigenvalues.
///
/// Each step takes a product with A and a solve, of three columns, often beside those that are refined anyhow. Mostly three to five steps.
/// Source: Neumann's series; von Mises & Pollaczek-Geiringer, ZAMM 9, 1929.
class ExcessOfInverse {
 public:
  static constexpr std::int64_t columns = 3;

  explicit ExcessOfInverse(std::int64_t n) : small_enough_(0x1p-7 / std::sqrt(double(n))) {}

  /// `now`: the largest element of the errors, before the first step and after each. Whether another step is to be made.
  bool goes_on(double now) {
    constexpr double most_at_first = 32;
    const int step = steps_++;
    if (step == 0) return true;
    if (!(now <= (step == 1 ? most_at_first : before_ / 2))) {
      value_ = std::numeric_limits<double>::infinity();
      return false;
    }
    if (step > 1) rate_ = std::max(rate_, now / before_);
    sum_ += now, before_ = now;
    if (now > small_enough_) return true;
    value_ = std::max(sum_, 1 / (1 - rate_));
    return false;
  }
  /// Nothing until the last step was made.
  std::optional<double> value() const { return value_; }

 private:
  double small_enough_, before_ = 1, rate_ = 0, sum_ = 1;
  int steps_ = 0;
  std::optional<double> value_;
};

/// Errors to begin with. Elements are ±1/2 to ±1 with many digits. If they were ±1, A e could be exact in the type of the factors, or cancel,
/// and F e be 0. By a multiplier of Knuth's, modulo 2⁶⁴, of which the high bits are random.
template <class T>
Matrix<T> random_errors(std::int64_t n) {
  Matrix<T> errors(n, ExcessOfInverse::columns);
  std::linear_congruential_engine<std::uint64_t, 6364136223846793005U, 1442695040888963407U, 0> random;
  for (std::int64_t j = 0; j < errors.cols(); ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t bits = random();
      const double size = 0.5 + 0x1p-53 * double(bits << 1 >> 12);
      errors(i, j) = T(bits >> 63 != 0 ? -size : size);
    }
  return errors;
}

}  // namespace lasolve
