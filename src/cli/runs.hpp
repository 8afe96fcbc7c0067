// The runs of the backends of one command: in turns, each as often as was asked for.
#pragma once

#include <vector>

#include "cli/print.hpp"
#include "cli/problem.hpp"

namespace lasolve::cli {

int exit_code(const Outcome&, const Request&);

/// The solution of the first backend, and how far from it the others' are: the largest difference over the largest entry.
struct Solutions {
  Matrix<double> X;
  double apart = 0;

  void add(const Matrix<double>& other);
};

/// Runs the backends in turns, so that what the machine does meanwhile is the same for all. What is left open is as it was tuned.
/// What cannot be solved is thrown with the option that would do.
std::vector<Measured> measure(const Request&, Problem&, Solutions&);

}  // namespace lasolve::cli
