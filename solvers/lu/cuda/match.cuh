// The matches of a tournament for the pivots of a panel of LU: what a block does in one, and what matches leave to each other.
#pragma once

#include "core/ceil_div.hpp"
#include "solvers/devices/cuda/messages.cuh"
#include "solvers/lu/cuda/solve_behind.cuh"

namespace lasolve {

/// Candidates that a match names; threads of a block, and the rows that a thread has room for; and matches whose candidates play in the next.
constexpr int candidates_of_match = 32, threads_of_match = 256;
template <class T>
constexpr int rows_of_thread = sizeof(T) == 4 ? 2 : 1;
template <class T>
constexpr int matches_of_next = int(rows_of_thread<T>) * threads_of_match / candidates_of_match;

/// What the matches leave to each other, in memory of the queue: of each its candidates, rows[p], as they were, values[c][p]; and the pivot
/// rows of the last, of row p its entries from column p on. `words` are for messages: a word has the sequence number of a sub-panel above
/// a count, and with another number it is 0.
template <class T>
struct Matches {
  static constexpr int W = candidates_of_match;
  T (*values)[W][W];
  T (*U)[W];
  int (*rows)[W];
  std::uint64_t* words;
  unsigned sequence;
  WaitLimit* limit;

  /// In units of T, of so many bands.
  static constexpr std::int64_t all(std::int64_t bands) {
    std::int64_t sum = bands;
    while (bands > 1) sum += bands = ceil_div(bands, std::int64_t(matches_of_next<T>));
    return sum;
  }
  static constexpr std::int64_t elements(std::int64_t bands) { return W * W + all(bands) * (W * W + W); }
  static Matches in(T* memory, std::int64_t bands, const PacketChannel& channel) {
    Matches m{};
    m.U = reinterpret_cast<T(*)[W]>(memory);
    m.values = reinterpret_cast<T(*)[W][W]>(memory + W * W);
    m.rows = reinterpret_cast<int(*)[W]>(memory + W * W + all(bands) * W * W);
    m.words = reinterpret_cast<std::uint64_t*>(channel.packets);
    m.sequence = channel.sequence, m.limit = channel.limit;
    return m;
  }
  /// By one thread: what the block has written is there for who comes last, of `count`. Whether this is the last.
  __device__ bool comes_last(int match, unsigned round, int count) const {
    __threadfence();
    auto* const word = reinterpret_cast<unsigned long long*>(words + 1 + match);
    unsigned long long before = *word, seen;
    const unsigned long long none = (unsigned long long)(sequence + round) << 32;
    do {
      seen = before;
      before = atomicCAS(word, seen, (seen >> 32 == none >> 32 ? seen : none) + 1);
    } while (before != seen);
    __threadfence();
    return int(before >> 32 == none >> 32 ? unsigned(before) : 0u) == count - 1;
  }
  /// By one thread of the block that had the last match.
  __device__ void tell(unsigned round) const {
    __threadfence();
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(words), "l"(std::uint64_t(sequence + round) << 32) : "memory");
  }
  /// By all threads: until it was told, for which one looks.
  __device__ void hear(unsigned round) const {
    const bool received = threadIdx.x > 0 || until(limit, {Awaited::panel, 0, gridDim.x}, [&] {
                            std::uint64_t word;
                            asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(words) : "memory");
                            return word >> 32 == sequence + round;
                          });
    if (__syncthreads_or(!received)) leave_kernel();
  }
};

/// For solve_behind: a block that is alone.
struct NoPivotSearch {
  static constexpr bool shares_memory = false;
  __device__ unsigned sharing_blocks() const { return 1; }
  __device__ void barrier_of_sharing_blocks() { __syncthreads(); }
  template <class T>
  __device__ void store_in_all(T* to, T x) {
    *to = x;
  }
};

/// What the threads of a block share. Behind it are bits: which rows of its bands are pivots of sub-panels before.
template <class Shape>
struct TournamentShared : PanelShared<Shape, NoPivotSearch> {
  using T = typename Shape::Element;
  static constexpr int W = Shape::columns;
  alignas(16) T best[2][Shape::warps][W];  // the row of a warp's candidate, from the column at hand on
  std::uint64_t magnitude[2][Shape::warps];
  int which[2][Shape::warps];
  int won[W];  // rows of a band, or slots of candidates; −1: none
  int row_at[most_panel_columns], position_of[most_panel_columns];  // the interchanges so far, as of the first rows
  bool goes_on;
};

