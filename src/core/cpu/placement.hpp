// On which processors the threads of a pool may run.
#pragma once

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <mutex>

namespace lasolve {

/// Threads that run where their caller may run, but for the caller's own processor.
///
/// Some schedulers wake a thread behind the one that wakes it, though other processors are idle. A caller has work to do, and would be in
/// the way until the next tick, some milliseconds.
class Placement {
 public:
  /// By a thread: it is one of them. Those beyond the largest number run where they will.
  void join() {
    for (std::atomic<pid_t>& thread : threads_)
      if (pid_t nobody = 0; thread.compare_exchange_strong(nobody, gettid())) break;
    ++joined_;
  }

  /// How many the last caller could run on that asked; 1 before.
  int processors() const { return processors_.load(std::memory_order_relaxed); }

  /// By a caller that is alone and about to wake them.
  void keep_off_this_processor() {
    const std::unique_lock lock(placing_, std::try_to_lock);
    cpu_set_t all;
    // It fails where there are more processors than the set has bits.
    if (!lock || sched_getaffinity(0, sizeof all, &all) != 0) return;
    processors_ = CPU_COUNT(&all);
    cpu_set_t others = all;
    if (const int here = sched_getcpu(); here >= 0) CPU_CLR(here, &others);
    if (CPU_COUNT(&others) == 0) others = all;
    const int joined = joined_;
    if (CPU_EQUAL(&others, &placed_on_) && joined == placed_) return;
    placed_on_ = others, placed_ = joined;
    for (const std::atomic<pid_t>& thread : threads_) {
      const pid_t id = thread;
      if (id == 0) break;
      sched_setaffinity(id, sizeof others, &others);
    }
  }

 private:
  std::atomic<pid_t> threads_[1024] = {};
  std::atomic<int> joined_ = 0, processors_ = 1;
  std::mutex placing_;  // for the next two: what was last asked for, and of how many threads
  cpu_set_t placed_on_ = {};
  int placed_ = 0;
};

}  // namespace lasolve
