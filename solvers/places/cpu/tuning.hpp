// What a tuning means on the CPU, where there is one queue.
#pragma once

#include "solvers/tuning.hpp"

namespace lasolve {

template <class T>
std::int64_t lu_far_columns(const Queue<Cpu>&, std::int64_t) {
  return 0;
}
inline bool solves_soon_first(const Queue<Cpu>&, std::int64_t, std::int64_t) { return false; }
inline bool steps_are_phases(const Queue<Cpu>&, Method, std::int64_t) { return true; }
template <class T>
bool cholesky_rows_apart(const Queue<Cpu>&, std::int64_t, std::int64_t) {
  return false;
}

}  // namespace lasolve
