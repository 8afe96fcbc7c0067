// What is known of the size of A⁻¹.
#pragma once

#include <limits>

#include "lasolve/gemm.hpp"

namespace lasolve {

/// Estimates from below, nearly always within a factor of three. By default nothing is known, and they may be infinite.
struct InverseNorms {
  long double one = std::numeric_limits<long double>::infinity(), infinity = one;
  /// ‖op(A)⁻¹‖∞.
  long double of(Op op) const { return op == Op::none ? infinity : one; }
};

/// rcond = 1 / (‖A‖₁ ‖A⁻¹‖₁) is then at least the true value. 0: A⁻¹ cannot be represented.
struct ConditionEstimate {
  double rcond = 0;
  InverseNorms inverse;
};

}  // namespace lasolve
