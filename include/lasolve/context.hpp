// Context: a CUDA device with what the library makes on it once and uses again, and a stream that the caller has there.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <memory>

#include "lasolve/queue.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// A CUDA device with its queues, library handles, workspaces and tuning: made once, used again by every Factorization that is
/// given it.
///
/// A Factorization without one has queues that nobody else has, of those that the process keeps: at most eight of a device are
/// kept when they are idle. Nor does that make anything anew where its sizes were seen before. A Context is for who wants the first
/// call to be fast as well, work in the order of a stream, or few queues for many factorizations that live at once.
///
/// With a stream, device memory is read, and written, after the work that the stream was given before the call. When a call returns
/// its results are there, for what the stream is given next and for every other; those of lasolve/async.hpp return before that, and
/// have them there for what the stream is given next. The default stream is then not waited for, unless
/// a call names it: a solve that names another stream waits for both. A stream that is being captured is
/// misuse, but for those of lasolve/async.hpp.
///
/// Threads:
/// - A Context, and the factorizations that were made with it, may be used by any threads at the same time, also one Factorization
///   by several. Calls come one after the other: each waits until that of another thread has ended.
/// - Different contexts work at the same time, also on one device.
/// - Misuse is a call from within another on the same context, as from Options::progress or a GEMM backend: it would wait for
///   itself.
/// - As with every object, nobody may use a Factorization while another thread moves or destroys it, or read its report() while
///   another thread solves.
///
/// What a Context has stays until the last Factorization that uses it has ended. A copy is the same context. Its stream must be
/// there as long.
class Context {
 public:
  /// Throws MachineError where the device cannot be used.
  explicit Context(int device = 0);
  /// The same, in the order of a stream of that device: a cudaStream_t.
  Context(int device, CUstream_st* stream);

  int device() const;
  /// Null: it was given none.
  CUstream_st* stream() const;

  /// Every size that decides between ways to compute, for factorizations whose Options::tuning is not set: those of the device,
  /// until tune() is called. Throws std::invalid_argument for one with which nothing works.
  Tuning tuning() const;
  void tune(const Tuning&);

  struct State;
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// Gives back to CUDA the memory that the library holds on a device and does not use, and the queues that nobody has: up to an
/// eighth of the device's memory, and some hundred MB for the queues of each context that has ended. Allocations of ours that fail
/// do it by themselves.
void release_unused_memory(int device);

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
