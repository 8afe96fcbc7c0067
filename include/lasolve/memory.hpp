// Memory of the caller's, in the place of that of the C library and of CUDA.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include "lasolve/lasolve.h"

namespace lasolve {
inline namespace LASOLVE_ABI {

/// Where memory is from, and goes back to: see lasolve.h.
using MemorySource = lasolve_memory_source;

/// While this lives, what the library allocates on this thread for matrices and workspace is memory of these sources, of the host and of
/// the current CUDA device. Null: it is from where it is without this. What is there when this ends goes back where it is from when it is
/// no longer needed, as the factors with their Factorization. The workspace of CUDA queues, which later calls use, is CUDA's own, and so is
/// memory of the host that a device writes; a few KB of lists and words are from operator new.
class MemoryFrom {
 public:
  explicit MemoryFrom(const MemorySource* host, const MemorySource* device = nullptr) noexcept;
  ~MemoryFrom();
  MemoryFrom(const MemoryFrom&) = delete;
  MemoryFrom& operator=(const MemoryFrom&) = delete;

 private:
  const MemorySource *host_before_, *device_before_;
};

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
