#include "core/cuda/queue_state.hpp"

#include <cstdlib>

#include "core/stopwatch.hpp"

namespace lasolve {

namespace {

/// What cuBLAS is said to want; it makes as much for itself, but may ask for more where it was not given any.
/// Source: cuBLAS documentation, cublasSetWorkspace.
std::int64_t bytes_for_blas(const DeviceProperties& device) {
  constexpr std::int64_t MiB = 1 << 20;
  return device.capability >= 120 ? 12 * MiB : device.capability >= 90 ? 32 * MiB : 4 * MiB;
}

/// Scratch memory of a queue that nobody has goes back to the pool where it is more. What products of cuBLAS in fp32 take, which
/// is as much, stays: another stream may get a part of what is given back, and then as much again has to be had.
constexpr std::size_t most_idle_scratch = std::size_t(32) << 20;

}  // namespace

Queue<Cuda>::Queue(int device, int rank) : Queue(device, rank, 0) {}

Queue<Cuda>::Queue(int device, int rank, int multiprocessors) : state_(std::make_unique<State>()) {
  state_->device = device, state_->rank = rank;
  const CurrentDevice current(device);
  const WhileCapturing relaxed;
  int lowest = 0, highest = 0;
  CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  const int priority = std::clamp(lowest - 1 - rank, highest, lowest);  // the lowest is for rank −1
  state_->properties = device_properties(device);
  count_made();
  if (multiprocessors == 0) {
    CUDA_CHECK(cudaStreamCreateWithPriority(&state_->stream, cudaStreamNonBlocking, priority));
  } else {
    const bool others = multiprocessors < 0;
    state_->shared_out = lasolve::shared_out(state_->properties, device, std::abs(multiprocessors));
    if (!state_->shared_out) throw MachineError("CUDA: the multiprocessors of this device cannot be shared out");
    state_->stream = state_->shared_out->make_stream(others, priority);
    state_->properties.multiprocessors = state_->shared_out->part(others).multiprocessors;
  }
  state_->phases.are_of(device, state_->stream);
  count_made();
  CUDA_CHECK(cudaEventCreateWithFlags(&state_->given, cudaEventDisableTiming));
  state_->tuning = tuning_for(state_->properties).values;
  count_made();
  CUDA_CHECK(cublasCreate(&state_->blas));
  CUDA_CHECK(cublasSetStream(state_->blas, state_->stream));
  const MemoryInOrderOf memory(device, state_->stream);
  const MemoryFrom ours(nullptr);
  Matrix<char, Cuda>& workspace = state_->blas_workspace;
  workspace = Matrix<char, Cuda>(bytes_for_blas(state_->properties), 1);
  CUDA_CHECK(cublasSetWorkspace(state_->blas, workspace.data(), workspace.bytes()));
}
Queue<Cuda>::~Queue() = default;

int Queue<Cuda>::device() const { return state_->device; }
const DeviceProperties& Queue<Cuda>::properties() const { return state_->properties; }
int Queue<Cuda>::multiprocessors() const { return state_->properties.multiprocessors; }
std::size_t Queue<Cuda>::shared_memory() const { return state_->properties.shared_memory; }
bool Queue<Cuda>::has_clusters() const { return state_->properties.has_clusters_of(16); }
CUstream_st* Queue<Cuda>::stream() const {
  state_->works();
  return state_->stream;
}
cublasContext* Queue<Cuda>::blas() const {
  state_->works();
  return state_->blas;
}

const Tuning& Queue<Cuda>::tuning() const { return state_->tuning; }
void Queue<Cuda>::tune(const Tuning& tuning) {
  state_->tuning = tuning;
  for (Queue* other : state_->others())
    if (other) other->tune(tuning);
}

void Queue<Cuda>::phase(Phase p, double flops) { state_->phases.begin(p, flops); }

void Queue<Cuda>::add_flops(double flops) { state_->phases.add_flops(flops); }

void Queue<Cuda>::finish() {
  state_->end_phases();
  finish_ended();
}

void Queue<Cuda>::finish_ended() {
  State& s = *state_;
  s.finish();
  check_waits();
  for (Queue* other : s.others()) {
    if (!other) continue;
    if (other->state_->phases.empty() && s.has_seen(*other->state_)) other->state_->done();
    other->finish_ended();
    s.flops_done += std::exchange(other->state_->flops_done, 0);
    s.tell_progress();
  }
}

void Queue<Cuda>::wait_for_results() {
  State& s = *state_;
  if (s.progress) {  // is told with the times
    const std::optional<Phase> runs = s.phases.current();
    finish();
    if (runs) phase(*runs);
    return;
  }
  s.interrupt_phases();  // their times are read by finish(), when nobody waits
  s.settle();
  check_waits();
}

void Queue<Cuda>::wait_for_results(const std::function<bool()>& there) {
  State& s = *state_;
  if (s.progress || s.phases.current()) return wait_for_results();
  constexpr double longest = 1e-3;  // where kernels take longer, or have failed, the device tells when it is idle
  for (const Stopwatch watch; watch.seconds() < longest;)
    for (int look = 0; look < 64; ++look)
      if (there()) return count_wait(), s.done();
  wait_for_results();
}

PhaseTimes Queue<Cuda>::take_times() {
  state_->flops_done = 0;
  PhaseTimes times = std::exchange(state_->times, {});
  for (Queue* other : state_->others())
    if (other) times += other->take_times();
  return times;
}

void Queue<Cuda>::on_progress(std::function<void(double)> progress) {
  state_->progress = std::move(progress);
  state_->phases.keep_separate(bool(state_->progress));
}

void Queue<Cuda>::forget_phases() {
  state_->phases.forget();
  for (Queue* other : state_->others())
    if (other) other->forget_phases();
}

void Queue<Cuda>::abandon() noexcept {
  const WhileCapturing relaxed;  // a stream that was refused goes on being captured
  State& s = *state_;
  // What failed has been told by an exception. What is captured does not run, and to wait for it would end the capture.
  if (!InGraph::current() && succeeded(cudaStreamSynchronize(s.stream))) s.done();
  s.phases.forget();
  s.times = {};
  s.flops_done = 0;
  on_progress({});
  for (Queue* other : s.others())
    if (other) other->abandon();
}

bool Queue<Cuda>::renew() noexcept {
  State& s = *state_;
  if (!s.idle && !succeeded(cudaStreamSynchronize(s.stream))) return false;
  if (s.wait_limit && s.wait_limit->get()->has_expired()) return false;
  s.done();
  s.phases.forget();
  s.times = {};
  s.flops_done = 0;
  on_progress({});
  s.tuning = tuning_for(s.properties).values;
  if (s.wait_limit) s.wait_limit->reset();
  for (Matrix<char, Cuda>* memory : {&s.scratch, &s.operands})
    if (memory->bytes() > most_idle_scratch) *memory = {};
  // A backend of a caller's may have set another.
  if (cublasSetPointerMode(s.blas, CUBLAS_POINTER_MODE_HOST) != CUBLAS_STATUS_SUCCESS ||
      cublasSetMathMode(s.blas, CUBLAS_DEFAULT_MATH) != CUBLAS_STATUS_SUCCESS ||
      cublasSetAtomicsMode(s.blas, CUBLAS_ATOMICS_NOT_ALLOWED) != CUBLAS_STATUS_SUCCESS)
    return false;
  for (Queue* other : s.others())
    if (other && !other->renew()) return false;
  return true;
}

void Queue<Cuda>::wait(Queue& other) {
  if (&other == this || state_->has_seen(*other.state_)) return;
  state_->phases.pause();
  join(other);
}

void Queue<Cuda>::wait(CUevent_st* event) {
  state_->phases.pause();
  join(event);
}

void Queue<Cuda>::wait(CUstream_st* stream) {
  state_->work_given = State::never;
  CUDA_CHECK(cudaEventRecord(state_->given, stream));
  wait(state_->given);
}

void Queue<Cuda>::let_wait(CUstream_st* stream) { CUDA_CHECK(cudaStreamWaitEvent(stream, state_->given_until_now())); }

void Queue<Cuda>::join(CUevent_st* event) {
  state_->works();
  CUDA_CHECK(cudaStreamWaitEvent(state_->stream, event));
}

CUevent_st* Queue<Cuda>::event(std::size_t i) { return state_->nth(state_->ends, i, cudaEventDisableTiming); }
CUevent_st* Queue<Cuda>::timed_event(std::size_t i) { return state_->nth(state_->timed, i, cudaEventDefault); }

void Queue<Cuda>::record(CUevent_st* event) { CUDA_CHECK(cudaEventRecord(event, state_->stream)); }

void Queue<Cuda>::join(Queue& other) {
  if (&other != this) state_->see(*other.state_);
}

Queue<Cuda>& Queue<Cuda>::ahead() {
  if (!state_->ahead) {
    state_->ahead = std::make_unique<Queue<Cuda>>(state_->device, state_->rank + 1);
    state_->ahead->tune(state_->tuning);
  }
  return *state_->ahead;
}

Queue<Cuda>& Queue<Cuda>::beside() {
  if (!state_->beside) {
    state_->beside = std::make_unique<Queue<Cuda>>(state_->device, state_->rank);
    state_->beside->tune(state_->tuning);
  }
  return *state_->beside;
}

Queue<Cuda>& Queue<Cuda>::behind() {
  if (!state_->behind) {
    state_->behind = std::make_unique<Queue<Cuda>>(state_->device, state_->rank - 1);
    state_->behind->tune(state_->tuning);
  }
  return *state_->behind;
}

Queue<Cuda>& Queue<Cuda>::on(int multiprocessors) {
  if (multiprocessors == 0) return *this;
  State& s = *state_;
  const int asked_for = std::abs(multiprocessors);
  if (s.multiprocessors_of_parts != asked_for) s.parts = {};
  s.multiprocessors_of_parts = asked_for;
  auto& part = s.parts[multiprocessors < 0];
  if (!part) {
    part.reset(new Queue<Cuda>(s.device, s.rank, multiprocessors));
    part->tune(s.tuning);
  }
  return *part;
}

bool Queue<Cuda>::can_share_out(int multiprocessors) const {
  if (InGraph::current()) return false;  // kernels of a graph run where there is room
  State& s = *state_;
  if (!s.shared_out || s.shared_out->asked_for() != multiprocessors)
    s.shared_out = lasolve::shared_out(s.properties, s.device, multiprocessors);
  return s.shared_out != nullptr;
}

Queue<Cuda>::PacketBuffer Queue<Cuda>::packet_buffer(std::size_t bytes, unsigned rounds) {
  State& s = *state_;
  if (bytes > s.packet_buffer.bytes() || s.next_sequence > ~0u - rounds) {
    const CurrentDevice current(s.device);
    const MemoryInOrderOf memory(s.device, s.stream);
    const MemoryFrom ours(nullptr);
    s.works();
    if (bytes > s.packet_buffer.bytes()) s.packet_buffer = Matrix<char, Cuda>(std::int64_t(bytes), 1);
    s.next_sequence = 1;
    s.clear_packets();
    s.settle_before_launches();
  }
  if (rounds > 0 && InGraph::current() && !std::exchange(s.cleared_in_graph, true))
    s.clear_packets();  // each launch has the same sequence numbers
  return {s.packet_buffer.data(), std::exchange(s.next_sequence, s.next_sequence + rounds)};
}

unsigned* Queue<Cuda>::counter() {
  State& s = *state_;
  if (s.counter.bytes() == 0) {
    const CurrentDevice current(s.device);
    const MemoryInOrderOf memory(s.device, s.stream);
    const MemoryFrom ours(nullptr);
    s.works();
    s.counter = Matrix<unsigned, Cuda>(10, 1);
    CUDA_CHECK(cudaMemsetAsync(s.counter.data(), 0, s.counter.bytes(), s.stream));
    s.settle_before_launches();
  }
  return s.counter.data();
}

std::shared_ptr<void> Queue<Cuda>::results(std::size_t bytes) {
  State& s = *state_;
  if (!s.pinned) {
    const CurrentDevice current(s.device);
    void* memory = nullptr;
    count_made();
    CUDA_CHECK(cudaHostAlloc(&memory, bytes_of_results, cudaHostAllocDefault));
    s.pinned = {static_cast<char*>(memory), [](char* all) { count_made(), succeeded(cudaFreeHost(all)); }};
  }
  if (bytes > bytes_of_results - s.pinned_used) return nullptr;
  constexpr std::size_t line = 64;
  const std::size_t begin =
      std::exchange(s.pinned_used, std::min(bytes_of_results, (s.pinned_used + bytes + line - 1) / line * line));
  return {s.pinned, s.pinned.get() + begin};
}

WaitLimit* Queue<Cuda>::wait_limit() {
  if (!state_->wait_limit) state_->wait_limit.emplace();
  return state_->wait_limit->get();
}

void Queue<Cuda>::check_waits() const {
  const State& s = *state_;
  if (s.wait_limit && s.wait_limit->get()->has_expired()) throw MachineError(s.wait_limit->get()->complaint());
  for (const Queue* other : s.others())
    if (other) other->check_waits();
}

void* Queue<Cuda>::scratch_bytes(std::size_t bytes) { return state_->with_room(state_->scratch, bytes); }
void* Queue<Cuda>::room_for_operands(std::size_t bytes) { return state_->with_room(state_->operands, bytes); }

}  // namespace lasolve
