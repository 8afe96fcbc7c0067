// Where factors have a triangle, as a value of their method.
#pragma once

#include "lasolve/gemm.hpp"

namespace lasolve {

/// op of what is stored on and below the diagonal of the factors, or on and above it. Where `unit`, its own diagonal is ones.
struct StoredTriangle {
  bool lower, unit;
  Op op = Op::none;

  constexpr StoredTriangle transposed(Op by) const { return {lower, unit, op == Op::none ? by : Op::none}; }
};

}  // namespace lasolve
