// What the options, the backend and the place decide of a factorization before it begins.
#pragma once

#include <algorithm>

#include "core/choose.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/facts.hpp"
#include "solvers/factors.hpp"

namespace lasolve {

/// Whether a method has the schedule that was asked for, if any was.
inline bool may_go_by_schedule(const Options& options, Method method) {
  return options.schedule == Schedule::automatic || is_offered(method, options.schedule);
}

/// Throws std::invalid_argument for a block size, a schedule or products that there are none of.
template <class Place>
void require_offered(const GemmBackend<Place>& gemm, const Options& options, Precision products) {
  require(options.block_size >= 0, "the block size is negative");
  const Method method = options.factorization == Method::automatic ? Method::lu : options.factorization;
  require(may_go_by_schedule(options, method), "this schedule is not offered for this method");
  if (!offers(gemm, products))
    require(false, does_not_offer(gemm.name, {kind_of<Place>, options.device.index}, products).c_str());
}

/// How a matrix of order n is factored: as the options say, else as is best. `arrives`: it comes meanwhile.
template <class Place>
void decide_blocking(const Queue<Place>& q, const Options& options, bool arrives, std::int64_t n, Decided& by) {
  by.schedule = options.schedule != Schedule::automatic ? options.schedule
                : arrives                               ? Schedule::left_looking
                                                        : default_schedule(q, by.method);
  const std::int64_t columns = options.block_size > 0
                                   ? options.block_size
                                   : default_block_size(q, by.method, by.schedule, by.precision.storage, n);
  by.block_size = std::min(columns, std::max<std::int64_t>(1, n));
}

}  // namespace lasolve
