// What was measured to be best on CUDA.
#pragma once

#include "lasolve/queue.hpp"

namespace lasolve {

inline std::int64_t default_block_size(const Queue<Cuda>&, std::int64_t n) {
  return n < 2048 ? 128 : n < 8192 ? 256 : 512;
}
inline std::int64_t symmetric_leaf_order(const Queue<Cuda>&) { return 1024; }

}  // namespace lasolve
