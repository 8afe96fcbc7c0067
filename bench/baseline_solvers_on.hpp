// The baseline solvers that can run here.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "baseline_solvers/baseline_solvers.hpp"

namespace lasolve::bench {

/// Those of a device. Standard error has which ones cannot run, and why.
inline std::vector<const baseline_solvers::Library*> baseline_solvers_on(Device::Kind device) {
  std::vector<const baseline_solvers::Library*> here;
  for (const auto& library : baseline_solvers::all()) {
    if (library.on_cuda != (device == Device::cuda)) continue;
    const std::string why = baseline_solvers::why_unavailable(library);
    if (why.empty())
      here.push_back(&library);
    else
      fmt::print(stderr, "without {}: {}\n", library.title, why);
  }
  return here;
}

}  // namespace lasolve::bench
