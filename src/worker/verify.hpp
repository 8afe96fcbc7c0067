// Whether backends keep to the GEMM contract, found out in a worker, which they may crash.
#pragma once

#include "bench/verify.hpp"

namespace lasolve::worker {

/// One verdict for each precision of the task. A kernel that ends its process, or that has not come back after `patience` seconds and
/// 20 ns for each multiplication, is a fault at the product that it was called for last. Throws MachineError when there is no such
/// process, or no memory for the operands.
std::vector<bench::Verdict> verify(const bench::Task&, double patience);

/// The worker's side: tries what the words ask for and tells the parent. Returns the exit code.
int verify_worker(const std::vector<std::string>& words);

}  // namespace lasolve::worker
