// ‖M‖₁ of a matrix that is not there, but can be applied to vectors.
#pragma once

#include <functional>

#include "lasolve/gemm.hpp"

namespace lasolve {

/// X ← M X, or Mᵀ X. X: n × (at most 4).
using Application = std::function<void(MatrixView<double> X, Op)>;

/// A lower bound of ‖M‖₁, the largest sum of magnitudes in a column of M (n × n). It is nearly always within a factor of three,
/// mostly exact, and always exact for n ≤ 4. Applies M or Mᵀ at most five times. Infinite or NaN where a result is.
/// Source: Higham & Tisseur, "A block algorithm for matrix 1-norm estimation, with an application to 1-norm
/// pseudospectra", SIMAX 21, 2000, algorithm 2.4; one of the first vectors is that of LAPACK's dlacn2.
double one_norm_estimate(std::int64_t n, const Application& apply);

}  // namespace lasolve
