// Sharing work among the cores of a queue.
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "core/cpu/pool.hpp"
#include "lasolve/queue.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {

/// In how many parts to share work (in operations): one for each core, or one when it is not worth sharing. That depends on
/// nothing else, so neither do the bits of a result.
inline std::int64_t parts_for(const Queue<Cpu>& q, double work) {
  return work < double(q.tuning().work_worth_sharing) ? 1 : q.threads();
}

/// f(t) for each t in [0, parts), on the cores of the pool. No part may wait for another.
template <class F>
void on_cores(std::int64_t parts, double work, F f) {
  if (parts == 1) return f(std::int64_t(0));
  run_parts(
      parts, work, [](void* argument, std::int64_t t) { (*static_cast<F*>(argument))(t); }, &f);
}

/// f(begin, length) for each core's share of [0, length); shares are multiples of 8 but for the last.
template <class F>
void on_shares(const Queue<Cpu>& q, std::int64_t length, double work, F f) {
  const std::int64_t parts = parts_for(q, work), share = round_up(ceil_div(length, parts), 8);
  on_cores(parts, work, [&](std::int64_t t) {
    const std::int64_t begin = std::min(length, share * t);
    if (begin < length) f(begin, std::min(share, length - begin));
  });
}

}  // namespace lasolve
