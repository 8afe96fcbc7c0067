// What was measured to be best on the CPU.
#pragma once

#include "lasolve/queue.hpp"

namespace lasolve {

inline std::int64_t default_block_size(const Queue<Cpu>&, std::int64_t n) {
  return n < 512 ? 64 : n < 2048 ? 128 : 192;
}

}  // namespace lasolve
