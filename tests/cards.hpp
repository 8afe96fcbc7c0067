// Cards that tests ask about, without one.
#pragma once

#include "core/device_properties.hpp"

namespace lasolve::test {

inline DeviceProperties h200() {
  return {.capability = 90,
          .code = 90,
          .runs_code_for_90a = true,
          .multiprocessors = 132,
          .shared_memory = 232448,
          .shared_memory_of_multiprocessor = 233472,
          .kept_shared_memory = 1024,
          .largest_cluster = 16,
          .cooperative = true,
          .fp32_per_fp64 = 2};
}

}  // namespace lasolve::test
