// The election of a pivot: which of the rows that the threads of one or many blocks hold has the largest entry in a
// column. Every warp nominates its best row; the warp that has the best of a block sends the whole row to all blocks, and
// all of them pick the same winner.
#pragma once

#include <cooperative_groups.h>

#include <climits>

#include "solvers/cuda/mailbox.cuh"

namespace lasolve {

constexpr int panel_threads = 256;
constexpr int panel_warps = panel_threads / 32;
constexpr int most_cluster_blocks = 16;
constexpr int most_grid_blocks = 256;
constexpr unsigned all_lanes = ~0u;

/// Keys order as |a| does, with NaN above all; nobody has key 0. Of equals the first position wins, as in LAPACK. `row` is
/// where the row is, `position` where it would be if the exchanges so far had been made.
struct alignas(16) Candidate {
  std::uint64_t key = 0;
  int position = INT_MAX, row = 0;

  Candidate() = default;
  __device__ Candidate(double a, int position, int row)
      : key(bits_of(fabs(a)) + (std::uint64_t(1) << 32)), position(position), row(row) {}
  __device__ Candidate(float a, int position, int row)
      : key((bits_of(fabs(a)) + 1) << 32), position(position), row(row) {}
  __device__ bool before(const Candidate& other) const {
    return key > other.key || (key == other.key && position < other.position);
  }
};

/// The lane with the best candidate of a warp; any lane where nobody is. Most often the upper halves of the keys decide.
__device__ inline int best_lane(const Candidate& mine) {
  const auto high = unsigned(mine.key >> 32);
  bool best = __reduce_max_sync(all_lanes, high) == high;
  unsigned ballot = __ballot_sync(all_lanes, best);
  if (ballot & (ballot - 1)) {
    const unsigned low = __reduce_max_sync(all_lanes, best ? unsigned(mine.key) : 0u);
    best = best && unsigned(mine.key) == low;
    const unsigned position = __reduce_min_sync(all_lanes, best ? unsigned(mine.position) : ~0u);
    ballot = __ballot_sync(all_lanes, best && unsigned(mine.position) == position);
  }
  return 31 - __clz(int(ballot));
}

/// The warp with the best candidate of a block, of which each has put its own into `candidates`.
__device__ inline int best_warp(const Candidate (&candidates)[panel_warps]) {
  const int lane = threadIdx.x % 32;
  return best_lane(lane < panel_warps ? candidates[lane] : Candidate()) % panel_warps;
}

/// One warp of a block goes first: the others wait until it has.
__device__ inline void let_pass() { asm volatile("barrier.sync 1, %0;" ::"n"(panel_threads) : "memory"); }
__device__ inline void passed() { asm volatile("barrier.arrive 1, %0;" ::"n"(panel_threads) : "memory"); }

/// About 1 / x to the last bit or two, for x whose reciprocal is normal.
__device__ inline double fast_reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(-x, y, 1.0);
  return fma(y, fma(e, e, e), y);
}
__device__ inline float fast_reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// 16 bytes, read or written at once.
template <class T>
struct alignas(16) Chunk {
  static constexpr int size = 16 / sizeof(T);
  T values[size];

  /// Written by inline assembly, because compilers like to merge the stores of several branches into one, and then select
  /// what it stores.
  __device__ void write_shared(T* to) const {
    const uint4 words = __builtin_bit_cast(uint4, *this);
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(unsigned(__cvta_generic_to_shared(to))), "r"(words.x),
                 "r"(words.y), "r"(words.z), "r"(words.w)
                 : "memory");
  }
};

/// The winner: its row from the pivot on, its position and where it is.
template <class T>
struct Winner {
  const T* row = nullptr;
  int position = 0, physical = 0;
};

/// One block.
template <class T, int W>
struct AloneElection {
  alignas(16) T rows[2][W];
  Candidate winner[2];

  __device__ void open(Letter*, unsigned) {}
  __device__ void barrier() { __syncthreads(); }
  /// By one warp of each block, while the others let it pass: its candidate, and entry `lane` < live of its row.
  template <int live>
  __device__ void send(const Candidate& best, T entry, int round) {
    const int lane = threadIdx.x % 32;
    if (lane < W) rows[round % 2][lane] = entry;
    if (lane == 0) winner[round % 2] = best;
    __syncwarp();
  }
  /// By all threads.
  __device__ Winner<T> elect(int round) { return {rows[round % 2], winner[round % 2].position, winner[round % 2].row}; }
};

