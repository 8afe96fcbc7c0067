#include "lasolve/queue.hpp"

namespace lasolve {

PhaseTimes& PhaseTimes::operator+=(const PhaseTimes& more) {
  for (std::size_t p = 0; p < phase_count; ++p) seconds[p] += more.seconds[p];
  for (std::size_t p = 0; p < phase_count; ++p) flops[p] += more.flops[p];
  return *this;
}

}  // namespace lasolve
