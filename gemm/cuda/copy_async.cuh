// Copies to shared memory that pass through no register and are not waited for: cp.async, from compute capability 8.0 on.
// Source   NVIDIA, A100 white paper, 2020
#pragma once

namespace lasolve {

/// Starts to copy 4, 8 or 16 bytes to shared memory: the first `exist` of them; the others become 0, and are not read.
template <int bytes>
__device__ void copy_async(void* to, const void* from, int exist) {
  const unsigned address = unsigned(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(exist));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes), "r"(exist));
}
inline __device__ void close_group_of_copies() { asm volatile("cp.async.commit_group;"); }
/// Waits until at most `groups` groups of this thread's copies are on their way.
template <int groups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

}  // namespace lasolve
