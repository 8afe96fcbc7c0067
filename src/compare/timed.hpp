// One solve, timed.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare/attribution.hpp"
#include "compare/row.hpp"
#include "core/range.hpp"
#include "solvers/recipe_fields.hpp"
#include "solvers/watch.hpp"

namespace lasolve::compare {

/// Listens to the tasks of the factorization that this thread makes, if it runs a plan. A second factorization, as after fp32 ones
/// that did not do, begins anew.
class TaskRecorder {
 public:
  TaskRecorder() { recorded_.reserve(usual); }
  /// In the order in which they ended.
  std::vector<TaskTime> take();

 private:
  static constexpr std::size_t usual = 512;

  /// While the clock of a solve runs, no more is done than that numbers are written down.
  struct Recorded {
    const TaskType* type;
    Lane lane;
    Phase phase;
    Block C;
    std::int64_t k;
    double begin, end, flops;
  };
  void record(const Task&, double begin, double end);

  std::vector<Recorded> recorded_;
  const TaskWatch watch_{{.on_task = [this](const Task& task, double begin, double end) { record(task, begin, end); },
                          .on_begin = [this] { recorded_.clear(); }}};
};

/// What is recorded of a solve.
struct TimedSolve {
  Report report = {};
  std::vector<TaskTime> tasks = {};
  std::string recipe = {};       ///< whose factors gave the answer, in words
  double processor_seconds = 0;  ///< that all threads of this process had of processors meanwhile
};

/// What is recorded of the runs of one backend at one size, so that a run is the one that a program makes. For progress the queue of
/// a device is waited for after each phase.
class Recording {
 public:
  /// Of tasks: where there are updates, after a first run that has shown it.
  enum Tasks { none, updates, all };
  explicit Recording(Tasks tasks) : tasks_(tasks) {}

  bool tasks() const { return tasks_ == all || (tasks_ == updates && has_updates_); }
  /// Of a run: only where that before took more than a second, or it is the first and does not count.
  bool progress(bool counts) const { return seconds_ ? *seconds_ > long_run : !counts; }
  /// What came of it, for the runs behind it.
  void learn(const TimedSolve& run) {
    seconds_ = run.report.total_seconds;
    if (tasks()) has_updates_ = any_of(run.tasks, is_update);
  }

 private:
  static constexpr double long_run = 1;
  Tasks tasks_;
  bool has_updates_ = true;
  std::optional<double> seconds_;  // of the run before
};

/// Of this process, so far.
inline double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// Solves by solve(), which returns a report, on this thread. Its tasks are timed where that is wanted, which may cost: see
/// docs/how-measuring-is-done.md.
template <class Solve>
TimedSolve timed(bool wants_tasks, Solve solve) {
  TimedSolve made;
  std::optional<TaskRecorder> listener;
  if (wants_tasks) listener.emplace();
  Resolved decided;
  const RecipeWatch recipes({decided});
  const double before = processor_seconds();
  made.report = solve();
  made.processor_seconds = processor_seconds() - before;
  if (listener) made.tasks = listener->take();
  if (decided.taken) made.recipe = text_of(*decided.taken);
  return made;
}

}  // namespace lasolve::compare
