// Whether backends keep to the GEMM contract.
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

/// Called with each verdict; false: no more.
using OnVerdict = std::function<bool(const Verdict&)>;

/// One verdict for each precision, in this process, which a kernel may end. worker/verify.hpp has another one for that.
std::vector<Verdict> verify_here(const Task&, const BeforeCall& = {}, const AfterCall& = {}, const OnVerdict& = {});

}  // namespace lasolve::bench
