// The phases of a queue: the events between them, and what these tell of their times.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// A phase begins with the first work that it is given, and ends where the next begins or with end().
class Phases {
 public:
  void are_of(int device, cudaStream_t stream) { device_ = device, stream_ = stream; }
  void destroy_events() {
    for (const cudaEvent_t e : std::exchange(events_, {})) count_made(), succeeded(cudaEventDestroy(e));
  }

  void begin(std::optional<Phase> phase, double flops = 0) {
    if (next_ && next_->flops > 0) record_next();
    next_ = {phase, flops};
  }
  /// What follows is no phase: waiting.
  void pause() {
    if (next_ || !marks_.empty()) begin({});
  }
  void add_flops(double flops) { (next_ ? *next_ : marks_.back()).flops += flops; }
  /// To be called before the stream is given work.
  void works() {
    if (next_) record_next();
  }
  /// Whether the stream was given an event by that.
  bool end() {
    if (next_ && next_->flops > 0) record_next();
    next_.reset();
    if (marks_.empty()) return false;
    const bool runs = marks_.back().phase.has_value();
    if (runs)
      record(marks_.size());
    else
      marks_.pop_back();  // the phase before it has ended
    return runs;
  }
  /// The time until more work is given is no phase; then the one that ran goes on. Whether the stream was given an event.
  bool interrupt() {
    if (marks_.empty() || !marks_.back().phase) return false;
    const std::optional<Phase> runs = current();
    pause();
    works();
    begin(runs);
    return true;
  }
  void forget() {
    next_.reset();
    marks_.clear();
  }
  bool empty() const { return marks_.empty(); }
  /// The one that runs.
  std::optional<Phase> current() const {
    return next_ ? next_->phase : marks_.empty() ? std::nullopt : marks_.back().phase;
  }
  /// Two of the same phase, one behind the other, become one, unless they are kept separate.
  void keep_separate(bool separate) { separate_ = separate; }

  /// After end(): adds the times of each to `times`, after wait(the event at its end), and before tell(its operations).
  template <class Wait, class Tell>
  void read(PhaseTimes& times, Wait wait, Tell tell) {
    for (std::size_t i = 0; i < marks_.size(); ++i) {
      const auto [phase, flops] = marks_[i];
      wait(events_[i + 1]);
      if (!phase) continue;
      float milliseconds = 0;
      CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events_[i], events_[i + 1]));
      times.seconds_of(*phase) += 1e-3 * double(milliseconds);
      times.flops[std::size_t(*phase)] += flops;
      tell(flops);
    }
    marks_.clear();
  }

 private:
  struct Mark {
    std::optional<Phase> phase;  // none: waiting for another queue
    double flops = 0;
  };

  void record_next() {
    const Mark next = *std::exchange(next_, std::nullopt);
    if (!marks_.empty() && !separate_ && next.phase == marks_.back().phase) {
      marks_.back().flops += next.flops;
    } else if (!marks_.empty() || next.phase) {
      record(marks_.size());
      marks_.push_back(next);
    }
  }
  void record(std::size_t i) {
    if (i == events_.size()) {
      const CurrentDevice current(device_);
      cudaEvent_t made = nullptr;
      count_made();
      CUDA_CHECK(cudaEventCreate(&made));
      events_.push_back(made);
    }
    CUDA_CHECK(cudaEventRecord(events_[i], stream_));
  }

  int device_ = 0;
  cudaStream_t stream_ = nullptr;
  bool separate_ = false;
  std::optional<Mark> next_;
  std::vector<Mark> marks_;          // phase i runs from events_[i] to events_[i + 1]
  std::vector<cudaEvent_t> events_;  // made once, used again
};

}  // namespace lasolve
