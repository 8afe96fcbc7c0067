// The pivot search: which row has the largest entry in a column, of the rows that the threads of one or many blocks
// hold.
//
// Each thread submits its best row. One warp finds the best of its block and sends it to all blocks, and all find the
// same pivot. Only then another warp broadcasts the pivot row, which arrives together with the candidates of the next
// search. So a candidate brings along its entry in the next column, which cannot wait for the row.
//
// What takes time are chains of instructions, not messages. So what comes first in a search is kept short.
#pragma once

#include "solvers/devices/cuda/messages.cuh"
#include "solvers/lu/cuda/pivot_candidate.cuh"
#include "solvers/lu/cuda/row_interchanges.cuh"

namespace lasolve {

/// A block has `threads` threads. Each has `rows` rows of a sub-panel of `columns` columns, in a panel of at most
/// `widest` columns. Products are made of `part` columns at a time.
struct PanelSize {
  int threads, rows, columns, widest = most_panel_columns;
};
template <class T, PanelSize size>
struct PanelShape {
  using Element = T;
  static constexpr int threads = size.threads, warps = threads / 32, rows = size.rows, columns = size.columns;
  static constexpr int widest = size.widest;
  static constexpr int rows_a_block = threads * rows, part = columns < 32 ? columns : 32;
  static_assert(columns <= threads);
};

constexpr std::size_t most_packet_bytes = std::size_t(2) * (most_grid_blocks * 5 + 32) * sizeof(Packet);

/// One block.
template <class Shape>
struct BlockPivotSearch {
  using T = typename Shape::Element;
  ThreadCandidates<T, Shape::threads> thread_candidates;
  Candidate<T> pivot;

  __device__ void init(const PacketChannel&) {}
  __device__ void barrier() { __syncthreads(); }
  /// Whether blocks share what each of them reads, and how many do; their barrier; and a store of x to `to` in all of
  /// them.
  static constexpr bool shares_memory = false;
  __device__ unsigned sharing_blocks() const { return 1; }
  __device__ void barrier_of_sharing_blocks() { __syncthreads(); }
  __device__ void store_in_all(T* to, T x) { *to = x; }
  /// Whether a block leaves the kernel when a wait took too long.
  static constexpr bool may_end_early = false;
  /// By all threads: their candidates for a round.
  __device__ void submit(int, const Candidate<T>& mine, std::uint64_t magnitude) {
    thread_candidates.put(mine, magnitude);
    __syncthreads();
  }
  /// By one warp, after submit: finds the best candidate of this block, number `block`, and sends it to all blocks.
  __device__ void send_candidate(int, int) {
    const Candidate<T> best = thread_candidates.template best<true>();
    if (threadIdx.x % 32 == 0) pivot = best;
  }
  /// By one warp, once a round: `live` entries of a row will arrive with its candidates.
  __device__ void expect_messages(int, int) {}
  /// By all threads: the pivot of a round. They then also see the pivot row of the round before, if there is one.
  __device__ Candidate<T> find_pivot(int, T*, bool) {
    __syncthreads();
    return pivot;
  }
  /// By a warp: sends the row that entry(i) computes to `to` in all blocks, together with the candidates of a round.
  template <int live>
  __device__ void broadcast_row(T* to, int, const auto& entry) {
    for (int i = threadIdx.x % 32; i < live; i += 32) to[i] = entry(i);
  }
};

/// The candidate of a block as a message; first what decides the search. `position_and_row` has both in one word; the
/// largest means no row. key() is the upper half of the magnitude, with the number of the block as its last bits.
/// Without a row it is that number.
template <class T>
struct alignas(16) CandidateMessage {
  T value;
  unsigned position_and_row, number;
  T behind, l;
  __device__ unsigned key() const { return number; }
};
template <>
struct alignas(16) CandidateMessage<float> {
  float value;
  unsigned position_and_row;
  float behind, l;
};

/// A cluster of up to 16 blocks. Messages have two buffers. A block that sends for round r + 2 has received round r + 1
/// from all blocks, so these are done with round r.
template <class Shape>
struct ClusterPivotSearch {
  using T = typename Shape::Element;
  static constexpr int buffers = 2, pieces = sizeof(CandidateMessage<T>) / 16;
  static constexpr unsigned row_numbers = most_cluster_blocks * Shape::rows_a_block, no_row = ~0u,
                            blocks = most_cluster_blocks;
  ThreadCandidates<T, Shape::threads> thread_candidates[2];
  uint4 messages[buffers][pieces][most_cluster_blocks];
  TransactionBarrier transactions[buffers];

