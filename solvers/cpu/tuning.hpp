// What was measured to be best on the CPU.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/lu_right_looking.hpp"

namespace lasolve {

inline Schedule default_schedule(const Queue<Cpu>&, Method) { return Schedule::right_looking; }

inline std::int64_t default_block_size(const Queue<Cpu>&, Method, Schedule, Precision, std::int64_t n) {
  return n < 512 ? 64 : n < 2048 ? 128 : 192;
}

template <class T>
LuWidths lu_widths(const Queue<Cpu>&, std::int64_t nb, std::int64_t, std::int64_t) {
  return {nb, nb};
}
template <class T>
std::int64_t lu_far_columns(const Queue<Cpu>&, std::int64_t) {
  return 0;
}
inline std::int64_t cholesky_strip_columns(const Queue<Cpu>&) { return 256; }

inline std::int64_t symmetric_strip_columns(const Queue<Cpu>&, std::int64_t) { return 256; }

}  // namespace lasolve
