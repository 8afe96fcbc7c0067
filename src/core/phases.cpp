#include "lasolve/queue.hpp"

namespace lasolve {

const char* name_of(Phase p) {
  constexpr std::array<const char*, phase_count> names = {"read",  "to_device", "panel", "swap",    "trsm", "gemm",
                                                          "solve", "refine",    "check", "to_host", "other"};
  return names[std::size_t(p)];
}

PhaseTimes& PhaseTimes::operator+=(const PhaseTimes& more) {
  for (std::size_t p = 0; p < phase_count; ++p) {
    seconds[p] += more.seconds[p];
    flops[p] += more.flops[p];
  }
  return *this;
}

}  // namespace lasolve
