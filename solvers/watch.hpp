// Who wants to know when the tasks of a plan ran.
#pragma once

#include <chrono>
#include <functional>

#include "solvers/plan.hpp"

namespace lasolve {

/// Hears of each task that this thread has had done, in the order in which they ended. Times are seconds of the steady clock.
using TaskWatcher = std::function<void(const Task&, double begin_seconds, double end_seconds)>;

/// While this lives, on the thread that made it, somebody hears.
class TaskWatch {
 public:
  explicit TaskWatch(TaskWatcher hears);
  ~TaskWatch();
  TaskWatch(const TaskWatch&) = delete;
  TaskWatch& operator=(const TaskWatch&) = delete;

 private:
  const TaskWatcher hears_;
  const TaskWatcher* const before_;
};

/// Who hears on this thread; null: nobody does, and nothing is timed.
const TaskWatcher* task_watcher();

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
    if (watcher_) (*watcher_)(task, begin_, now());
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  const TaskWatcher* const watcher_ = task_watcher();
  const double begin_ = watcher_ ? now() : 0;
};

}  // namespace lasolve
