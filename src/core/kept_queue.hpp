// Queues of CUDA devices that are used again. To make one, with those ahead, beside and behind it, takes a device milliseconds:
// streams, events, handles of cuBLAS, workspaces.
#pragma once

#include <memory>

#include "lasolve/queue.hpp"

namespace lasolve {

struct GiveBackQueue {
  bool keeps = true;  ///< else it is destroyed
  void operator()(Queue<Cuda>*) const noexcept;
};
/// A queue, and those ahead, beside and behind it, for as long as this lives. Nobody else has it meanwhile.
using KeptQueue = std::unique_ptr<Queue<Cuda>, GiveBackQueue>;

/// One of a device that was given back last, as new; else a new one. It may be given back by any thread, and is kept where few
/// others are and nothing has failed on it.
///
/// Kept are those of the process, not of each thread: threads come and go, and a Factorization may end in another than it began
/// in. So their number is bounded, whatever the number of threads, and no thread has CUDA to clean up when it ends.
KeptQueue keep_queue(int device);

/// Destroys those of a device that nobody has, for their memory.
void destroy_idle_queues(int device) noexcept;

}  // namespace lasolve