/// The rows of a block in one match: R a thread, of which number r · threads + thread is the row's number in it.
template <class Shape>
struct Match {
  using T = typename Shape::Element;
  static constexpr int R = Shape::rows, W = Shape::columns, threads = Shape::threads, warps = Shape::warps;
  T v[R][W];  // from the column at hand on
  bool plays[R];

  /// Step c of the elimination, with at most `live` columns left. The pivot row goes to U, where it is not null.
  template <int live, class Shared>
  __device__ __forceinline__ void step(Shared& s, int c, T (*U)[W]) {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, turn = c % 2;
    std::uint64_t most = 0;
    int mine = 0;
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (const std::uint64_t its = plays[r] ? magnitude_of(v[r][0]) : 0; its > most) most = its, mine = r;
    const int number = mine * threads + int(threadIdx.x);
    if (lane == best_lane(most, number)) {
      s.magnitude[turn][warp] = most, s.which[turn][warp] = number;
#pragma unroll
      for (int r = 0; r < R; ++r)
        if (r == mine)
#pragma unroll
          for (int i = 0; i < live; ++i) write_shared(&s.best[turn][warp][i], v[r][i]);
    }
    __syncthreads();
    const int other = lane % warps;
    const int winner = best_lane(lane < warps ? s.magnitude[turn][other] : 0, s.which[turn][other]) % warps;
    const T* const u = s.best[turn][winner];
    const int which = s.magnitude[turn][winner] > 0 ? s.which[turn][winner] : -1;
    const T pivot = u[0];
    const bool extreme = is_extreme(pivot);
    const T reciprocal = extreme ? extreme_reciprocal(pivot) : fast_reciprocal(pivot);
    if (threadIdx.x == 0) s.won[c] = which;
    if (U && warp == 1 && lane < live) U[c][lane] = u[lane];
    T l[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      l[r] = (extreme ? v[r][0] * scale_for(pivot) : v[r][0]) * reciprocal;
      if (r * threads + int(threadIdx.x) == which) plays[r] = false;
    }
    subtract<live>(u, l);
  }

  /// v ← v − l u, shifted by one column.
  template <int live>
  __device__ __forceinline__ void subtract(const T* u, const T (&l)[R]) {
#pragma unroll
    for (int i0 = 0; i0 < live; i0 += Chunk<T>::size) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(u + i0);
#pragma unroll
      for (int e = 0; e < Chunk<T>::size; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (const int i = i0 + e; i > 0) v[r][i - 1] = fma(-l[r], chunk.values[e], v[r][i]);
    }
  }

  /// All of it, for w columns: s.won gets the winners.
  template <int live = W, class Shared>
  __device__ __forceinline__ void play(Shared& s, int w, T (*U)[W]) {
    constexpr int then = live > 8 ? live / 2 : 0;
#pragma unroll 1
    for (int c = W - live; c < min(w, W - then); ++c) step<live>(s, c, U);
    if constexpr (then > 0) play<then>(s, w, U);
  }

  /// L of the rows to[r], which are null where there is none, for w columns: l ← v inv(U). A row that is the pivot row of step stop[r] has
  /// its row of U from there on. The same operations as in a match, so with the same bits.
  template <int live = W>
  __device__ __forceinline__ void solve(const T (*U)[W], int w, const int (&stop)[R], T* (&to)[R], std::int64_t ld) {
    constexpr int then = live > 8 ? live / 2 : 0;
#pragma unroll 1
    for (int c = W - live; c < min(w, W - then); ++c) {
      const T pivot = U[c][0];
      const bool extreme = is_extreme(pivot);
      const T reciprocal = extreme ? extreme_reciprocal(pivot) : fast_reciprocal(pivot);
      T l[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        l[r] = (extreme ? v[r][0] * scale_for(pivot) : v[r][0]) * reciprocal;
        if (to[r] && c == stop[r]) {
#pragma unroll
          for (int i = 0; i < live; ++i)
            if (c + i < w) to[r][(c + i) * ld] = v[r][i];
          to[r] = nullptr;
        }
        if (to[r]) to[r][c * ld] = l[r];
      }
      subtract<live>(U[c], l);
    }
    if constexpr (then > 0) solve<then>(U, w, stop, to, ld);
  }
};

}  // namespace lasolve