  __device__ void init(const PacketChannel&) {
    if (threadIdx.x < buffers) transactions[threadIdx.x].open();
    cluster_barrier();
  }
  __device__ void barrier() { cluster_barrier(); }
  static constexpr bool shares_memory = true, may_end_early = false;
  __device__ unsigned sharing_blocks() const { return gridDim.x; }
  __device__ void barrier_of_sharing_blocks() { cluster_barrier(); }
  __device__ void store_in_all(T* to, T x) {  // there is no cluster of an odd number of blocks
#pragma unroll 1
    for (unsigned block = 0; block < gridDim.x; block += 2)
      store_in_block(to, x, block), store_in_block(to, x, block + 1);
  }
  __device__ void submit(int round, const Candidate<T>& mine, std::uint64_t magnitude) {
    thread_candidates[round % 2].put(mine, magnitude);
    __syncthreads();
  }
  __device__ static unsigned key_of(T value, unsigned position_and_row, int block) {
    return (position_and_row == no_row ? 0 : high_magnitude_of(value) / blocks * blocks) + unsigned(block);
  }
  /// Half a warp sends the first piece, a lane to each block, and the other half the second.
  __device__ void send_candidate(int round, int block) {
    const int to = threadIdx.x % 16, piece = threadIdx.x % 32 / 16, buffer = round % buffers;
    const Candidate<T> best = thread_candidates[round % 2].template best<false>();
    const unsigned position_and_row =
        best.position == best.no_row ? no_row : unsigned(best.position) * row_numbers + unsigned(best.row);
    uint4 words;
    if constexpr (pieces == 1) {
      words = __builtin_bit_cast(uint4, CandidateMessage<T>{best.value, position_and_row, best.behind, best.l});
    } else {
      const std::uint64_t first = bits_of(piece == 0 ? best.value : best.behind), second = bits_of(best.l);
      words = {unsigned(first), unsigned(first >> 32), piece == 0 ? position_and_row : unsigned(second),
               piece == 0 ? key_of(best.value, position_and_row, block) : unsigned(second >> 32)};
    }
    transactions[buffer].send(&messages[buffer][piece % pieces][block], words, unsigned(to),
                              piece < pieces && to < int(gridDim.x));
  }
  __device__ void expect_messages(int round, int live) {
    if (threadIdx.x % 32 == 0)
      transactions[round % buffers].expect(gridDim.x * unsigned(sizeof(CandidateMessage<T>)) +
                                           unsigned(live) * unsigned(sizeof(T)));
  }
  __device__ CandidateMessage<T> message(int buffer, int i) const {
    struct alignas(16) Pieces {
      uint4 words[pieces];
    } all;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) all.words[piece] = messages[buffer][piece][i];
    return __builtin_bit_cast(CandidateMessage<T>, all);
  }
  __device__ Candidate<T> find_pivot(int round, T*, bool) {
    const int buffer = round % buffers, lane = threadIdx.x % 32;
    transactions[buffer].wait(round / buffers % 2);
    CandidateMessage<T> m = message(buffer, lane % int(blocks));
    unsigned key = 0;
    if constexpr (pieces == 1)
      key = key_of(m.value, m.position_and_row, lane);
    else
      key = m.key();
    if (lane >= int(gridDim.x)) key = 0;
    const unsigned top = __reduce_max_sync(all_lanes, key);
    int winner = int(top % blocks);
    T reciprocal = fast_reciprocal(m.value);  // before the pivot is known
    const unsigned equals = __ballot_sync(all_lanes, key / blocks == top / blocks);
    if (top >= blocks && (equals & (equals - 1))) [[unlikely]]
      winner = best_lane(key >= blocks ? magnitude_of(m.value) : 0, int(m.position_and_row / row_numbers));
    reciprocal = __shfl_sync(all_lanes, reciprocal, winner);
    m = message(buffer, winner);
    Candidate<T> pivot;
    pivot.value = m.value, pivot.behind = m.behind, pivot.l = m.l;
    pivot.position = int(m.position_and_row / row_numbers), pivot.row = int(m.position_and_row % row_numbers);
    pivot.reciprocal = is_extreme(m.value) ? extreme_reciprocal(m.value) : reciprocal;
    return pivot;
  }
  /// A lane sends 16 bytes to one block, and the next group of lanes to the next block.
  template <int live>
  __device__ void broadcast_row(T* to, int round, const auto& entry) {
    constexpr unsigned size = 16 / sizeof(T), group = live / size, groups = 32 / group;
    const unsigned lane = threadIdx.x % 32, first = lane % group * size;
    Chunk<T> chunk;
#pragma unroll
    for (unsigned e = 0; e < size; ++e) chunk.values[e] = entry(int(first + e));
    static_assert(groups * group == 32);
#pragma unroll 1
    for (unsigned block = lane / group; block < gridDim.x; block += groups)
      transactions[round % buffers].send(to + first, chunk, block, true);
  }
};

