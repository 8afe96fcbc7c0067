// How long a factorization or a solve took: phases, and their total.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {

struct Times {
  PhaseTimes phases;
  double total_seconds = 0;

  /// Adds phases, and to the total the wall time that they took, which is their sum where it is not given. The check is not part of
  /// either. Wall time in which no phase ran counts as other.
  void add(const PhaseTimes& times, std::optional<double> wall_seconds = {}) {
    phases += times;
    double sum = 0;
    for (std::size_t p = 0; p < phase_count; ++p)
      if (Phase(p) != Phase::check) sum += times.seconds[p];
    phases.seconds_of(Phase::other) += std::max(0.0, wall_seconds.value_or(sum) - sum);
    total_seconds += wall_seconds.value_or(sum);
  }
  /// The same with the phases of q since the last call, which it waits for.
  template <class Space>
  void take(Queue<Space>& q, std::optional<double> wall_seconds = {}) {
    q.finish();
    add(q.take_times(), wall_seconds);
  }
  /// What factors that were given up have cost counts as other: the phases are those of the factors that are reported.
  void set_aside() {
    for (Phase p : {Phase::panel, Phase::swap, Phase::trsm, Phase::gemm, Phase::solve, Phase::refine}) {
      phases.seconds_of(Phase::other) += std::exchange(phases.seconds_of(p), 0.0);
      phases.flops[std::size_t(p)] = 0;
    }
  }
};

/// Of cards that worked side by side: for each phase the seconds of the one that was busy longest, and the operations of all.
inline PhaseTimes of_the_busiest(const std::vector<CardReport>& cards) {
  PhaseTimes times;
  for (const CardReport& card : cards)
    for (std::size_t p = 0; p < phase_count; ++p) {
      times.seconds[p] = std::max(times.seconds[p], card.phases.seconds[p]);
      times.flops[p] += card.phases.flops[p];
    }
  return times;
}

}  // namespace lasolve
