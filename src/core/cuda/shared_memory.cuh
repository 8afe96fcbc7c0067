// Shared memory by its addresses, of 32 bits; that of the other blocks of a cluster; barriers in it. All but the first need
// compute capability 9.0.
// Source   NVIDIA, PTX ISA: mapa, barrier.cluster, mbarrier
#pragma once

#include <cstdint>

namespace lasolve {

__device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

/// The address that means in the whole cluster what `address` means in one of its blocks.
__device__ inline unsigned address_in(unsigned block, unsigned address) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
__device__ inline unsigned block_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
/// All blocks of this cluster have come here, and see what each has written.
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// A barrier in shared memory. A phase ends when all arrivals and all expected bytes are there; phases alternate in parity,
/// and of a fresh barrier the phase before the first, of parity 1, has ended.
struct Barrier {
  std::uint64_t state;

  __device__ void init(unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals) : "memory");
  }
  /// May overtake loads from shared memory that were issued before: who leaves memory to the copy engine must have used what it
  /// loaded.
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Arrives at the same barrier of a block of the cluster.
  __device__ void arrive_at(unsigned block) {
    const unsigned there = address_in(block, shared_address(this));
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  }
  __device__ void arrive_and_expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                 : "memory");
  }
  /// When all that this thread has given to copy_async is there.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Whether the phase of this parity has ended.
  __device__ bool has_ended(unsigned parity) {
    unsigned ended;
    asm volatile(
        "{ .reg .pred ended;\n"
        "  mbarrier.test_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "  selp.u32 %0, 1, 0, ended; }"
        : "=r"(ended)
        : "r"(shared_address(this)), "r"(parity)
        : "memory");
    return ended;
  }
  /// Until it has.
  __device__ void wait(unsigned parity) {
    unsigned ended = 0;
    while (!ended) {
      asm volatile(
          "{ .reg .pred ended;\n"
          "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, ended; }"
          : "=r"(ended)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
    }
  }
};
/// After the inits, before the barrier of the block or the cluster behind which others use them.
__device__ inline void fence_barrier_inits() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

}  // namespace lasolve
