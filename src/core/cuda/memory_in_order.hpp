// Device memory in the order of a stream, from a pool that keeps what was given back.
//
// Two kinds of memory are behind Matrix<T, Cuda>:
//
// - What a program makes by itself is CUDA's own, cudaMalloc and cudaFree. We know nothing of the streams that it is used on. So
//   only a free that waits for the device is right, and a view of what was freed is found to be one (core/memory_kind.hpp).
// - What the library makes in a call is used by the queues of that call alone, and what these are given is joined to the first of
//   them before the memory goes; where an exception leaves, they are waited for. So it is taken and given back in the order of
//   that queue, without waiting: cudaMallocFromPoolAsync, cudaFreeAsync. Memory that goes from one stream to another is CUDA's
//   care. A cache of ours would have to know when all streams are done with what it holds, and could neither join two pieces nor
//   split one.
//
// The pool is ours, one a device, so that its settings are nobody else's. It holds up to an eighth of the device's memory when that
// is not used; more goes back to CUDA. What it holds counts as free, and goes back where an allocation fails.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace lasolve {

/// While this lives, what this thread allocates on the device is memory of the pool, in the order of the stream. The device is the
/// current one. One that has no pools gives memory as without this.
class MemoryInOrderOf {
 public:
  MemoryInOrderOf(int device, cudaStream_t) noexcept;
  ~MemoryInOrderOf();
  MemoryInOrderOf(const MemoryInOrderOf&) = delete;
  MemoryInOrderOf& operator=(const MemoryInOrderOf&) = delete;

  /// While this lives, it is as without one: for code of the caller's that runs in a call of ours.
  class Suspended {
   public:
    Suspended() noexcept;
    ~Suspended();
    Suspended(const Suspended&) = delete;
    Suspended& operator=(const Suspended&) = delete;

   private:
    const MemoryInOrderOf* before_;
  };

  int device() const { return device_; }
  cudaStream_t stream() const { return stream_; }

 private:
  int device_;
  cudaStream_t stream_;
  const MemoryInOrderOf* before_;
};

/// The stream ends, whose work is done: memory in its order that is still there is given back without one.
void forget_order_of(cudaStream_t) noexcept;
/// Lets one device read memory of the pool of another, its peer.
void let_read_pool(int reader, int of);
/// Bytes that the pool of a device has taken, used or not.
std::size_t held_by_pool(int device);

}  // namespace lasolve
