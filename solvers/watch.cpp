#include "solvers/watch.hpp"

#include <utility>

#include "solvers/plan.hpp"

namespace lasolve {

namespace {

thread_local const TaskWatcher* watcher = nullptr;
thread_local const StepWatcher* step_watcher = nullptr;

}  // namespace

const TaskWatcher* task_watcher() { return watcher; }

TaskWatch::TaskWatch(TaskWatcher hears) : watcher_(std::move(hears)), before_(std::exchange(watcher, &watcher_)) {}
TaskWatch::~TaskWatch() { watcher = before_; }

std::function<void(double)> teller_of(Step step) {
  if (!step_watcher) return {};
  return [step](double share) {
    if (step_watcher) (*step_watcher)(step, share);
  };
}

void tell_at_once(Method method, Schedule schedule, std::int64_t n, double begin_seconds, double end_seconds) {
  if (!watcher) return;
  watcher->begins();
  for (const Task& task : plan_of(method, schedule, {.n = n, .widths = {.panel = n}}).tasks)
    watcher->hears(task, begin_seconds, end_seconds);
}

StepWatch::StepWatch(StepWatcher hears) : watcher_(std::move(hears)), before_(std::exchange(step_watcher, &watcher_)) {}
StepWatch::~StepWatch() { step_watcher = before_; }

}  // namespace lasolve
