// How far a solve is.
#pragma once

#include <functional>

#include "cli/problem.hpp"

namespace lasolve::cli {

/// Hears which share of a whole solve is done, and what is being done.
using HearsOfSolve = std::function<void(double share, const char* now)>;

/// Problem::solve(), from making the matrix to checking the solution.
Report solve_and_tell(Problem& problem, Options options, Matrix<double>& X, const HearsOfSolve& hears);

}  // namespace lasolve::cli
