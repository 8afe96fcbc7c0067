#include "solvers/watch.hpp"

#include <utility>

namespace lasolve {

namespace {

thread_local const TaskWatcher* watcher = nullptr;

}  // namespace

const TaskWatcher* task_watcher() { return watcher; }

TaskWatch::TaskWatch(TaskWatcher hears) : watcher_(std::move(hears)), before_(std::exchange(watcher, &watcher_)) {}
TaskWatch::~TaskWatch() { watcher = before_; }

}  // namespace lasolve
