// Copies to shared memory that pass through no register and are not waited for: cp.async, from compute capability 8.0 on.
// Source   NVIDIA, A100 white paper, 2020
#pragma once

#include "core/cuda/shared_memory.cuh"

namespace lasolve {

/// Starts to copy 4, 8 or 16 bytes to an address of shared memory: the first `exist` of them; the others become 0, and are not
/// read. (__pipeline_memcpy_async would branch to one of 17 instructions by `exist`.)
template <int bytes>
__device__ void copy_async(unsigned to, const void* from, int exist = bytes) {
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(exist) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(bytes), "r"(exist)
                 : "memory");
}
inline __device__ void close_group_of_copies() { asm volatile("cp.async.commit_group;"); }
/// Waits until at most `groups` groups of this thread's copies are on their way.
template <int groups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace lasolve
