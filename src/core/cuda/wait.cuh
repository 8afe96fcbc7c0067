// How blocks of a kernel wait for each other: in one loop, which does not go on for ever; by a barrier of the grid; and in the
// order of their tickets.
#pragma once

#include "core/cuda/wait_limit.hpp"

namespace lasolve {

/// By one thread, when all of its block have come to a barrier behind their work: *to ← what, for a host that looks at `watched_solve`. What
/// the block has written is there when the host sees it.
template <class T>
__device__ void tell_host(T* to, T what) {
  what.written = 0;
  *to = what;
  __threadfence_system();
  *static_cast<volatile unsigned*>(&to->written) = 1;
}

/// By the clock that all multiprocessors share.
__device__ inline std::uint64_t nanoseconds() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}
/// In 2²⁰ ns.
__device__ inline unsigned tick() { return unsigned(nanoseconds() >> 20); }

/// For what a thread waits, and of how many that is which.
struct Wait {
  Awaited what;
  unsigned which, of;
};

/// Calls there() until it is true. False where that took longer than the limit, here or elsewhere in the queue: then `wait` is
/// what the host is told, and what was waited for must not be used. The clock is looked at every few milliseconds, and what
/// passes between two looks counts for a second at most: a debugger may stop the device for hours.
template <class There>
__device__ __forceinline__ bool until(WaitLimit* limit, Wait wait, There there) {
  constexpr unsigned polls_of_a_look = 4096, most_ticks = 1000;
  unsigned polls = 0, waited = 0, before = 0;
#pragma unroll 1
  while (!there()) {
    if (++polls % polls_of_a_look != 0) [[likely]]
      continue;
    const unsigned now = tick();
    if (polls > polls_of_a_look) waited += min(now - before, most_ticks);
    before = now;
    volatile WaitLimit& in_memory = *limit;
    if (waited > in_memory.ticks) {
      asm volatile("" : "+r"(wait.which), "+r"(wait.of));  // else the word is made before the loop
      in_memory.expired = WaitLimit::word(wait.what, wait.which, wait.of);
    }
    if (in_memory.expired != 0) return false;
  }
  return true;
}

/// The block ends here: by all of its threads, where one has waited in vain.
__device__ inline void leave_kernel() { asm volatile("exit;"); }

/// All blocks of the grid have come here, and see what each has written; or they leave. `arrived` is one of a queue's counters,
/// of which only the first bit changes: each barrier turns it over. Source: CUDA's cooperative groups, which wait for ever.
__device__ inline void grid_barrier(unsigned* arrived, WaitLimit* limit) {
  constexpr unsigned turn = 1u << 31;
  bool alone = false;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    const unsigned before = atomicAdd(arrived, blockIdx.x == 0 ? turn - (gridDim.x - 1) : 1u);
    alone = !until(limit, {Awaited::panel, 0, gridDim.x}, [&] {
      unsigned now;
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(arrived) : "memory");
      return ((before ^ now) & turn) != 0;
    });
    __threadfence();
  }
  if (__syncthreads_or(alone)) leave_kernel();
}

/// 0, …, count − 1, in the order of arrival. Nothing says in which order blocks are begun: so a block that waits for others
/// waits for those with smaller tickets, which have begun. Whoever takes the last leaves the counter at zero.
__device__ inline unsigned take_ticket(unsigned* counter, unsigned count) { return atomicInc(counter, count - 1); }

}  // namespace lasolve
