// How the blocks of a kernel tell each other a few numbers at once: in a cluster, by writing into each other's shared
// memory; in a grid, by letters in global memory that carry the stamp of their round, so that neither a fence nor a
// barrier of the whole grid is needed.
#pragma once

#include "core/cuda/shared_memory.cuh"

namespace lasolve {

__device__ inline std::uint64_t bits_of(double x) { return std::uint64_t(__double_as_longlong(x)); }
__device__ inline std::uint64_t bits_of(float x) { return __float_as_uint(x); }
template <class T>
__device__ T from_bits(std::uint64_t bits) {
  if constexpr (sizeof(T) == 8)
    return __longlong_as_double((long long)(bits));
  else
    return __uint_as_float(unsigned(bits));
}

/// 64 bits in two halves, each beside the stamp: whoever reads both stamps has both halves, because 8 bytes are written
/// at once. Stamps are never used twice, so letters of the past are not taken for new.
/// Source: the low-latency protocol of NVIDIA's NCCL.
struct alignas(16) Letter {
  unsigned low, low_stamp, high, high_stamp;
};

__device__ inline void post(Letter* to, std::uint64_t content, unsigned stamp) {
  asm volatile("st.relaxed.gpu.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(unsigned(content)), "r"(stamp),
               "r"(unsigned(content >> 32)), "r"(stamp)
               : "memory");
}

/// Waits for a letter with this stamp, or several that lie together.
template <int count>
__device__ void collect(const Letter* from, unsigned stamp, std::uint64_t* content) {
  Letter l[count];
  bool all;
  do {
    all = true;
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(l[i].low), "=r"(l[i].low_stamp), "=r"(l[i].high), "=r"(l[i].high_stamp)
                   : "l"(from + i)
                   : "memory");
#pragma unroll
    for (int i = 0; i < count; ++i) all = all && l[i].low_stamp == stamp && l[i].high_stamp == stamp;
  } while (!all);
#pragma unroll
  for (int i = 0; i < count; ++i) content[i] = std::uint64_t(l[i].high) << 32 | l[i].low;
}
__device__ inline std::uint64_t collect(const Letter* from, unsigned stamp) {
  std::uint64_t content[1];
  collect<1>(from, stamp, content);
  return content[0];
}

/// All blocks of this cluster have come here, and see what each has written.
__device__ inline void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  sync_cluster();
#endif
}

/// Writes x into the memory of block `rank` of this cluster that corresponds to `to`, which is in ours.
template <class T>
__device__ inline void write_there(T* to, T x, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  const unsigned there = address_in(rank, shared_address(to));
  if constexpr (sizeof(T) == 8)
    asm volatile("st.shared::cluster.b64 [%0], %1;" ::"r"(there), "l"(bits_of(x)) : "memory");
  else
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(there), "r"(unsigned(bits_of(x))) : "memory");
#endif
}

/// Shared memory into which all blocks of a cluster write at once; the writes themselves count the bytes that have come,
/// so that who waits for a round waits for nothing else.
class Inbox {
 public:
  /// One thread; then a cluster_barrier.
  __device__ void open() {
#if __CUDA_ARCH__ >= 900
    arrived_.init(1);
    fence_barrier_inits();
#endif
  }
  /// One thread, once a round: how many bytes will come.
  __device__ void expect(unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    arrived_.arrive_and_expect(bytes);
#endif
  }
  /// Until all bytes of a round have come; `odd` rounds and even ones take turns, beginning with an even one.
  __device__ void wait(bool odd) {
#if __CUDA_ARCH__ >= 900
    arrived_.wait(odd);
#endif
  }
  /// Writes 16 bytes into the memory of block `rank` that corresponds to `to`, which is in ours, and counts there; or not. A
  /// branch around it would cost more than the message.
  template <class T>
  __device__ void send(T* to, const auto& sixteen_bytes, unsigned rank, bool really) {
#if __CUDA_ARCH__ >= 900
    static_assert(sizeof(sixteen_bytes) == 16);
    const uint4 words = __builtin_bit_cast(uint4, sixteen_bytes);
    asm volatile(
        "{\n\t.reg .pred p;\n\t"
        "setp.ne.u32 p, %6, 0;\n\t"
        "@p st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];\n\t}" ::"r"(
            address_in(rank, shared_address(to))),
        "r"(words.x), "r"(words.y), "r"(words.z), "r"(words.w), "r"(address_in(rank, shared_address(&arrived_))),
        "r"(unsigned(really))
        : "memory");
#endif
  }

 private:
  Barrier arrived_;
};

}  // namespace lasolve
