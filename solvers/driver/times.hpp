// What a report says of time: phases, and their total.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "lasolve/lasolve.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// Adds the phases since the last call to a report, and to its total the wall time that they took, which is their sum
/// where it is not given. The check is not part of the total, and a copy to a device is not part of that wall time. Wall time in which
/// no phase ran counts as other.
template <class Place>
void take_times(Queue<Place>& q, Report& report, std::optional<double> wall_seconds = {}) {
  q.finish();
  const PhaseTimes times = q.take_times();
  report.phases += times;
  const double copied = times.seconds_of(Phase::to_device);
  double sum = 0;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (Phase(p) != Phase::check && Phase(p) != Phase::to_device) sum += times.seconds[p];
  report.phases.seconds_of(Phase::other) += std::max(0.0, wall_seconds.value_or(sum) - sum);
  report.total_seconds += copied + wall_seconds.value_or(sum);
}

/// The same of a solve that has not begun.
inline Report without_times(const Report& with, std::int64_t nrhs) {
  Report report = with;
  report.nrhs = nrhs;
  report.phases = {};
  report.total_seconds = 0;
  return report;
}

/// What factors that were given up have cost counts as other: the phases are those of the factors that are reported.
inline void set_aside_phases(Report& report) {
  for (Phase p : {Phase::panel, Phase::swap, Phase::trsm, Phase::gemm, Phase::solve, Phase::refine}) {
    report.phases.seconds_of(Phase::other) += std::exchange(report.phases.seconds_of(p), 0.0);
    report.phases.flops[std::size_t(p)] = 0;
  }
}

}  // namespace lasolve
