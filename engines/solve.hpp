// A X = B by an engine: what a solve on one machine does, over parts of matrices. What it calls solved has passed a check here.
#pragma once

#include "engines/distributed.hpp"
#include "solvers/driver/facts.hpp"

namespace lasolve::engines {

/// Of a system that all ranks solve together. Of the options it heeds factorization, precision (fp64, fp32), equilibrate, refine, condition,
/// check, accuracy, threads and allow_nonfinite.
struct System {
  Engine& engine;
  const PartOfA& A;
  Op op = Op::none;
  const Distributed<double>* B = nullptr;  ///< null: b = op(A)·1, whose answer is known
  Options options = {};
};

/// What engines can: the precisions of their factors, and what refines solutions. Their methods are those that an automatic one becomes.
inline constexpr Precision precisions[] = {Precision::fp64, Precision::fp32};
inline constexpr Refine refinements[] = {Refine::automatic, Refine::none, Refine::classical};

/// That of the factors.
Precision precision_of(const Options&);

/// X: n × nrhs, in blocks of the size of A's. `start`: what is known, was noted and took time before. The report is the same on all ranks
/// but for times. All ranks call it.
Report solve(const System&, Distributed<double>& X, Facts start = {});

}  // namespace lasolve::engines
