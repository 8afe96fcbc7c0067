// The election of a pivot: which of the rows that the threads of one or many blocks hold has the largest entry in a
// column. Every thread offers its best row, one warp finds the best of its block and sends it to all blocks, and all of them
// pick the same winner. Only then is the winner's row published, by another warp, and it arrives together with the
// candidates of the next election. So a candidate brings along what cannot wait for its row: its entry in the column
// behind. What comes first in an election is short chains of instructions: these, not the messages, are what takes time.
#pragma once

#include "solvers/places/cuda/lu/pivot_candidate.cuh"
#include "solvers/places/cuda/messages.cuh"

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

/// One block.
template <class Shape>
struct AloneElection {
  using T = typename Shape::Element;
  Offers<T, Shape::threads> offers;
  Candidate<T> elected;

  __device__ void open(const Mail&) {}
  __device__ void barrier() { __syncthreads(); }
  /// Whether blocks share what each of them reads, and how many; their barrier for that, and x for `to` in all of them.
  static constexpr bool shares = false;
  __device__ unsigned sharing() const { return 1; }
  __device__ void barrier_of_sharing() { __syncthreads(); }
  __device__ void share(T* to, T x) { *to = x; }
  /// Whether blocks that wait for others in vain leave the kernel.
  static constexpr bool may_end_early = false;
  /// By all threads: their candidates for a round.
  __device__ void offer(int, const Candidate<T>& mine, std::uint64_t rank) {
    offers.put(mine, rank);
    __syncthreads();
  }
  /// Then by one warp: finds the best candidate of this block, which is block `block`, and sends it to all.
  __device__ void send(int, int) {
    const Candidate<T> best = offers.template elect<true>();
    if (threadIdx.x % 32 == 0) elected = best;
  }
  /// By one warp, once a round: `live` entries of a row will come with its candidates.
  __device__ void expect(int, int) {}
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

/// A candidate of a block on its way: first what decides the election. seat: of its position and its row; the largest
/// is nobody's. key: the upper half of its rank, with the number of the block as its last bits; nobody has just that.
template <class T>
struct alignas(16) Message {
  T value;
  unsigned seat, number;
  T behind, l;
  __device__ unsigned key() const { return number; }
};
template <>
struct alignas(16) Message<float> {
  float value;
  unsigned seat;
  float behind, l;
};

/// A cluster of up to 16 blocks. There are two pages of everything: who sends for round r + 2 has heard of round r + 1 from
/// blocks that were done with round r.
template <class Shape>
struct ClusterElection {
  using T = typename Shape::Element;
  static constexpr int pages = 2, pieces = sizeof(Message<T>) / 16;
  static constexpr unsigned seats = most_cluster_blocks * Shape::rows_a_block, nobody = ~0u,
                            blocks = most_cluster_blocks;
  Offers<T, Shape::threads> offers[2];
  uint4 messages[pages][pieces][most_cluster_blocks];
  Inbox inbox[pages];

