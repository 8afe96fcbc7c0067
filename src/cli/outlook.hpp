// What a long solve will take, said before it begins.
#pragma once

#include "cli/problem.hpp"

namespace lasolve::cli {

/// About how long the solves will take on the CPU, by the rate of one small product with each backend, and the memory of A with its
/// factors; and what solvers would be better, where A is sparse. Empty where they take a moment, or nobody knows how long.
std::string outlook(const Request&, const Problem&);

}  // namespace lasolve::cli
