// Sharing work among the cores of a queue.
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// All cores, or one when the work (in operations) is not worth waking the others. Never a number between: OpenMP ends
/// threads that a smaller team leaves over, and starts them anew for the next.
inline std::int64_t cores_for(const Queue<Cpu>& q, double work) {
  constexpr double worth_waking = 1 << 18;
  return work < worth_waking ? 1 : q.threads();
}

/// f(t) for t in [0, cores), each on a core of its own.
template <class F>
void on_cores(std::int64_t cores, F f) {
  if (cores == 1) return f(std::int64_t(0));
#pragma omp parallel for num_threads(cores) schedule(static, 1)
  for (std::int64_t t = 0; t < cores; ++t) f(t);
}

/// f(begin, length) for each core's share of [0, length); shares are multiples of 8 but for the last.
template <class F>
void on_shares(const Queue<Cpu>& q, std::int64_t length, double work, F f) {
  const std::int64_t cores = cores_for(q, work), share = round_up(ceil_div(length, cores), 8);
  on_cores(cores, [&](std::int64_t t) {
    const std::int64_t begin = std::min(length, share * t);
    if (begin < length) f(begin, std::min(share, length - begin));
  });
}

}  // namespace lasolve
