#include "solvers/watch.hpp"

namespace lasolve {

TaskWatcher& task_watcher() {
  thread_local TaskWatcher watcher;
  return watcher;
}

}  // namespace lasolve
