// What a tuning means on the CPU, where there is one queue.
#pragma once

#include "solvers/tuning.hpp"

namespace lasolve {

template <class T>
std::int64_t lu_far_columns(const Queue<Cpu>&, std::int64_t) {
  return 0;
}

}  // namespace lasolve
