// Plain traffic in the memory of a CUDA device, in the order of a queue: what measurements flush caches with, and
// compare with.
#pragma once

#include "lasolve/queue.hpp"

namespace lasolve {

/// to[0, bytes) ← 0.
void fill_zero(Queue<Cuda>& q, void* to, std::size_t bytes);
/// Keeps one thread of the device busy for a time that is longer than it takes to give it more work.
void delay(Queue<Cuda>& q, double seconds);
/// to[0, bytes) ← from[0, bytes), both on the device.
void copy_within(Queue<Cuda>& q, void* to, const void* from, std::size_t bytes);
/// `columns` columns of `bytes` bytes each, between the host and the device, as everybody copies: by one call, also from and to
/// pageable memory.
void copy_plainly(Queue<Cuda>& q, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t bytes, std::size_t columns);

}  // namespace lasolve
