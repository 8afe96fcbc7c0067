// What a report says of time: phases, and their total.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "lasolve/lasolve.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// Adds phases to a report, and to its total the wall time that they took, which is their sum where it is not given. The check is not
/// part of either. Wall time in which no phase ran counts as other.
inline void add_times(const PhaseTimes& times, Report& report, std::optional<double> wall_seconds = {}) {
  report.phases += times;
  double sum = 0;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (Phase(p) != Phase::check) sum += times.seconds[p];
  report.phases.seconds_of(Phase::other) += std::max(0.0, wall_seconds.value_or(sum) - sum);
  report.total_seconds += wall_seconds.value_or(sum);
}

/// The same with the phases since the last call, which it waits for.
template <class Place>
void take_times(Queue<Place>& q, Report& report, std::optional<double> wall_seconds = {}) {
  q.finish();
  add_times(q.take_times(), report, wall_seconds);
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
