// Kernels that the conformance suite finds nothing wrong with.
#pragma once

#include <gtest/gtest.h>

#include "bench/conformance.hpp"

namespace lasolve::test {

inline constexpr Op ops[] = {Op::none, Op::transpose};

inline std::string said_of(const bench::Fault& fault) {
  return bench::what_is_wrong(fault) + "\n" + bench::where_it_is_wrong(fault, "  ");
}

/// Until one is not. What needs more memory than there is, is left out.
template <Precision P, class Space>
void expect_right(Queue<Space>& q, const GemmKernel<P, Space>& kernel, const std::vector<bench::Case>& cases) {
  const Queue<Cpu> host(1);
  bench::Validation<P, Space> validation(q, host, kernel);
  for (const bench::Case& c : cases) try {
      if (const auto fault = validation(c)) {
        ADD_FAILURE() << said_of(*fault);
        return;
      }
    } catch (const OutOfMemory& e) {
      std::printf("left out: %s\n", e.what());
    }
}

}  // namespace lasolve::test
