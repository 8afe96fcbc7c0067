// What a queue of CUDA has, how it waits, and what it knows of other queues.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "core/capture.hpp"
#include "core/cuda/check.hpp"
#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/graph.hpp"
#include "core/cuda/launch.cuh"
#include "core/cuda/memory_in_order.hpp"
#include "core/cuda/phases.hpp"
#include "core/cuda/shared_out.hpp"
#include "core/cuda/wait_limit.hpp"
#include "core/device_properties.hpp"
#include "core/tuning.hpp"
#include "lasolve/memory.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

struct Queue<Cuda>::State {
  int device = 0, rank = 0;
  DeviceProperties properties;
  Tuning tuning = {};
  cudaStream_t stream = nullptr;
  cublasHandle_t blas = nullptr;
  Phases phases;
  PhaseTimes times;
  double flops_done = 0;
  std::function<void(double)> progress;
  std::optional<OwnedWaitLimit> wait_limit;
  Matrix<char, Cuda> scratch, operands, packet_buffer, blas_workspace;
  Matrix<unsigned, Cuda> counter;
  unsigned next_sequence = 1;
  bool cleared_in_graph = false;         // the packets, by the graph that this queue is of
  cudaEvent_t given = nullptr;           // for those who wait
  std::vector<cudaEvent_t> ends, timed;  // of event() and timed_event()
  std::unique_ptr<Queue<Cuda>> ahead, beside, behind;
  /// On some multiprocessors, and on the others; and how many were asked for.
  std::array<std::unique_ptr<Queue<Cuda>>, 2> parts;
  int multiprocessors_of_parts = 0;
  mutable std::shared_ptr<const SharedOut> shared_out;  // outlives streams of its parts
  std::shared_ptr<char> pinned;                         // results have parts of it
  std::size_t pinned_used = 0;
  bool idle = true;  // all that the stream was given is known to be done
  // How often the stream may have been given work: then, and when `given` was recorded.
  std::uint64_t work = 0, work_given = never;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;  // of other queues: id, and the work that was waited for
  const std::uint64_t id = next_id();
  static constexpr std::uint64_t never = ~std::uint64_t(0);

  ~State() {
    const CurrentDevice current(device, std::nothrow);
    if (stream) succeeded(cudaStreamSynchronize(stream));
    for (Matrix<char, Cuda>* memory : {&scratch, &operands, &packet_buffer, &blas_workspace}) *memory = {};
    counter = {};
    pinned = {};
    phases.destroy_events();
    for (const auto& made : {ends, timed})
      for (cudaEvent_t e : made) count_made(), succeeded(cudaEventDestroy(e));
    if (given) count_made(), succeeded(cudaEventDestroy(given));
    if (blas) count_made();
    if (blas && cublasDestroy(blas) != CUBLAS_STATUS_SUCCESS) cudaGetLastError();
    if (!stream) return;
    forget_grids_of(device, stream);
    forget_order_of(stream);
    count_made();
    succeeded(cudaStreamDestroy(stream));
  }
  cudaEvent_t nth(std::vector<cudaEvent_t>& made, std::size_t i, unsigned flags) const {
    while (made.size() <= i) {
      const CurrentDevice current(device);
      cudaEvent_t e = nullptr;
      count_made();
      CUDA_CHECK(cudaEventCreateWithFlags(&e, flags));
      made.push_back(e);
    }
    return made[i];
  }
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
  }
  /// Memory with room for so many bytes, in the order of the stream; what was there before is lost.
  void* with_room(Matrix<char, Cuda>& memory, std::size_t bytes) {
    if (bytes > memory.bytes()) {
      const CurrentDevice current(device);
      const MemoryInOrderOf order(device, stream);
      const MemoryFrom ours(nullptr);  // a caller's may go before the queue does
      works();
      memory = {};
      memory = Matrix<char, Cuda>(std::int64_t(bytes), 1);
    }
    return memory.data();
  }
  /// Of a graph: what was given to a stream that is not captured yet, which no launch waits for.
  void settle_before_launches() {
    if (InGraph::current() && !capture_of(stream)) CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  void clear_packets() {
    works();
    CUDA_CHECK(cudaMemsetAsync(packet_buffer.data(), 0, packet_buffer.bytes(), stream));
  }
  /// To be called before the stream is given work.
  void works() {
    phases.works();
    idle = false, ++work;
  }
  /// Whether what the other has been given so far is done, or was waited for.
  bool has_seen(const State& other) const {
    return other.idle || std::find(seen.begin(), seen.end(), std::pair(other.id, other.work)) != seen.end();
  }
  /// An event at the end of what it has been given.
  cudaEvent_t given_until_now() {
    if (work_given != work) CUDA_CHECK(cudaEventRecord(given, stream));
    work_given = work;
    return given;
  }
  void see(State& other) {
    if (has_seen(other)) return;
    works();
    CUDA_CHECK(cudaStreamWaitEvent(stream, other.given_until_now()));
    const auto old = std::find_if(seen.begin(), seen.end(), [&](const auto& of) { return of.first == other.id; });
    if (old != seen.end())
      old->second = other.work;
    else
      seen.emplace_back(other.id, other.work);
  }
  void settle() {
    if (!idle) count_wait(), CUDA_CHECK(cudaStreamSynchronize(stream));
    done();
  }
  void done() {
    idle = true;
    if (pinned.use_count() == 1) pinned_used = 0;  // nobody has results that were not read
  }
  void tell_progress() const {
    if (!progress) return;
    const MemoryInOrderOf::Suspended callers;
    progress(flops_done);
  }
  /// Of this queue and the others: where the last phase ends.
  void end_phases() {
    if (phases.end()) idle = false;
    for (Queue* other : others())
      if (other) other->state_->end_phases();
  }
  /// The same where the host waits for results, and goes on.
  void interrupt_phases() {
    if (phases.interrupt()) idle = false;
    for (Queue* other : others())
      if (other) other->state_->interrupt_phases();
  }
  std::array<Queue*, 5> others() const {
    return {ahead.get(), beside.get(), behind.get(), parts[0].get(), parts[1].get()};
  }
  /// Waits for what was given until end_phases(), and adds up the times of phases.
  void finish() {
    if (!progress) settle();  // else it is told as phases end
    const auto wait = [this](cudaEvent_t end) {
      if (!idle) count_wait(), CUDA_CHECK(cudaEventSynchronize(end));
    };
    const auto tell = [this](double flops) {
      flops_done += flops;
      tell_progress();
    };
    phases.read(times, wait, tell);
    settle();
  }
};

}  // namespace lasolve
