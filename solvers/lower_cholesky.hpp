// The part of lower() that is about Cholesky.
#pragma once

#include "solvers/lower.hpp"

namespace lasolve {

/// The tasks of a left-looking Cholesky for a device whose queues run side by side:
///   products of the bulk take two lines in turns: one begins while the last blocks of the other run
///   where panels are the bottleneck, a product waits until the panel beside it is up to date: begun earlier, it would hold up each
///   kernel of the chain
///   where rows go apart, the chain updates and factors the block on the diagonal, and the rows below are `near`
std::vector<Task> left_looking_cholesky(const Plan&, const Capabilities&);

}  // namespace lasolve
