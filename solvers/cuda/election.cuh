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
/// `widest` columns. Products are made of `part` columns at a time.
template <class T, int threads_, int rows_, int columns_, int widest_>
struct PanelShape {
  using Element = T;
  static constexpr int threads = threads_, warps = threads / 32, rows = rows_, columns = columns_, widest = widest_;
  static constexpr int rows_a_block = threads * rows, part = columns < 32 ? columns : 32;
  static_assert(columns <= threads);
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
};

/// A store that compilers neither merge with those of other branches, to select then what it stores, nor with its
/// neighbours, which takes more moves than it saves stores.
__device__ inline void write_shared(double* to, double x) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "d"(x) : "memory");
}
__device__ inline void write_shared(float* to, float x) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(unsigned(__cvta_generic_to_shared(to))), "f"(x) : "memory");
}

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
/// Most often the upper halves of the ranks decide.
__device__ inline int best_lane(std::uint64_t rank, int position) {
  const auto high = unsigned(rank >> 32);
  bool best = __reduce_max_sync(all_lanes, high) == high;
  unsigned ballot = __ballot_sync(all_lanes, best);
  if (ballot & (ballot - 1)) {
    const unsigned low = __reduce_max_sync(all_lanes, best ? unsigned(rank) : 0u);
    best = best && unsigned(rank) == low;
    const unsigned first = __reduce_min_sync(all_lanes, best ? unsigned(position) : ~0u);
    ballot = __ballot_sync(all_lanes, best && unsigned(position) == first);
  }
  return 31 - __clz(int(ballot));
}

/// What the threads of a block offer: a candidate each, and the upper half of its rank.
template <class T, int threads>
struct Offers {
  static constexpr int each = threads / 32;
  unsigned high[threads];
  T value[threads], behind[threads], l[threads];
  int2 seat[threads];  // position and row

  __device__ void put(const Candidate<T>& mine, std::uint64_t rank) {
    const unsigned i = threadIdx.x;
    high[i] = unsigned(rank >> 32), value[i] = mine.value, behind[i] = mine.behind, l[i] = mine.l;
    seat[i] = {mine.position, mine.row};
  }
  __device__ Candidate<T> get(int i) const {
    Candidate<T> one;
    one.value = value[i], one.behind = behind[i], one.l = l[i], one.position = seat[i].x, one.row = seat[i].y;
    one.reciprocal = fast_reciprocal(one.value);
    return one;
  }
  /// By a warp, of which one lane gets the best, and is told so.
  __device__ bool elect(Candidate<T>& mine) const {
    const int lane = threadIdx.x % 32;
    unsigned all[each], most = 0;
    int at = lane;
#pragma unroll
    for (int i = 0; i < each; ++i) all[i] = high[32 * i + lane];
#pragma unroll
    for (int i = 0; i < each; ++i)
      if (all[i] > most) most = all[i], at = 32 * i + lane;
    const unsigned top = __reduce_max_sync(all_lanes, most);
    mine = get(at);
    int equals = 0;
#pragma unroll
    for (int i = 0; i < each; ++i) equals += all[i] == top;
    bool best = equals > 0;
    const unsigned ballot = __ballot_sync(all_lanes, best), more = __ballot_sync(all_lanes, equals > 1);
    if (more | (ballot & (ballot - 1))) {
#pragma unroll 1
      for (int i = at + 32; i < threads; i += 32)
        if (const Candidate<T> other = get(i); other.before(mine)) mine = other;
      best = best_lane(mine.rank(), mine.position) == lane;
    }
    if (best && is_extreme(mine.value)) mine.reciprocal = extreme_reciprocal(mine.value);
    return best;
  }
};

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
    if (equals > 1)
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
  Offers<T, Shape::threads> offers[2];
  Candidate<T> elected;

  __device__ void open(Letter*, unsigned) {}
  __device__ void barrier() { __syncthreads(); }
  /// By all threads: their candidates for a round.
  __device__ void offer(int round, const Candidate<T>& mine, std::uint64_t rank) {
    offers[round % 2].put(mine, rank);
    __syncthreads();
  }
  /// Then by one warp: finds the best candidate of this block, which is block `block`, and sends it to all; `live` entries of
  /// a row will come with it.
  __device__ void send(int round, int, int) {
    if (Candidate<T> best; offers[round % 2].elect(best)) elected = best;
  }
  /// By all threads, which then also see the row, if any.
  __device__ Candidate<T> elect(int, T*, bool) {
    __syncthreads();
    return elected;
  }
  /// By a warp: sends the row that entry(i) computes to `to` in all blocks, with the candidates of a round.
  template <int live>
  __device__ void publish(T* to, int, const auto& entry) {
    for (int i = threadIdx.x % 32; i < live; i += 32) to[i] = entry(i);
  }
};

/// A cluster of up to 16 blocks. There are two pages of everything: who sends for round r + 2 has heard of round r + 1 from
/// blocks that were done with round r.
template <class Shape>
struct ClusterElection {
  using T = typename Shape::Element;
  static constexpr int pages = 2;
  /// A candidate on its way: first what decides the election. seat: of its position and its row; the last is nobody's.
  struct alignas(16) Message {
    T value;
    unsigned seat;
    T behind, l;
  };
  static constexpr int pieces = sizeof(Message) / 16;
  static constexpr unsigned seats = most_cluster_blocks * Shape::rows_a_block, nobody = ~0u;
  Offers<T, Shape::threads> offers[2];
  uint4 outgoing[pieces], messages[pages][pieces][most_cluster_blocks];
  Inbox inbox[pages];

