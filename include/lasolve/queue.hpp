// Queue<Space>: one ordered line of work on one device, with its phase timer and its scratch memory.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "lasolve/matrix.hpp"

struct CUstream_st;
struct CUevent_st;
struct cublasContext;

namespace lasolve {
struct DeviceProperties;
struct WaitLimit;
}  // namespace lasolve

namespace lasolve {
inline namespace LASOLVE_ABI {

struct Tuning;

/// What the time of a solve is spent on.
enum class Phase { read, to_device, panel, swap, trsm, gemm, solve, refine, check, to_host, other };
inline constexpr std::size_t phase_count = 11;

/// Busy seconds and floating-point operations of each phase.
struct PhaseTimes {
  std::array<double, phase_count> seconds{}, flops{};
  double& seconds_of(Phase p) { return seconds[std::size_t(p)]; }
  double seconds_of(Phase p) const { return seconds[std::size_t(p)]; }
  double flops_of(Phase p) const { return flops[std::size_t(p)]; }
  PhaseTimes& operator+=(const PhaseTimes&);
};

template <class Space>
class Queue;

/// Work on the host runs at once, on up to `threads` cores, and at most 1024.
template <>
class Queue<Cpu> {
 public:
  /// threads ≤ 0: every core that this process may use, by its affinity and the processor time that cgroups grant it.
  explicit Queue(int threads = 0);
  ~Queue();
  /// As many as were asked for, or fewer where no more threads can be made. All cores are counted when this is asked first: work that is
  /// not worth sharing need not know.
  int threads() const;
  /// The same, or 1 where nothing has asked yet.
  int threads_used() const;
  /// What decides between ways to compute, by size: that of the device, until tune() is called.
  const Tuning& tuning() const;
  void tune(const Tuning&);

  /// Ends the phase that runs and begins another, which will do `flops` operations.
  void phase(Phase, double flops = 0);
  /// The phase that runs will do so many more.
  void add_flops(double);
  /// Ends the phase that runs and waits until all work is done.
  void finish();
  /// The times since the last call; finish() first.
  PhaseTimes take_times();
  /// Calls back with the operations done since take_times(), on this thread, as phases end.
  void on_progress(std::function<void(double flops)>);
  /// After an exception: waits until all work is done, and forgets the phases, their times and whom to call back.
  void abandon() noexcept;

  /// Work on the host is done when it has been given, and there is no second queue.
  void wait(Queue&) {}
  void join(Queue&) {}
  Queue& ahead() { return *this; }
  Queue& beside() { return *this; }
  Queue& behind() { return *this; }
  Queue& on(int) { return *this; }

  /// An m × n matrix that is valid until the next call; contents undefined.
  template <class T>
  MatrixView<T, Cpu> scratch(std::int64_t m, std::int64_t n) {
    return {static_cast<T*>(scratch_bytes(std::size_t(m) * std::size_t(n) * sizeof(T))), m, n, m};
  }
  /// So many bytes that are valid until the next call: room for operands of a product, whose kernel may use scratch memory.
  void* room_for_operands(std::size_t bytes);

 private:
  void* scratch_bytes(std::size_t);
  struct State;
  mutable int threads_;  // 0: not counted yet
  std::unique_ptr<State> state_;
};

/// The default stream of the code that is compiled: CUDA's legacy one, or that of the calling thread where the compiler was told
/// so (nvcc --default-stream per-thread, or CUDA_API_PER_THREAD_DEFAULT_STREAM). It is a default argument of what takes device
/// memory, so that it means the caller's code, not the library's.
[[maybe_unused]] static inline CUstream_st* default_stream() {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  return reinterpret_cast<CUstream_st*>(2);  // cudaStreamPerThread
#else
  return reinterpret_cast<CUstream_st*>(1);  // cudaStreamLegacy
#endif
}

/// Work on a CUDA device is enqueued on one stream. Phases are recorded with events and read when it is finished. Who gives it
/// kernels sees to it that its device is the current one, as it is when a GEMM backend is called.
template <>
class Queue<Cuda> {
 public:
  /// The work of a queue of higher rank goes first where both could run. Throws MachineError when there is no such device.
  explicit Queue(int device = 0, int rank = 0);
  ~Queue();
  int device() const;
  /// What the device has. The next three are of it.
  const DeviceProperties& properties() const;
  int multiprocessors() const;
  /// Bytes of shared memory that a block of threads can have.
  std::size_t shared_memory() const;
  /// Whether up to 16 blocks of a kernel can be a cluster that shares its shared memory: compute capability 9.0 and 10.x, where
  /// the code that the device runs was built for these.
  bool has_clusters() const;
  /// To be asked for whenever work is given to it, and not kept: finish() waits where it was asked for since the last.
  CUstream_st* stream() const;
  cublasContext* blas() const;
  /// What decides between ways to compute, by size: that of the device, until tune() is called, which is also about the queues
  /// ahead, beside and behind.
  const Tuning& tuning() const;
  void tune(const Tuning&);

  void phase(Phase, double flops = 0);
  void add_flops(double);
  /// Throws MachineError when work on the device failed, or check_waits() does.
  void finish();
  /// Waits for what this queue was given, and what it waited for. The phase that runs goes on. Throws as finish().
  void wait_for_results();
  /// The same as soon as there() is true: a kernel, the last that has an effect, has told the host that all is done.
  void wait_for_results(const std::function<bool()>& there);
  PhaseTimes take_times();
  void on_progress(std::function<void(double flops)>);
  void abandon() noexcept;
  /// Nobody asks for the times of what was given until now.
  void forget_phases();
  /// For somebody else: waits until all work is done, and makes it as new, but for what it has made once. False where it cannot
  /// be used any more.
  bool renew() noexcept;

  /// What is enqueued here from now on waits for what the other has been given so far. Ends the phase that runs: waiting
  /// is no phase.
  void wait(Queue& other);
  void wait(CUevent_st* event);
  /// The same for any stream of the device.
  void wait(CUstream_st* stream);
  /// The same, but the waiting belongs to the phase that runs: the other has done a part of its work.
  void join(Queue& other);
  void join(CUevent_st* event);
  /// What the stream is given from now on waits for what this has been given.
  void let_wait(CUstream_st* stream);
  /// The i-th event of this queue, for who orders work of several queues. Made once, used again.
  CUevent_st* event(std::size_t i);
  /// The same, of others that have a time.
  CUevent_st* timed_event(std::size_t i);
  /// The event is where what has been given so far ends.
  void record(CUevent_st* event);
  /// A second queue of the same device, of the rank above ours. Our finish() and take_times() are also about it, as
  /// they are about the third.
  Queue& ahead();
  /// A third queue, of our own rank: kernels given to both in turns fill the gaps that the last blocks of each leave.
  Queue& beside();
  /// One of the rank below ours: for what fills the gaps that all others leave.
  Queue& behind();
  /// One of our own rank on so many multiprocessors of the device or, where `multiprocessors` is below zero, on all the others: what is
  /// given to these two never waits for the blocks of each other. 0: ourselves. Throws MachineError unless can_share_out().
  Queue& on(int multiprocessors);
  /// Whether the device gives so many multiprocessors to a queue, and the others to another.
  bool can_share_out(int multiprocessors) const;

  /// Memory through which the blocks of a kernel send each other packets: zero at first, then left as it is. The
  /// sequence numbers sequence, …, sequence + rounds − 1 were never used before.
  struct PacketBuffer {
    void* memory;
    unsigned sequence;
  };
  PacketBuffer packet_buffer(std::size_t bytes, unsigned rounds);
  /// Memory of the host that the device writes fastest, for a few results: theirs until it is given up, and then until finish().
  /// Null where there is no room.
  static constexpr std::size_t bytes_of_results = std::size_t(64) << 10;
  std::shared_ptr<void> results(std::size_t bytes);
  /// Ten numbers on the device with which the blocks of a kernel count each other: zero, and left so.
  unsigned* counter();
  /// How long blocks of its kernels wait for each other.
  WaitLimit* wait_limit();
  /// Throws MachineError, and says what was waited for, where blocks of a kernel of this queue, or of those ahead, beside and
  /// behind, have waited for others in vain. What came of it is undefined, and such a queue takes no more work.
  void check_waits() const;

  template <class T>
  MatrixView<T, Cuda> scratch(std::int64_t m, std::int64_t n) {
    return {static_cast<T*>(scratch_bytes(std::size_t(m) * std::size_t(n) * sizeof(T))), m, n, m};
  }
  /// So many bytes that are valid until the next call: room for operands of a product, whose kernel may use scratch memory.
  void* room_for_operands(std::size_t bytes);

 private:
  void* scratch_bytes(std::size_t);
  void finish_ended();
  struct State;
  Queue(int device, int rank, int multiprocessors);
  std::unique_ptr<State> state_;
};

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