/// A grid: candidates and pivot rows are packets that all blocks read.
template <class Shape>
struct GridPivotSearch {
  using T = typename Shape::Element;
  static constexpr int words = 5, W = Shape::columns, warps = Shape::warps;
  static constexpr int packets_a_buffer = most_grid_blocks * words + W;
  static_assert(W <= 32);  // a lane reads an entry of a row
  static_assert(2 * packets_a_buffer * sizeof(Packet) <= most_packet_bytes);
  ThreadCandidates<T, Shape::threads> thread_candidates;
  WarpCandidates<T, warps> candidates[2];  // of the blocks that a warp reads
  PacketChannel channel;

  __device__ void init(const PacketChannel& of_kernel) {
    if (threadIdx.x == 0) channel = of_kernel;
    __syncthreads();
  }
  __device__ void barrier() { grid_barrier(channel.arrived, channel.limit); }
  static constexpr bool shares_memory = false, may_end_early = true;
  __device__ unsigned sharing_blocks() const { return 1; }
  __device__ void barrier_of_sharing_blocks() { __syncthreads(); }
  __device__ void store_in_all(T* to, T x) { *to = x; }
  __device__ Packet* of_block(unsigned block, int round) const {
    return channel.packets + (round % 2) * packets_a_buffer + block * words;
  }
  __device__ Packet* of_row(int round) const {
    return channel.packets + (round % 2) * packets_a_buffer + most_grid_blocks * words;
  }
  __device__ void submit(int, const Candidate<T>& mine, std::uint64_t magnitude) {
    thread_candidates.put(mine, magnitude);
    __syncthreads();
  }
  __device__ void send_candidate(int round, int block) {
    const Candidate<T> best = thread_candidates.template best<true>();
    const std::uint64_t position_and_row = std::uint64_t(unsigned(best.position)) << 32 | unsigned(best.row);
    const int i = threadIdx.x % 32;
    const T entry = i == 0 ? best.value : i == 2 ? best.behind : i == 3 ? best.l : best.reciprocal;
    if (i < words)
      send_packet(of_block(unsigned(block), round) + i, i == 1 ? position_and_row : bits_of(entry),
                  channel.sequence + unsigned(round));
  }
  __device__ void expect_messages(int, int) {}
  __device__ Candidate<T> find_pivot(int round, T* to, bool row) {
    const int lane = threadIdx.x % 32;
    const unsigned now = channel.sequence + unsigned(round);
    Candidate<T> mine;
    const Packet* from = nullptr;
    bool received = true;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += Shape::threads) {
      std::uint64_t read[2];
      const Packet* packet = of_block(block, round);
      received &= receive_packets<2>(packet, now, read, channel.limit, {Awaited::candidate, block, gridDim.x});
      Candidate<T> other;
      other.value = from_bits<T>(read[0]), other.position = int(read[1] >> 32), other.row = int(unsigned(read[1]));
      if (other.before(mine)) mine = other, from = packet;
    }
    if (lane == best_lane(mine.magnitude(),
                          mine.position)) {  // only the best of a warp is read to its end, to spare the memory
      if (from) {
        std::uint64_t rest[3];
        received &= receive_packets<3>(from + 2, now, rest, channel.limit,
                                       {Awaited::rest_of_candidate, unsigned(round), gridDim.x});
        mine.behind = from_bits<T>(rest[0]), mine.l = from_bits<T>(rest[1]), mine.reciprocal = from_bits<T>(rest[2]);
      }
      candidates[round % 2].put(mine, mine.magnitude());
    }
    if (row && threadIdx.x / 32 == warps - 1 && lane < W) received &= receive_row(to, round);
    if (__syncthreads_or(!received)) leave_kernel();
    return candidates[round % 2].best();
  }
  /// By W lanes of a warp: entry i of the row of a round to to[i]. False where it does not arrive.
  __device__ bool receive_row(T* to, int round) {
    const int i = threadIdx.x % 32;
    std::uint64_t entry;
    const bool received = receive_packets<1>(of_row(round) + i, channel.sequence + unsigned(round), &entry,
                                             channel.limit, {Awaited::pivot_row, unsigned(round), gridDim.x});
    to[i] = from_bits<T>(entry);
    return received;
  }
  template <int live>
  __device__ void broadcast_row(T*, int round, const auto& entry) {
    if (const int i = threadIdx.x % 32; i < W)
      send_packet(of_row(round) + i, i < live ? bits_of(entry(i)) : 0, channel.sequence + unsigned(round));
  }
};

}  // namespace lasolve
