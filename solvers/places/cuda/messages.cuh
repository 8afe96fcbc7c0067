// How the blocks of a kernel tell each other a few numbers at once: in a cluster, by writing into each other's shared
// memory; in a grid, by packets in global memory that carry the sequence of their round, so that neither a fence nor a
// barrier of the whole grid is needed. Who waits for packets in vain is told so (core/cuda/wait.cuh).
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

/// 64 bits in two words of 64 bits, each of which has a half of them below the sequence. Whoever finds the sequence in both words has
/// both halves: in PTX's memory model an access to a vector is one to each of its elements, in any order, and each of these, of
/// up to 64 bits and aligned, is indivisible. Nothing but what is in the packet may be taken for there: no fence is involved.
/// Stamps are never used twice, so packets of the past are not taken for new.
/// Source: the low-latency protocol of NVIDIA's NCCL; PTX ISA, "Memory Consistency Model", "Vector Data-types".
struct alignas(16) Packet {
  std::uint64_t low, high;
};

__device__ inline std::uint64_t with_sequence(unsigned half, unsigned sequence) {
  return std::uint64_t(sequence) << 32 | half;
}
__device__ inline bool has_sequence(std::uint64_t word, unsigned sequence) { return unsigned(word >> 32) == sequence; }

__device__ inline void send_packet(Packet* to, std::uint64_t content, unsigned sequence) {
  asm volatile("st.relaxed.gpu.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(with_sequence(unsigned(content), sequence)),
               "l"(with_sequence(unsigned(content >> 32), sequence))
               : "memory");
}

/// What the blocks of a kernel share to tell each other numbers: packets, zero at first; the sequence of its first round; a counter
/// for barriers; and how long to wait.
struct PacketChannel {
  Packet* packets = nullptr;
  unsigned sequence = 0;
  unsigned* arrived = nullptr;
  WaitLimit* limit = nullptr;
};

/// What each kernel has of a queue's counters: where it begins, and how many.
constexpr int counters_of_readers = 0, counters_of_parts = 0, ticket_of_lookahead = 5, counter_of_arrivals = 6,
              ticket_of_sync_free = 7;

/// For the next kernel of q, with room for so many bytes of packets and as many stamps as it has rounds.
inline PacketChannel channel_of(Queue<Cuda>& q, std::size_t bytes, unsigned rounds) {
  const auto packet_buffer = q.packet_buffer(bytes, rounds);
  return {static_cast<Packet*>(packet_buffer.memory), packet_buffer.sequence, q.counter() + counter_of_arrivals,
          q.wait_limit()};
}

/// Waits for a packet with this sequence, or several that lie together. False where that took too long; then content is undefined.
template <int count>
__device__ bool receive_packets(const Packet* from, unsigned sequence, std::uint64_t* content, WaitLimit* limit,
                                Wait wait) {
  Packet l[count];
  const bool received = until(limit, wait, [&] {
    bool all = true;
#pragma unroll
    for (int i = 0; i < count; ++i)
      asm volatile("ld.relaxed.gpu.v2.b64 {%0, %1}, [%2];"
                   : "=l"(l[i].low), "=l"(l[i].high)
                   : "l"(from + i)
                   : "memory");
#pragma unroll
    for (int i = 0; i < count; ++i) all = all && has_sequence(l[i].low, sequence) && has_sequence(l[i].high, sequence);
    return all;
  });
#pragma unroll
  for (int i = 0; i < count; ++i) content[i] = l[i].high << 32 | unsigned(l[i].low);
  return received;
}

/// All blocks of this cluster have received here, and see what each has written.
__device__ inline void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  sync_cluster();
#endif
}

/// Writes x into the memory of block `rank` of this cluster that corresponds to `to`, which is in ours.
template <class T>
__device__ inline void store_in_block(T* to, T x, unsigned rank) {
#if __CUDA_ARCH__ >= 900
  const unsigned there = address_in(rank, shared_address(to));
  if constexpr (sizeof(T) == 8)
    asm volatile("st.shared::cluster.b64 [%0], %1;" ::"r"(there), "l"(bits_of(x)) : "memory");
  else
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(there), "r"(unsigned(bits_of(x))) : "memory");
#endif
}

/// Shared memory into which all blocks of a cluster write at once; the writes themselves count the bytes that have received,
/// so that who waits for a round waits for nothing else.
class TransactionBarrier {
 public:
  /// One thread; then a cluster_barrier.
  __device__ void open() {
#if __CUDA_ARCH__ >= 900
    arrived_.init(1);
    fence_barrier_inits();
#endif
  }
  /// One thread, once a round: how many bytes will received.
  __device__ void expect(unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    arrived_.arrive_and_expect(bytes);
#endif
  }
  /// Until all bytes of a round have received; `odd` rounds and even ones take turns, beginning with an even one. However long that
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
