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
  bool shared = false;  // work, among threads
  Clock::time_point start;
  double flops_done = 0;
  std::function<void(double)> progress;
  Matrix<char, Cpu> scratch, operands;
  const Tuning* tuning = &cpu_tuning().values;
  std::unique_ptr<const Tuning> asked_for;

  void end_phase(Clock::time_point now) {
    if (!running) return;
    times.seconds_of(phase) += std::chrono::duration<double>(now - start).count();
    times.flops[std::size_t(phase)] += flops;
    flops_done += flops;
    running = false;
    if (progress) progress(flops_done);
  }
};

Queue<Cpu>::Queue(int threads) : threads_(std::clamp(threads, 0, most_threads)), state_(std::make_unique<State>()) {
  forget_failed_threads();
}
Queue<Cpu>::~Queue() = default;

int Queue<Cpu>::threads() const {
  state_->shared = true;
  if (threads_ == 0) threads_ = usable_processors();
  return threads_to_be_had(threads_);
}
int Queue<Cpu>::threads_used() const { return state_->shared ? threads() : 1; }

const Tuning& Queue<Cpu>::tuning() const { return *state_->tuning; }
void Queue<Cpu>::tune(const Tuning& tuning) {
  state_->asked_for = std::make_unique<const Tuning>(tuning);
  state_->tuning = state_->asked_for.get();
}

void Queue<Cpu>::phase(Phase p, double flops) {
  if (p == state_->phase && flops == 0 && state_->running && !state_->progress) return;  // it goes on
  const auto now = State::Clock::now();
  state_->end_phase(now);
  state_->phase = p;
  state_->flops = flops;
  state_->running = true;
  state_->start = state_->progress ? State::Clock::now() : now;  // who is called back counts as no phase
}

void Queue<Cpu>::add_flops(double flops) { state_->flops += flops; }

void Queue<Cpu>::finish() {
  if (state_->running) state_->end_phase(State::Clock::now());
}

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

/// Memory with room for so many bytes; what was there before is lost.
static void* with_room(Matrix<char, Cpu>& memory, std::size_t bytes) {
  if (bytes > memory.bytes()) {
    memory = {};
    memory = Matrix<char, Cpu>(std::int64_t(bytes), 1);
  }
  return memory.data();
}

void* Queue<Cpu>::scratch_bytes(std::size_t bytes) { return with_room(state_->scratch, bytes); }
void* Queue<Cpu>::room_for_operands(std::size_t bytes) { return with_room(state_->operands, bytes); }

}  // namespace lasolve
