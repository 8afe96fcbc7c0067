#include "lasolve/queue.hpp"

#include <algorithm>
#include <chrono>

#include "core/cpu/limits.hpp"
#include "core/cpu/pool.hpp"
#include "core/tuning.hpp"

namespace lasolve {

namespace {
constexpr int most_threads = 1024;
}

struct Queue<Cpu>::State {
  using Clock = std::chrono::steady_clock;
  PhaseTimes times;
  Phase phase = Phase::other;
  double flops = 0;
  bool running = false;
  Clock::time_point start;
  double flops_done = 0;
  std::function<void(double)> progress;
  Matrix<char, Cpu> scratch;
  Tuning tuning = cpu_tuning().values;

  void end_phase() {
    if (!running) return;
    times.seconds_of(phase) += std::chrono::duration<double>(Clock::now() - start).count();
    times.flops[std::size_t(phase)] += flops;
    flops_done += flops;
    running = false;
    if (progress) progress(flops_done);
  }
};

Queue<Cpu>::Queue(int threads)
    : threads_(threads > 0 ? std::min(threads, most_threads) : usable_processors()), state_(std::make_unique<State>()) {
  forget_failed_threads();
}
Queue<Cpu>::~Queue() = default;

int Queue<Cpu>::threads() const { return threads_to_be_had(threads_); }

const Tuning& Queue<Cpu>::tuning() const { return state_->tuning; }
void Queue<Cpu>::tune(const Tuning& tuning) { state_->tuning = tuning; }

void Queue<Cpu>::phase(Phase p, double flops) {
  state_->end_phase();
  state_->phase = p;
  state_->flops = flops;
  state_->running = true;
  state_->start = State::Clock::now();
}

void Queue<Cpu>::add_flops(double flops) { state_->flops += flops; }

void Queue<Cpu>::finish() { state_->end_phase(); }

PhaseTimes Queue<Cpu>::take_times() {
  state_->flops_done = 0;
  return std::exchange(state_->times, {});
}

void Queue<Cpu>::on_progress(std::function<void(double)> progress) { state_->progress = std::move(progress); }

void Queue<Cpu>::abandon() noexcept {
  state_->running = false;
  state_->times = {};
  state_->flops_done = 0;
  state_->progress = nullptr;
}

void* Queue<Cpu>::scratch_bytes(std::size_t bytes) {
  if (bytes > state_->scratch.bytes()) {
    state_->scratch = {};
    state_->scratch = Matrix<char, Cpu>(std::int64_t(bytes), 1);
  }
  return state_->scratch.data();
}

}  // namespace lasolve
