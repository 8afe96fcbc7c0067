// Whether backends keep to the GEMM contract, found out in this process or in one of its own, which may crash.
#pragma once

#include "bench/conformance.hpp"
#include "core/choose.hpp"

namespace lasolve::bench {

/// A backend in some precisions, all of which it offers, and the products that are to be timed.
struct Task {
  Choice choice;
  std::vector<Precision> precisions;
  std::vector<Product> timed;
  int threads = 0;  ///< of the host; 0: all
};

/// One verdict for each precision.
std::vector<Verdict> verify_here(const Task&);

/// The same in child processes. `command` and what follows from the task are the words of a program that hands the latter to
/// serve(); the backend is one that it finds by its name. A kernel that ends its process, or that has not come back after
/// `patience` seconds and 10 ns for each operation, is a fault at the product that it was called for last. Throws MachineError
/// when there is no such process, or no memory for the operands.
std::vector<Verdict> verify_apart(const Task&, const std::vector<std::string>& command, double patience);

/// The child's side: tries what the words ask for and tells the parent. Returns the exit code.
int serve(const std::vector<std::string>& words, const AfterCall& after = {});

}  // namespace lasolve::bench
