// Powers of two as factors.
#pragma once

#include <cmath>

namespace lasolve {

/// x ↦ 2^e x as std::ldexp has it, of many x: one product each where 2^e is a normal number.
class PowerOfTwo {
 public:
  explicit PowerOfTwo(int e) : exponent_(e), factor_(std::ldexp(1.0, e)), is_normal_(std::isnormal(factor_)) {}
  double operator()(double x) const { return is_normal_ ? x * factor_ : std::ldexp(x, exponent_); }

 private:
  int exponent_;
  double factor_;
  bool is_normal_;
};

}  // namespace lasolve