  __device__ void open(const Mail&) {
    if (threadIdx.x < pages) inbox[threadIdx.x].open();
    cluster_barrier();
  }
  __device__ void barrier() { cluster_barrier(); }
  static constexpr bool shares = true, may_end_early = false;
  __device__ unsigned sharing() const { return gridDim.x; }
  __device__ void barrier_of_sharing() { cluster_barrier(); }
  __device__ void share(T* to, T x) {  // there is no cluster of an odd number of blocks
#pragma unroll 1
    for (unsigned block = 0; block < gridDim.x; block += 2) write_there(to, x, block), write_there(to, x, block + 1);
  }
  __device__ void offer(int round, const Candidate<T>& mine, std::uint64_t rank) {
    offers[round % 2].put(mine, rank);
    __syncthreads();
  }
  __device__ static unsigned key_of(T value, unsigned seat, int block) {
    return (seat == nobody ? 0 : high_rank_of(value) / blocks * blocks) + unsigned(block);
  }
  /// Half a warp sends the first piece, a lane to each block, and the other half the second.
  __device__ void send(int round, int block) {
    const int to = threadIdx.x % 16, piece = threadIdx.x % 32 / 16, page = round % pages;
    const Candidate<T> best = offers[round % 2].template elect<false>();
    const unsigned seat = best.position == best.nobody ? nobody : unsigned(best.position) * seats + unsigned(best.row);
    uint4 words;
    if constexpr (pieces == 1) {
      words = __builtin_bit_cast(uint4, Message<T>{best.value, seat, best.behind, best.l});
    } else {
      const std::uint64_t first = bits_of(piece == 0 ? best.value : best.behind), second = bits_of(best.l);
      words = {unsigned(first), unsigned(first >> 32), piece == 0 ? seat : unsigned(second),
               piece == 0 ? key_of(best.value, seat, block) : unsigned(second >> 32)};
    }
    inbox[page].send(&messages[page][piece % pieces][block], words, unsigned(to),
                     piece < pieces && to < int(gridDim.x));
  }
  __device__ void expect(int round, int live) {
    if (threadIdx.x % 32 == 0)
      inbox[round % pages].expect(gridDim.x * unsigned(sizeof(Message<T>)) + unsigned(live) * unsigned(sizeof(T)));
  }
  __device__ Message<T> message(int page, int i) const {
    struct alignas(16) Pieces {
      uint4 words[pieces];
    } all;
#pragma unroll
    for (int piece = 0; piece < pieces; ++piece) all.words[piece] = messages[page][piece][i];
    return __builtin_bit_cast(Message<T>, all);
  }
  __device__ Candidate<T> elect(int round, T*, bool) {
    const int page = round % pages, lane = threadIdx.x % 32;
    inbox[page].wait(round / pages % 2);
    Message<T> m = message(page, lane % int(blocks));
    unsigned key = 0;
    if constexpr (pieces == 1)
      key = key_of(m.value, m.seat, lane);
    else
      key = m.key();
    if (lane >= int(gridDim.x)) key = 0;
    const unsigned top = __reduce_max_sync(all_lanes, key);
    int winner = int(top % blocks);
    T reciprocal = fast_reciprocal(m.value);  // before it is known who wins
    const unsigned equals = __ballot_sync(all_lanes, key / blocks == top / blocks);
    if (top >= blocks && (equals & (equals - 1))) [[unlikely]]
      winner = best_lane(key >= blocks ? rank_of(m.value) : 0, int(m.seat / seats));
    reciprocal = __shfl_sync(all_lanes, reciprocal, winner);
    m = message(page, winner);
    Candidate<T> elected;
    elected.value = m.value, elected.behind = m.behind, elected.l = m.l;
    elected.position = int(m.seat / seats), elected.row = int(m.seat % seats);
    elected.reciprocal = is_extreme(m.value) ? extreme_reciprocal(m.value) : reciprocal;
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
    static_assert(groups * group == 32);
#pragma unroll 1
    for (unsigned block = lane / group; block < gridDim.x; block += groups)
      inbox[round % pages].send(to + first, chunk, block, true);
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
  Offers<T, Shape::threads> offers;
  Nominees<T, warps> candidates[2];  // of the blocks that a warp reads
  Mail mail;

  __device__ void open(const Mail& of_kernel) {
    if (threadIdx.x == 0) mail = of_kernel;
    __syncthreads();
  }
  __device__ void barrier() { grid_barrier(mail.arrived, mail.limit); }
  static constexpr bool shares = false, may_end_early = true;
  __device__ unsigned sharing() const { return 1; }
  __device__ void barrier_of_sharing() { __syncthreads(); }
  __device__ void share(T* to, T x) { *to = x; }
  __device__ Letter* of_block(unsigned block, int round) const {
    return mail.letters + (round % 2) * letters_a_page + block * words;
  }
  __device__ Letter* of_row(int round) const {
    return mail.letters + (round % 2) * letters_a_page + most_grid_blocks * words;
  }
  __device__ void offer(int, const Candidate<T>& mine, std::uint64_t rank) {
    offers.put(mine, rank);
    __syncthreads();
  }
  __device__ void send(int round, int block) {
    const Candidate<T> best = offers.template elect<true>();
    const std::uint64_t seat = std::uint64_t(unsigned(best.position)) << 32 | unsigned(best.row);
    const int i = threadIdx.x % 32;
    const T entry = i == 0 ? best.value : i == 2 ? best.behind : i == 3 ? best.l : best.reciprocal;
    if (i < words)
      post(of_block(unsigned(block), round) + i, i == 1 ? seat : bits_of(entry), mail.stamp + unsigned(round));
  }
  __device__ void expect(int, int) {}
  __device__ Candidate<T> elect(int round, T* to, bool row) {
    const int lane = threadIdx.x % 32;
    const unsigned now = mail.stamp + unsigned(round);
    Candidate<T> mine;
    const Letter* from = nullptr;
    bool come = true;
    for (unsigned block = threadIdx.x; block < gridDim.x; block += Shape::threads) {
      std::uint64_t read[2];
      const Letter* letter = of_block(block, round);
      come &= collect<2>(letter, now, read, mail.limit, {Awaited::candidate, block, gridDim.x});
      Candidate<T> other;
      other.value = from_bits<T>(read[0]), other.position = int(read[1] >> 32), other.row = int(unsigned(read[1]));
      if (other.before(mine)) mine = other, from = letter;
    }
    if (lane ==
        best_lane(mine.rank(), mine.position)) {  // only the best of a warp is read to its end, to spare the memory
      if (from) {
        std::uint64_t rest[3];
        come &= collect<3>(from + 2, now, rest, mail.limit, {Awaited::rest_of_candidate, unsigned(round), gridDim.x});
        mine.behind = from_bits<T>(rest[0]), mine.l = from_bits<T>(rest[1]), mine.reciprocal = from_bits<T>(rest[2]);
      }
      candidates[round % 2].put(mine, mine.rank());
    }
    if (row && threadIdx.x / 32 == warps - 1 && lane < W) come &= receive_row(to, round);
    if (__syncthreads_or(!come)) leave_kernel();
    return candidates[round % 2].best();
  }
  /// By W lanes of a warp: entry i of the row of a round to to[i]. False where it does not come.
  __device__ bool receive_row(T* to, int round) {
    const int i = threadIdx.x % 32;
    std::uint64_t entry;
    const bool come = collect<1>(of_row(round) + i, mail.stamp + unsigned(round), &entry, mail.limit,
                                 {Awaited::pivot_row, unsigned(round), gridDim.x});
    to[i] = from_bits<T>(entry);
    return come;
  }
  template <int live>
  __device__ void publish(T*, int round, const auto& entry) {
    if (const int i = threadIdx.x % 32; i < W)
      post(of_row(round) + i, i < live ? bits_of(entry(i)) : 0, mail.stamp + unsigned(round));
  }
};

}  // namespace lasolve
