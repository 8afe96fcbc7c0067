// When tasks ran on a CUDA device: two events around each, on the queue that it was given to.
#pragma once

#include <algorithm>
#include <vector>

#include "core/cuda/check.hpp"
#include "solvers/watch.hpp"

namespace lasolve {

/// A task begins when what its queue was given before is done, waits for other queues among it, and ends when all of the task is
/// done. Where the host is behind the device, the time until it has given the task is part of the task.
///
/// Times are relative to one event, which the device reaches between two looks at the host's clock. It is taken to be in the middle:
/// all times may be off together, by half of what is between the looks. That is some microseconds, unless the device is with other
/// programs, which have it for milliseconds at a time: then it is tried again. Events tell half a microsecond apart (CUDA Runtime API,
/// cudaEventElapsedTime), and, as this is in fp32, 1 part in 10⁷ of the time since the first.
template <>
class TaskClock<Cuda> {
 public:
  TaskClock(Queue<Cuda>& q, const TaskWatcher& watcher) : events_(q), watcher_(watcher) {
    watcher_.on_begin();
    constexpr double close = 100e-6;
    constexpr int most_tries = 10;
    double took = 2 * close;
    for (int i = 0; i < most_tries && took > close; ++i) {
      const double before = steady_seconds();
      q.record(first());
      CUDA_CHECK(cudaEventSynchronize(first()));
      took = steady_seconds() - before;
      first_seconds_ = before + 0.5 * took;
    }
  }

  template <class Give>
  bool time(Queue<Cuda>& q, const Task& task, Give give) {
    q.record(begin_of(tasks_.size()));
    const bool goes_on = give();
    q.record(end_of(tasks_.size()));
    tasks_.push_back({task});
    return goes_on;
  }

  /// Waits for what does not wait for its queue: the last events.
  void tell() {
    for (std::size_t i = 0; i < tasks_.size(); ++i)
      tasks_[i].begin = seconds_at(begin_of(i)), tasks_[i].end = seconds_at(end_of(i));
    std::stable_sort(tasks_.begin(), tasks_.end(), [](const Timed& a, const Timed& b) { return a.end < b.end; });
    for (const Timed& t : tasks_) watcher_.on_task(t.task, t.begin, t.end);
    tasks_.clear();
  }

 private:
  struct Timed {
    Task task;
    double begin = 0, end = 0;
  };
  CUevent_st* first() { return events_.timed_event(0); }
  CUevent_st* begin_of(std::size_t i) { return events_.timed_event(2 * i + 1); }
  CUevent_st* end_of(std::size_t i) { return events_.timed_event(2 * i + 2); }
  double seconds_at(CUevent_st* event) {
    float milliseconds = 0;
    CUDA_CHECK(cudaEventSynchronize(event));
    CUDA_CHECK(cudaEventElapsedTime(&milliseconds, first(), event));
    return first_seconds_ + 1e-3 * double(milliseconds);
  }

  Queue<Cuda>& events_;  // has them
  const TaskWatcher& watcher_;
  double first_seconds_ = 0;
  std::vector<Timed> tasks_;
};

}  // namespace lasolve
