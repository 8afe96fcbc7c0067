// Who wants to know when the tasks of a plan ran.
#pragma once

#include <chrono>
#include <functional>

#include "solvers/plan.hpp"

namespace lasolve {

/// Hears of each task that this thread has had done, in the order in which they ended. Times are seconds of the steady clock.
using TaskWatcher = std::function<void(const Task&, double begin_seconds, double end_seconds)>;

/// That of this thread; empty: nobody watches, and nothing is timed.
TaskWatcher& task_watcher();

/// Times what is given to a place. A task that was given to a device is not done: of these nothing is told yet.
template <class Place>
struct TaskClock {
  void ended(const Task&) const {}
};

/// A task that was given to the host is done.
template <>
class TaskClock<Cpu> {
 public:
  void ended(const Task& task) const {
    if (watched_) task_watcher()(task, begin_, now());
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  const bool watched_ = bool(task_watcher());
  const double begin_ = watched_ ? now() : 0;
};

}  // namespace lasolve
