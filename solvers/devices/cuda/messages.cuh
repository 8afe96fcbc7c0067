// How the blocks of a kernel send each other a few numbers. In a cluster they write into each other's shared memory. In
// a grid they write packets to global memory, which carry the sequence number of their round. So neither a fence nor a
// barrier of the grid is needed. A wait for packets ends after a while, with an error (core/cuda/wait.cuh).
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

/// 64 bits of content in two words of 64 bits. Each word has one half of the content, below the sequence number. Who
/// finds the sequence number in both words has both halves. In PTX's memory model an access to a vector is one to each
/// of its elements, in any order. Each of these, aligned and of up to 64 bits, is indivisible. No fence is involved, so
/// only what is in the packet may be taken for there. Sequence numbers are never used twice, so old packets are not
/// taken for new ones.
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

/// How the blocks of a kernel send each other packets. These are zero at first. `sequence` is the number of the first
/// round, `arrived` a counter for barriers, `limit` how long to wait.
struct PacketChannel {
  Packet* packets = nullptr;
  unsigned sequence = 0;
  unsigned* arrived = nullptr;
  WaitLimit* limit = nullptr;
};

/// Where the counters of each kernel begin among those of a queue.
constexpr int counters_of_readers = 0, counters_of_parts = 0, claims_of_lookahead = 5, counter_of_arrivals = 6,
              tickets_of_sync_free = 7,  // two, for launches in turns: one may begin while the one before ends
    counter_of_facts = 9;

/// For the next kernel of q, with room for so many bytes of packets, and as many sequence numbers as it has rounds.
inline PacketChannel channel_of(Queue<Cuda>& q, std::size_t bytes, unsigned rounds) {
  const auto packet_buffer = q.packet_buffer(bytes, rounds);
  return {static_cast<Packet*>(packet_buffer.memory), packet_buffer.sequence, q.counter() + counter_of_arrivals,
          q.wait_limit()};
}

/// Waits for a packet with this sequence number, or for several that lie together. False where that took too long; then
/// content is undefined.
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

/// All blocks of this cluster have come here, and see what each has written.
__device__ inline void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  __syncwarp();
  sync_cluster();
#endif
}

/// Writes x into the shared memory of block `rank` of this cluster, to the place that corresponds to `to` in this
/// block.
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

/// A barrier for shared memory into which all blocks of a cluster write at once: an mbarrier with a transaction count.
/// The writes themselves count the bytes that have arrived.
class TransactionBarrier {
 public:
  /// One thread; then a cluster_barrier.
  __device__ void open() {
#if __CUDA_ARCH__ >= 900
    arrived_.init(1);
    fence_barrier_inits();
#endif
  }
  /// One thread, once a round: how many bytes will arrive.
  __device__ void expect(unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    arrived_.arrive_and_expect(bytes);
#endif
  }
  /// Until all bytes of a round have arrived. Odd and even rounds alternate; the first one is even. The wait has no
  /// limit: all blocks of a cluster run at the same time, so nothing else on the device can hold a message up.
  __device__ void wait(bool odd) {
#if __CUDA_ARCH__ >= 900
    arrived_.wait(odd);
#endif
  }
  /// If `really`, writes 16 bytes into the shared memory of block `rank`, to the place that corresponds to `to` here,
  /// and counts them there. A branch around it would cost more than the message.
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
