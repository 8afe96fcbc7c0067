// A X = B by an engine: what a solve on one machine does, over parts of matrices. What it calls solved has passed a check here.
#pragma once

#include "engines/distributed.hpp"

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

/// Bytes that an element of the factors takes.
int bytes_of_an_element(const Options&);

/// X: n × nrhs, in blocks of the size of A's. The report is the same on all ranks but for times. All ranks call it.
Report solve(const System&, Distributed<double>& X);

}  // namespace lasolve::engines
