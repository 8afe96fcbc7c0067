// The election of a pivot: which of the rows that the threads of one or many blocks hold has the largest entry in a
// column. Every warp nominates its best row, the best of a block goes to all blocks, and all of them pick the same winner.
// Only then is the winner's row published, and it arrives together with the candidates of the next election. So a
// candidate brings along what cannot wait for its row: its entry in the column behind, and the reciprocal of the pivot.
#pragma once

#include <cooperative_groups.h>

#include <climits>

#include "solvers/cuda/mailbox.cuh"

namespace lasolve {

/// A block has `threads` threads, each of which has `rows` rows of a strip of `columns` columns, in a panel of at most
/// `widest` columns.
template <class T, int threads_, int rows_, int columns_, int widest_>
struct PanelShape {
  using Element = T;
  static constexpr int threads = threads_, warps = threads / 32, rows = rows_, columns = columns_, widest = widest_;
  static constexpr int rows_a_block = threads * rows;
};

constexpr int most_cluster_blocks = 16;
constexpr int most_grid_blocks = 256;
constexpr std::size_t most_letters = std::size_t(2) * (most_grid_blocks * 5 + 32) * sizeof(Letter);
constexpr unsigned all_lanes = ~0u;

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

/// Whether the reciprocal of a pivot could overflow or be subnormal. Then the pivot and its column are multiplied by
/// scale_for it first.
__device__ inline bool is_extreme(double pivot) { return unsigned((__double2hiint(pivot) >> 20 & 0x7ff) - 23) > 2000u; }
__device__ inline bool is_extreme(float pivot) { return unsigned((__float_as_int(pivot) >> 23 & 0xff) - 7) > 240u; }
__device__ inline double scale_for(double pivot) { return fabs(pivot) < 1 ? 0x1p600 : 0x1p-600; }
__device__ inline float scale_for(float pivot) { return fabs(pivot) < 1 ? 0x1p60f : 0x1p-60f; }
template <class T>
__device__ T extreme_reciprocal(T pivot) {
  return pivot == T(0) ? T(1) : fast_reciprocal(pivot * scale_for(pivot));
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

/// Ranks order as |a| does, with NaN above all; nobody has rank 0.
__device__ inline std::uint64_t rank_of(double a) { return bits_of(fabs(a)) + (std::uint64_t(1) << 32); }
__device__ inline std::uint64_t rank_of(float a) { return (bits_of(fabs(a)) + 1) << 32; }

/// A row that could be the pivot row of a column. `row` is where it is, `position` where it would be if the exchanges so far
/// had been made.
template <class T>
struct alignas(16) Candidate {
  static constexpr int nobody = INT_MAX;
  T value = 0;  // its entry in the column
  int position = nobody, row = 0;
  T behind = 0, l = 0;  // its entry in the column behind, which lacks the step before; its multiplier in that step
  T reciprocal = 0;     // of the value times scale_for it

  __device__ std::uint64_t rank() const { return position == nobody ? 0 : rank_of(value); }
  __device__ bool before(const Candidate& other) const {
    return rank() > other.rank() || (rank() == other.rank() && position < other.position);
  }
};

/// The lane with the best candidate of a warp; any lane where nobody is. Of equals the first position wins, as in LAPACK.
/// Most often the upper halves of the ranks decide. A warp without rows is quick too: those with rows wait for it.
__device__ inline int best_lane(std::uint64_t rank, int position) {
  const auto high = unsigned(rank >> 32);
  const unsigned top = __reduce_max_sync(all_lanes, high);
  bool best = top == high;
  unsigned ballot = __ballot_sync(all_lanes, best);
  if (top > 0 && (ballot & (ballot - 1))) {
    const unsigned low = __reduce_max_sync(all_lanes, best ? unsigned(rank) : 0u);
    best = best && unsigned(rank) == low;
    const unsigned first = __reduce_min_sync(all_lanes, best ? unsigned(position) : ~0u);
    ballot = __ballot_sync(all_lanes, best && unsigned(position) == first);
  }
  return 31 - __clz(int(ballot));
}

/// By a whole warp: which of up to 32 candidates is the best.
template <class T>
__device__ int best_of(const Candidate<T>* candidates, int count) {
  const int lane = threadIdx.x % 32;
  std::uint64_t rank = 0;
  int position = Candidate<T>::nobody;
  if (lane < count) rank = candidates[lane].rank(), position = candidates[lane].position;
  return min(best_lane(rank, position), count - 1);
}

/// What the warps of a block nominate: a candidate each, and the upper halves of their ranks.
template <class T, int warps>
struct Nominees {
  Candidate<T> candidates[warps];
  alignas(16) unsigned high[warps];

  /// By one lane of each warp.
  __device__ void put(const Candidate<T>& nominee, std::uint64_t rank) {
    candidates[threadIdx.x / 32] = nominee;
    high[threadIdx.x / 32] = unsigned(rank >> 32);
  }
  __device__ const Candidate<T>& best() const {
    unsigned all[warps], top = 0;
    int at = 0, equals = 0;
#pragma unroll
    for (int i = 0; i < warps; i += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(&high[i]);
      all[i] = four.x, all[i + 1] = four.y, all[i + 2] = four.z, all[i + 3] = four.w;
      top = max(top, max(max(four.x, four.y), max(four.z, four.w)));
    }
#pragma unroll
    for (int i = warps - 1; i >= 0; --i)
      if (all[i] == top) at = i, ++equals;
    if (equals > 1 && top > 0)
      for (int i = at + 1; i < warps; ++i) {
        const std::uint64_t mine = candidates[i].rank(), best = candidates[at].rank();
        if (mine > best || (mine == best && candidates[i].position < candidates[at].position)) at = i;
      }
    return candidates[at];
  }
};

/// One block.
template <class Shape>
struct AloneElection {
  using T = typename Shape::Element;
  Nominees<T, Shape::warps> nominees[2];

  __device__ void open(Letter*, unsigned) {}
  __device__ void barrier() { __syncthreads(); }
  /// By all threads, once the warps have put their nominees; `live` entries of a row will be published with them.
  template <int live>
  __device__ void send(int) {}
  /// By all threads, which then also see the row, if any.
  __device__ Candidate<T> elect(int round, T*, bool) {
    __syncthreads();
    return nominees[round % 2].best();
  }
  /// Where the row is written, by one thread, and then sent by its warp to `to` in all blocks, with the candidates of a round.
  __device__ T* outgoing(T* to) { return to; }
  template <int live>
  __device__ void publish(T*, int) {}
};

/// A cluster of up to 16 blocks. There are two pages of everything: who sends for round r + 2 has heard of round r + 1 from
/// blocks that were done with round r.
template <class Shape>
struct ClusterElection {
  using T = typename Shape::Element;
  static constexpr int pages = 2;
  Nominees<T, Shape::warps> nominees[2];
  Candidate<T> candidates[pages][most_cluster_blocks];  // of the blocks
  alignas(16) T row[Shape::columns];                    // on its way out
  Inbox inbox[pages];

  __device__ void open(Letter*, unsigned) {
    if (threadIdx.x < pages) inbox[threadIdx.x].open();
    cluster_barrier();
  }
  __device__ void barrier() { cluster_barrier(); }
  template <int live>
  __device__ void send(int round) {
    __syncthreads();
    const unsigned to = threadIdx.x;
    const int page = round % pages;
    if (to == 32) inbox[page].expect(gridDim.x * unsigned(sizeof(Candidate<T>)) + unsigned(live * sizeof(T)));
    if (to >= 32) return;
    const auto* best = reinterpret_cast<const uint4*>(&nominees[round % 2].best());
    auto* there = reinterpret_cast<uint4*>(&candidates[page][blockIdx.x]);
    if (to < gridDim.x)
#pragma unroll
      for (unsigned i = 0; i < sizeof(Candidate<T>) / 16; ++i) inbox[page].send(there + i, best[i], to);
  }
  __device__ Candidate<T> elect(int round, T*, bool) {
    const int page = round % pages;
    inbox[page].wait(round / pages % 2);
    return candidates[page][best_of(candidates[page], int(gridDim.x))];
  }
  __device__ T* outgoing(T*) { return row; }
  /// A lane sends 16 bytes to one block, and the next group of lanes to the next block.
  template <int live>
  __device__ void publish(T* to, int round) {
    constexpr unsigned size = 16 / sizeof(T), group = live / size, groups = 32 / group;
    const unsigned lane = threadIdx.x % 32, first = lane % group * size;
    __syncwarp();
    const auto chunk = *reinterpret_cast<const Chunk<T>*>(&row[first]);
#pragma unroll
    for (unsigned block = 0; block < most_cluster_blocks; block += groups)
      if (lane < groups * group && block + lane / group < gridDim.x)
        inbox[round % pages].send(to + first, chunk, block + lane / group);
  }
};

/// A grid: candidates and rows are letters that all blocks read.
template <class Shape>
struct GridElection {
  using T = typename Shape::Element;
  static constexpr int words = 5, W = Shape::columns, warps = Shape::warps;
  static constexpr int letters_a_page = most_grid_blocks * words + W;
  static_assert(2 * letters_a_page * sizeof(Letter) <= most_letters);
  Nominees<T, warps> nominees[2], candidates[2];  // of the warps; of the blocks that a warp reads
  alignas(16) T row[W];
  Letter* letters;
  unsigned stamp;

  __device__ void open(Letter* to, unsigned first_stamp) {
    if (threadIdx.x == 0) letters = to, stamp = first_stamp;
    __syncthreads();
  }
  __device__ void barrier() { cooperative_groups::this_grid().sync(); }
  __device__ Letter* of_block(unsigned block, int round) const {
    return letters + (round % 2) * letters_a_page + block * words;
  }
  __device__ Letter* of_row(int round) const {
    return letters + (round % 2) * letters_a_page + most_grid_blocks * words;
  }
  template <int live>
  __device__ void send(int round) {
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const Candidate<T>& best = nominees[round % 2].best();
    const std::uint64_t seat = std::uint64_t(unsigned(best.position)) << 32 | unsigned(best.row);
    const int i = threadIdx.x;
    const T entry = i == 0 ? best.value : i == 2 ? best.behind : i == 3 ? best.l : best.reciprocal;
    if (i < words) post(of_block(blockIdx.x, round) + i, i == 1 ? seat : bits_of(entry), stamp + unsigned(round));
  }
  __device__ Candidate<T> elect(int round, T* to, bool row) {
    const int lane = threadIdx.x % 32;
    const unsigned now = stamp + unsigned(round);
    const bool many = gridDim.x > 64;  // then only the best of a warp is read to its end, to spare the memory
    Candidate<T> mine;
    const Letter* from = nullptr;
    const auto read_rest = [&](const std::uint64_t* rest) {
      mine.behind = from_bits<T>(rest[0]), mine.l = from_bits<T>(rest[1]), mine.reciprocal = from_bits<T>(rest[2]);
    };
    for (unsigned block = threadIdx.x; block < gridDim.x; block += Shape::threads) {
      std::uint64_t read[words];
      const Letter* letter = of_block(block, round);
      if (many)
        collect<2>(letter, now, read);
      else
        collect<words>(letter, now, read);
      Candidate<T> other;
      other.value = from_bits<T>(read[0]), other.position = int(read[1] >> 32), other.row = int(unsigned(read[1]));
      if (!other.before(mine)) continue;
      mine = other, from = letter;
      if (!many) read_rest(read + 2);
    }
    if (lane == best_lane(mine.rank(), mine.position)) {
      if (many && from) {
        std::uint64_t rest[3];
        collect<3>(from + 2, now, rest);
        read_rest(rest);
      }
      candidates[round % 2].put(mine, mine.rank());
    }
    if (row && threadIdx.x / 32 == warps - 1 && lane < W) to[lane] = from_bits<T>(collect(of_row(round) + lane, now));
    __syncthreads();
    return candidates[round % 2].best();
  }
  __device__ T* outgoing(T*) { return row; }
  template <int live>
  __device__ void publish(T*, int round) {
    __syncwarp();
    const int lane = threadIdx.x % 32;
    if (lane < W) post(of_row(round) + lane, lane < live ? bits_of(row[lane]) : 0, stamp + unsigned(round));
  }
};

}  // namespace lasolve
