// How far a solve is.
#pragma once

#include <functional>

#include "cli/problem.hpp"

namespace lasolve::cli {

/// Hears which share of a whole solve is done, and what is being done.
using SolveProgress = std::function<void(double share, const char* now)>;

/// Problem::solve(), from making the matrix to checking the solution.
Report solve_with_progress(Problem& problem, Options options, Matrix<double>& X, const SolveProgress& progress);

}  // namespace lasolve::cli
