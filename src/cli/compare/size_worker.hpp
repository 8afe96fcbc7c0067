// All backends on the systems of one size, in a process that kernels may crash or stop.
#pragma once

#include "cli/compare/run.hpp"

namespace lasolve::cli {

/// As run_size(). A plugin kernel that ends the process or spoils the device gets a fault. So does one that does not come back from a
/// solve in --patience seconds and 20 ns for each multiplication. The others are measured again without it.
std::vector<compare::Row> run_size_in_worker(const CompareRequest&, std::vector<Contestant>&, std::int64_t n,
                                             compare::Size& size, const std::function<void(double)>& progress);

/// The worker's side; `words` are what the parent has told it. Returns the exit code.
int size_worker(const std::vector<std::string>& words);

}  // namespace lasolve::cli
