// How the blocks of a kernel tell each other a few numbers at once: in a cluster, by writing into each other's shared
// memory; in a grid, by letters in global memory that carry the stamp of their round, so that neither a fence nor a
// barrier of the whole grid is needed. Who waits for letters in vain is told so (core/cuda/wait.cuh).
#pragma once

#include "core/cuda/shared_memory.cuh"
#include "core/cuda/wait.cuh"
#include "lasolve/queue.hpp"

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

/// 64 bits in two words of 64 bits, each of which has a half of them below the stamp. Whoever finds the stamp in both words has
/// both halves: in PTX's memory model an access to a vector is one to each of its elements, in any order, and each of these, of
/// up to 64 bits and aligned, is indivisible. Nothing but what is in the letter may be taken for there: no fence is involved.
/// Stamps are never used twice, so letters of the past are not taken for new.
/// Source: the low-latency protocol of NVIDIA's NCCL; PTX ISA, "Memory Consistency Model", "Vector Data-types".
struct alignas(16) Letter {
  std::uint64_t low, high;
};

__device__ inline std::uint64_t stamped(unsigned half, unsigned stamp) { return std::uint64_t(stamp) << 32 | half; }
__device__ inline bool bears(std::uint64_t word, unsigned stamp) { return unsigned(word >> 32) == stamp; }

__device__ inline void post(Letter* to, std::uint64_t content, unsigned stamp) {
  asm volatile("st.relaxed.gpu.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(stamped(unsigned(content), stamp)),
               "l"(stamped(unsigned(content >> 32), stamp))
               : "memory");
}

/// What the blocks of a kernel share to tell each other numbers: letters, zero at first; the stamp of its first round; a counter
/// for barriers; and how long to wait.
struct Mail {
  Letter* letters = nullptr;
  unsigned stamp = 0;
  unsigned* arrived = nullptr;
  WaitLimit* limit = nullptr;
};

/// What each kernel has of a queue's counters: where it begins, and how many.
constexpr int counters_of_readers = 0, counters_of_parts = 0, ticket_of_advance = 5, counter_of_arrivals = 6,
              ticket_of_dataflow = 7;

/// For the next kernel of q, with room for so many bytes of letters and as many stamps as it has rounds.
inline Mail mail_of(Queue<Cuda>& q, std::size_t bytes, unsigned rounds) {
  const auto mailbox = q.mailbox(bytes, rounds);
  return {static_cast<Letter*>(mailbox.memory), mailbox.stamp, q.counter() + counter_of_arrivals, q.wait_limit()};
}

/// Waits for a letter with this stamp, or several that lie together. False where that took too long; then content is undefined.
template <int count>
__device__ bool collect(const Letter* from, unsigned stamp, std::uint64_t* content, WaitLimit* limit, Wait wait) {
  Letter l[count];
  const bool come = until(limit, wait, [&] {
    bool all = true;
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("ld.relaxed.gpu.v2.b64 {%0, %1}, [%2];"
                   : "=l"(l[i].low), "=l"(l[i].high)
                   : "l"(from + i)
                   : "memory");
#pragma unroll
    for (int i = 0; i < count; ++i) all = all && bears(l[i].low, stamp) && bears(l[i].high, stamp);
    return all;
  });
#pragma unroll
  for (int i = 0; i < count; ++i) content[i] = l[i].high << 32 | unsigned(l[i].low);
  return come;
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
  /// Until all bytes of a round have come; `odd` rounds and even ones take turns, beginning with an even one. However long that
  /// takes: all blocks of a cluster run at the same time, so that nothing else on the device can keep a message from coming.
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
