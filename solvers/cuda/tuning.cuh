// What was measured to be best on CUDA (NVIDIA H200, fp64).
#pragma once

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// LU at small n waits for its panels, and narrow ones give the look-ahead more to hide behind; at large n, and in
/// Cholesky, the updates want a large k.
inline std::int64_t default_block_size(const Queue<Cuda>&, Method method, std::int64_t n) {
  if (method == Method::cholesky) return n < 6144 ? 512 : 768;
  return n < 6144 ? 128 : n < 12288 ? 256 : 512;
}

/// Of a matrix that is factored as it arrives.
inline std::int64_t arriving_block_size(const Queue<Cuda>&, Method method, std::int64_t n) {
  if (method == Method::cholesky) return 512;
  return n < 12288 ? 1024 : n < 24576 ? 2048 : 4096;
}

inline std::int64_t symmetric_leaf_order(const Queue<Cuda>&) { return 1024; }

}  // namespace lasolve
