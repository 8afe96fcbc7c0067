// The size at which a GPU passes the CPU.
#pragma once

#include "bench/gemm.hpp"

namespace lasolve::bench {

/// Of a sweep over n that was measured on both devices.
struct Crossover {
  std::string shape;
  std::int64_t k = 0;  ///< of trailing; 0 where it is n
  Precision precision = Precision::fp64;
  /// The least n from which on the fastest backend on CUDA is always ahead of the fastest on the CPU; nothing when it is
  /// not at the largest n.
  std::optional<std::int64_t> from;
};
std::vector<Crossover> crossovers(const std::vector<Result>&);

}  // namespace lasolve::bench
