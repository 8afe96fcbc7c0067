// How the blocks of a kernel tell each other a few numbers at once: in a cluster, by writing into each other's shared
// memory; in a grid, by letters in global memory that carry the stamp of their round, so that neither a fence nor a
// barrier of the whole grid is needed.
#pragma once

#include <cstdint>

namespace lasolve {

/// 64 bits in two halves, each beside the stamp: whoever reads both stamps has both halves, because 8 bytes are written
/// at once. Stamps are never used twice, so letters of the past are not taken for new.
/// Source: the low-latency protocol of NVIDIA's NCCL.
struct alignas(16) Letter {
  unsigned low, low_stamp, high, high_stamp;
};

/// The shared memory of block `rank` of this cluster that corresponds to `mine`, which is in ours.
template <class T>
__device__ T* of_block(T* mine, unsigned rank) {
  T* theirs = nullptr;
#if __CUDA_ARCH__ >= 900
  asm("mapa.u64 %0, %1, %2;" : "=l"(theirs) : "l"(mine), "r"(rank));
#endif
  return theirs;
}

/// All blocks of this cluster have come here.
__device__ inline void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
#endif
}

__device__ inline void post(Letter* to, std::uint64_t content, unsigned stamp) {
  asm volatile("st.relaxed.gpu.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(unsigned(content)), "r"(stamp),
               "r"(unsigned(content >> 32)), "r"(stamp)
               : "memory");
}

/// Waits for the letter with this stamp.
__device__ inline std::uint64_t collect(const Letter* from, unsigned stamp) {
  Letter l;
  do {
    asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(l.low), "=r"(l.low_stamp), "=r"(l.high), "=r"(l.high_stamp)
                 : "l"(from)
                 : "memory");
  } while (l.low_stamp != stamp || l.high_stamp != stamp);
  return std::uint64_t(l.high) << 32 | l.low;
}

__device__ inline std::uint64_t bits_of(double x) { return std::uint64_t(__double_as_longlong(x)); }
__device__ inline std::uint64_t bits_of(float x) { return __float_as_uint(x); }
template <class T>
__device__ T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return __longlong_as_double((long long)(bits));
  else
    return __uint_as_float(unsigned(bits));
}

}  // namespace lasolve