  __device__ void open(Letter*, unsigned) {
    if (threadIdx.x < pages) inbox[threadIdx.x].open();
    cluster_barrier();
  }
  __device__ void barrier() { cluster_barrier(); }
  __device__ void offer(int round, const Candidate<T>& mine, std::uint64_t rank) {
    offers[round % 2].put(mine, rank);
    __syncthreads();
  }
  __device__ void send(int round, int block, int live) {
    const int lane = threadIdx.x % 32, to = lane % 16, piece = lane / 16, page = round % pages;
    if (lane == 0) inbox[page].expect(gridDim.x * unsigned(sizeof(Message)) + unsigned(live) * unsigned(sizeof(T)));
    if (Candidate<T> best; offers[round % 2].elect(best)) {
      const Message m{best.value,
                      best.position == best.nobody ? nobody : unsigned(best.position) * seats + unsigned(best.row),
                      best.behind, best.l};
      struct alignas(16) Pieces {
        uint4 words[pieces];
      };
      const auto all = __builtin_bit_cast(Pieces, m);
#pragma unroll
      for (int i = 0; i < pieces; ++i) outgoing[i] = all.words[i];
    }
    __syncwarp();
    inbox[page].send(&messages[page][piece % pieces][block], outgoing[piece % pieces], unsigned(to),
                     piece < pieces && to < int(gridDim.x));
  }
  __device__ Message message(int page, int i) const {
    struct alignas(16) Pieces {
      uint4 words[pieces];
    } all;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) all.words[piece] = messages[page][piece][i];
    return __builtin_bit_cast(Message, all);
  }
  /// The last bits of what is compared first are the number of the block, so that the best is known with its number.
  __device__ Candidate<T> elect(int round, T*, bool) {
    const int page = round % pages, lane = threadIdx.x % 32;
    constexpr unsigned numbers = most_cluster_blocks - 1;
    inbox[page].wait(round / pages % 2);
    Message mine{};
    mine.seat = nobody;
    if (lane < int(gridDim.x)) mine = message(page, lane);
    const std::uint64_t rank = mine.seat == nobody ? 0 : rank_of(mine.value);
    const unsigned key = (unsigned(rank >> 32) & ~numbers) | unsigned(lane % most_cluster_blocks);
    const unsigned top = __reduce_max_sync(all_lanes, lane < int(gridDim.x) ? key : 0u);
    int winner = int(top & numbers);
    const T reciprocal = fast_reciprocal(mine.value);  // before it is known who wins
    const unsigned equals = __ballot_sync(all_lanes, lane < int(gridDim.x) && (key & ~numbers) == (top & ~numbers));
    if (equals & (equals - 1)) winner = best_lane(rank, int(mine.seat / seats));
    Candidate<T> elected;
    elected.reciprocal = __shfl_sync(all_lanes, reciprocal, winner);
    const Message m = message(page, winner);
    elected.value = m.value, elected.behind = m.behind, elected.l = m.l;
    elected.position = int(m.seat / seats), elected.row = int(m.seat % seats);
    if (is_extreme(m.value)) elected.reciprocal = extreme_reciprocal(m.value);
    return elected;
  }
  /// A lane sends 16 bytes to one block, and the next group of lanes to the next block.
  template <int live>
  __device__ void publish(T* to, int round, const auto& entry) {
    constexpr unsigned size = 16 / sizeof(T), group = live / size, groups = 32 / group;
    const unsigned lane = threadIdx.x % 32, first = lane % group * size;
    Chunk<T> chunk;
#pragma unroll
    for (unsigned e = 0; e < size; ++e) chunk.values[e] = entry(int(first + e));
#pragma unroll
    for (unsigned block = 0; block < most_cluster_blocks; block += groups)
      inbox[round % pages].send(to + first, chunk, block + lane / group,
                                lane < groups * group && block + lane / group < gridDim.x);
  }
};

/// A grid: candidates and rows are letters that all blocks read.
template <class Shape>
struct GridElection {
  using T = typename Shape::Element;
  static constexpr int words = 5, W = Shape::columns, warps = Shape::warps;
  static constexpr int letters_a_page = most_grid_blocks * words + W;
  static_assert(W <= 32);  // a lane reads an entry of a row
  static_assert(2 * letters_a_page * sizeof(Letter) <= most_letters);
  Offers<T, Shape::threads> offers[2];
  Candidate<T> outgoing;
  Nominees<T, warps> candidates[2];  // of the blocks that a warp reads
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
  __device__ void offer(int round, const Candidate<T>& mine, std::uint64_t rank) {
    offers[round % 2].put(mine, rank);
    __syncthreads();
  }
  __device__ void send(int round, int block, int) {
    if (Candidate<T> best; offers[round % 2].elect(best)) outgoing = best;
    __syncwarp();
    const std::uint64_t seat = std::uint64_t(unsigned(outgoing.position)) << 32 | unsigned(outgoing.row);
    const int i = threadIdx.x % 32;
    const T entry = i == 0 ? outgoing.value : i == 2 ? outgoing.behind : i == 3 ? outgoing.l : outgoing.reciprocal;
    if (i < words) post(of_block(unsigned(block), round) + i, i == 1 ? seat : bits_of(entry), stamp + unsigned(round));
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
  template <int live>
  __device__ void publish(T*, int round, const auto& entry) {
    if (const int i = threadIdx.x % 32; i < W)
      post(of_row(round) + i, i < live ? bits_of(entry(i)) : 0, stamp + unsigned(round));
  }
};

}  // namespace lasolve
