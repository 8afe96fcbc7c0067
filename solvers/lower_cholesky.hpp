// The part of lower() that is about Cholesky.
#pragma once

#include "solvers/lower.hpp"

namespace lasolve {

/// The tasks of a Cholesky for a device whose queues run side by side. Of a left-looking one:
///   updates of the bulk are in two lanes in turns: one begins while the last thread blocks of the other run
///   where panels are the bottleneck, such an update waits until the panel beside it is up to date: begun earlier, it would hold up
///   each kernel of the chain
///   where rows go apart, the chain updates and factors the block on the diagonal, and the lane near the rows below
/// Of others:
///   a symmetric update goes by block columns, which are in two lanes in turns for the same reason
std::vector<Task> lowered_cholesky(const Plan&, const Capabilities&);

}  // namespace lasolve