/// A cluster of up to 16 blocks. A page of the inbox is used again after three rounds, when nobody reads it any more: who
/// sends for round r + 3 has heard of round r + 2 from blocks that were done with round r.
template <class T, int W>
struct ClusterElection {
  static constexpr int pages = 3;
  alignas(16) T rows[pages][most_cluster_blocks][W];
  Candidate candidates[pages][most_cluster_blocks];
  Inbox inbox[pages];

  __device__ void open(Letter*, unsigned) {
    if (threadIdx.x < pages) inbox[threadIdx.x].open();
    cluster_barrier();
  }
  __device__ void barrier() { cluster_barrier(); }
  template <int live>
  __device__ void send(const Candidate& best, T entry, int round) {
    const unsigned lane = threadIdx.x % 32;
    const int page = round % pages;
    if (lane == 0) inbox[page].expect(gridDim.x * unsigned(live * sizeof(T) + sizeof(Candidate)));
    // A lane sends 16 bytes to one block, and the next group of lanes to the next block.
    constexpr unsigned size = 16 / sizeof(T), group = live / size, groups = 32 / group;
    const unsigned first = lane % group * size;
    Chunk<T> chunk;
#pragma unroll
    for (unsigned e = 0; e < size; ++e) chunk.values[e] = __shfl_sync(all_lanes, entry, int(first + e));
#pragma unroll
    for (unsigned to = 0; to < most_cluster_blocks; to += groups)
      if (lane < groups * group && to + lane / group < gridDim.x)
        inbox[page].send(&rows[page][blockIdx.x][first], chunk, to + lane / group);
    if (lane < gridDim.x) inbox[page].send(&candidates[page][blockIdx.x], best, lane);
  }
  __device__ Winner<T> elect(int round) {
    const int lane = threadIdx.x % 32, page = round % pages;
    inbox[page].wait(round / pages % 2);
    const int b = best_lane(lane < gridDim.x ? candidates[page][lane] : Candidate());
    return {rows[page][b], candidates[page][b].position, candidates[page][b].row};
  }
};

/// A grid: candidates are read by all blocks, and then the row of the best.
template <class T, int W>
struct GridElection {
  alignas(16) T rows[2][W];
  Candidate candidates[panel_warps];
  unsigned blocks[panel_warps];
  Letter* letters;
  unsigned stamp;

  static constexpr int letters_a_block = W + 2;
  static constexpr std::size_t bytes = 2 * most_grid_blocks * letters_a_block * sizeof(Letter);

  __device__ void open(Letter* to, unsigned first_stamp) {
    if (threadIdx.x == 0) letters = to, stamp = first_stamp;
    __syncthreads();
  }
  __device__ void barrier() { cooperative_groups::this_grid().sync(); }
  __device__ Letter* of_block(unsigned block, int round) const {
    return letters + (std::size_t(round % 2) * most_grid_blocks + block) * letters_a_block;
  }
  template <int live>
  __device__ void send(const Candidate& best, T entry, int round) {
    const int lane = threadIdx.x % 32;
    Letter* mine = of_block(blockIdx.x, round);
    if (lane == 0) post(mine + W, bits_of(entry), stamp + unsigned(round));
    if (lane == 1)
      post(mine + W + 1, std::uint64_t(unsigned(best.position)) << 32 | unsigned(best.row), stamp + unsigned(round));
    if (lane < W) post(mine + lane, bits_of(entry), stamp + unsigned(round));
  }
  __device__ Winner<T> elect(int round) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    Candidate mine;
    if (threadIdx.x < gridDim.x) {
      const Letter* theirs = of_block(threadIdx.x, round);
      const T value = from_bits<T>(collect(theirs + W, stamp + unsigned(round)));
      const std::uint64_t seat = collect(theirs + W + 1, stamp + unsigned(round));
      if (int(seat >> 32) != INT_MAX) mine = Candidate(value, int(seat >> 32), int(unsigned(seat)));
    }
    if (warp * 32 < gridDim.x) {
      const int best = best_lane(mine);
      if (lane == best) candidates[warp] = mine, blocks[warp] = threadIdx.x;
    }
    __syncthreads();
    const int w = best_lane(lane < panel_warps && lane * 32 < gridDim.x ? candidates[lane] : Candidate());
    const Candidate winner = candidates[w];
    if (warp == 0 && lane < W)
      rows[round % 2][lane] = from_bits<T>(collect(of_block(blocks[w], round) + lane, stamp + unsigned(round)));
    __syncthreads();
    return {rows[round % 2], winner.position, winner.row};
  }
};

}  // namespace lasolve
