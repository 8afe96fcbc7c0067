// One solve, timed.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "bench/clock_watch.hpp"
#include "compare/listener.hpp"

namespace lasolve::compare {

/// What is told of a solve.
struct TimedSolve {
  Report report = {};
  std::vector<TaskTime> tasks = {};
  bool clock_changed = false;  ///< while it ran: its times mean nothing
};

/// Solves by solve(), which returns a report, on this thread. Its tasks are timed where that is wanted, which may cost: see
/// docs/how-measuring-is-done.md.
template <class Solve>
TimedSolve timed(bool wants_tasks, Solve solve) {
  TimedSolve made;
  const bench::ClockWatch clock;
  std::optional<Listener> listener;
  if (wants_tasks) listener.emplace();
  made.report = solve();
  if (listener) made.tasks = listener->take();
  made.clock_changed = clock.changed();
  return made;
}

}  // namespace lasolve::compare
