// A panel of LU by tournament pivoting: m × n, n ≤ 128, any m. One kernel factors it, a sub-panel of 32 columns after the other, and rows
// are left in their places, as in panel.cuh.
//
// Idea     A band of rows is in the registers of a block, which eliminates it alone and names 32 candidates. Of 16 bands, 8 in fp64, the block
//          that is ready last lets their candidates play, as they were before; and so on, up to the last match. Its winners are the pivots.
//          Then each block solves for L in its bands. So blocks wait for each other once for 32 columns, not once a column.
// Traffic  A sub-panel is read, brought up to date and written, then read, divided and written: from the L2 cache, mostly.
// Measured No faster than a grid panel where registers hold all rows; on few multiprocessors beside large products, a third faster than one
//          that shares all with them. So it is for who asks for it.
// Source   Grigori, Demmel & Xiang, "CALU: a communication optimal LU factorization algorithm", SIMAX 2011.
#pragma once

#include <algorithm>

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/lu/cuda/match.cuh"

namespace lasolve {

/// What a block does for one panel.
template <class Shape>
struct Tournament {
  using T = typename Shape::Element;
  using Shared = TournamentShared<Shape>;
  static constexpr int R = Shape::rows, W = Shape::columns, threads = Shape::threads, warps = Shape::warps;
  static constexpr int of_next = matches_of_next<T>;
  static_assert(W == candidates_of_match && R * threads == of_next * W);
  MatrixView<T, Cuda> A;
  int height, bands;  // rows of a band, and how many there are
  Matches<T> matches;
  Shared& s;
  unsigned* taken;  // a bit for each row of the bands of this block

  __device__ unsigned& taken_of(int band, int r) const {
    return taken[((band / int(gridDim.x)) * R + r) * warps + int(threadIdx.x) / 32];
  }
  __device__ bool has(int row) const { return row / height % int(gridDim.x) == int(blockIdx.x); }

  /// The match of a band, and those that follow for who comes last. Columns k … k + w − 1.
  __device__ __forceinline__ void play_band(int band, int k, int w) {
    Match<Shape> match;
    int number = band, first = 0, count = bands, from = 0,
        of_match = 0;  // matches of a round; those that this one is of
#pragma unroll 1
    for (bool of_band = true;; of_band = false) {
      if (of_band)
        load(match, band, k, w);
      else
        read_candidates(match, from, of_match);
      __syncthreads();  // what was there before has been read
      match.play(s, w, count == 1 ? matches.U : nullptr);
      __syncthreads();
      if (of_band)
        write_candidates(first + number, w, A.data() + band * height + k * A.ld(), A.ld(), 1,
                         [&](int won) { return band * height + won; });
      else
        write_candidates(first + number, w, &matches.values[from][0][0], W, W * W,
                         [&](int won) { return __ldcg(&matches.rows[from + won / W][won % W]); });
      __syncthreads();
      if (count == 1) {
        if (threadIdx.x == 0) matches.tell(unsigned(k / W));
        return;
      }
      from = first + number / of_next * of_next, of_match = min(of_next, first + count - from);
      first += count, number /= of_next, count = int(ceil_div(count, of_next));
      if (threadIdx.x == 0) s.goes_on = matches.comes_last(first + number - bands, unsigned(k / W), of_match);
      __syncthreads();
      if (!s.goes_on) return;
    }
  }

  /// Brings the band up to date, in memory too, but for rows that were pivots.
  __device__ __forceinline__ void load(Match<Shape>& match, int band, int k, int w) {
    SubPanel<Shape> rows(height, A.rows(), band);
    rows.load(A, k, s.U, s.staging);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      match.plays[r] = rows.position[r] >= 0 && (taken_of(band, r) >> threadIdx.x % 32 & 1) == 0;
      T* const to = A.data() + rows.row(r) + k * A.ld();
#pragma unroll
      for (int c = 0; c < W; ++c) {
        match.v[r][c] = rows.v[r][c];
        if (k > 0 && match.plays[r] && c < w) to[c * A.ld()] = match.v[r][c];
      }
    }
  }

  /// Those of so many matches from one on.
  __device__ __forceinline__ void read_candidates(Match<Shape>& match, int from, int count) {
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int i = r * threads + int(threadIdx.x), slot = i % W;
      match.plays[r] = i / W < count && __ldcg(&matches.rows[from + i / W][slot]) >= 0;
      const T(*const values)[W] = matches.values[match.plays[r] ? from + i / W : from];
#pragma unroll
      for (int c = 0; c < W; ++c) match.v[r][c] = __ldcg(&values[c][slot]);
    }
  }

  /// The winners of a match, as they were in it: number `won` was row(won) of A, and its entries are from
  /// top[won / W · row_stride + won % W] on, `step` from column to column; where rows lie together, `row_stride` is 1.
  template <class Row>
  __device__ __forceinline__ void write_candidates(int match, int w, const T* top, std::int64_t step, int row_stride,
                                                   Row row) {
    const int p = int(threadIdx.x) % W, won = p < w ? s.won[p] : -1;
    if (threadIdx.x < W) matches.rows[match][p] = won >= 0 ? row(won) : -1;
    const T* const from = top + (row_stride == 1 ? won : won / W * row_stride + won % W);
#pragma unroll
    for (int c = int(threadIdx.x) / W; c < W; c += threads / W)
      matches.values[match][c][p] = won >= 0 && c < w ? __ldcg(from + c * step) : T(0);
  }

  /// L of a band, and of the pivot rows in it their part of U.
  __device__ __forceinline__ void solve_band(int band, int k, int w) {
    Match<Shape> match;
    const SubPanel<Shape> rows(height, A.rows(), band);
    int stop[R];
    T* to[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      unsigned& bits = taken_of(band, r);
      const bool is_there = rows.position[r] >= 0 && (bits >> threadIdx.x % 32 & 1) == 0;
      stop[r] = W;
#pragma unroll
      for (int p = 0; p < W; ++p)
        if (p < w && s.sub_panel.records[p].row == rows.row(r)) stop[r] = p;
      to[r] = is_there ? A.data() + rows.row(r) + k * A.ld() : nullptr;
      const unsigned won = __ballot_sync(all_lanes, is_there && stop[r] < W);
      __syncwarp();
      if (threadIdx.x % 32 == 0) bits |= won;
      __syncwarp();
#pragma unroll
      for (int c = 0; c < W; ++c) match.v[r][c] = is_there && c < w ? __ldcg(to[r] + c * A.ld()) : T(0);
    }
    match.solve(s.sub_panel.rows, w, stop, to, A.ld());
  }

  /// When it is told, what the last match has found: U, the winners, and where L11 is wanted, their rows as they were.
  __device__ __forceinline__ void read_winners(int k, int w) {
    matches.hear(unsigned(k / W));
    const int last = int(Matches<T>::all(bands)) - 1;
    for (int i = int(threadIdx.x); i < W * W; i += threads)
      s.sub_panel.rows[i / W][i % W] = __ldcg(&matches.U[i / W][i % W]);
    if (threadIdx.x < W) {
      const int p = int(threadIdx.x), row = p < w ? __ldcg(&matches.rows[last][p]) : 0;
      s.sub_panel.records[p] = {T(0), T(0), 0, row};
      if (p < w) s.row_of[k + p] = row;
    }
    __syncthreads();
  }

  /// By one warp: L11 of the sub-panel to s.L, with U above it.
  __device__ __forceinline__ void solve_winners(int k, int w) {
    Match<PanelShape<T, PanelSize{.threads = threads, .rows = 1, .columns = W, .widest = Shape::widest}>> match;
    const int last = int(Matches<T>::all(bands)) - 1, p = int(threadIdx.x) % 32;
#pragma unroll
    for (int c = 0; c < W; ++c) match.v[0][c] = __ldcg(&matches.values[last][c][p]);
    T* to[1] = {&s.L[p][k]};
    match.solve(s.sub_panel.rows, w, {p}, to, 1);
  }

  /// By one warp of one block: the interchanges that bring the winners to the top, and the first zero pivot.
  __device__ __forceinline__ void write_pivots(const PanelPivots& pivots, int k, int w) {
    const int n = int(A.cols()), lane = int(threadIdx.x) % 32;
    const unsigned zeros = __ballot_sync(all_lanes, lane < w && s.sub_panel.rows[lane][0] == T(0));
    if (lane > 0) return;
    if (zeros && *pivots.zero < 0) *pivots.zero = pivots.start + k + __ffs(int(zeros)) - 1;
    for (int j = k; j < k + w; ++j) {
      const int row = s.row_of[j], at = row < n ? s.position_of[row] : row, displaced = s.row_at[j];
      pivots.p[j] = pivots.start + at;
      s.position_of[displaced] = at;
      if (at < n) s.row_at[at] = displaced;
      s.row_at[j] = row;
      if (row < n) s.position_of[row] = j;
    }
  }
};

/// As factor_panel. All blocks must run at the same time.
template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    factor_panel_by_tournament(MatrixView<typename Shape::Element, Cuda> A, int height, int bands, PanelPivots pivots,
                               typename Shape::Element* packed_L11, Matches<typename Shape::Element> matches) {
  constexpr int W = Shape::columns;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<TournamentShared<Shape>*>(memory);
  Tournament<Shape> tournament{A, height, bands, matches, s, reinterpret_cast<unsigned*>(&s + 1)};
  const int n = int(A.cols()), of_block = int(ceil_div(bands, int(gridDim.x))), i = int(threadIdx.x);
  for (int word = i; word < of_block * Shape::rows * Shape::warps; word += Shape::threads) tournament.taken[word] = 0;
  if (i < most_panel_columns) s.row_at[i] = s.position_of[i] = i;
  if (i < W) s.sub_panel.rows[0][i] = 0;
  __syncthreads();
  pivots.begin(n, int(blockIdx.x) * Shape::threads + i, int(A.rows()));
#pragma unroll 1
  for (int k = 0; k < n; k += W) {
    const int w = min(W, n - k);
#pragma unroll 1
    for (int band = int(blockIdx.x); band < bands; band += int(gridDim.x)) tournament.play_band(band, k, w);
    tournament.read_winners(k, w);
#pragma unroll 1
    for (int band = int(blockIdx.x); band < bands; band += int(gridDim.x)) tournament.solve_band(band, k, w);
    if (blockIdx.x == 0 && i / 32 == Shape::warps - 1) tournament.write_pivots(pivots, k, w);
    if (W < Shape::widest && k + W < n) {
      if (i < 32) tournament.solve_winners(k, w);
      gather_pivot_rows<Shape, false>(s, A, k);
      solve_behind<Shape>(s, A, k, packed_L11);
    }
  }
  __syncthreads();
  if (blockIdx.x == 0 && i < n) {
    pivots.interchanges.panel.sources[i] = s.row_of[i];
    if (i < A.rows()) pivots.interchanges.panel.targets[i] = s.position_of[i];
  }
  write_pivot_rows<Shape>(s, A, packed_L11, [&](int row) { return tournament.has(row); });
}

/// Bands of a panel of m rows on so many blocks: as many for each, and as high as few of them are.
template <class Shape>
struct Bands {
  std::int64_t blocks, height, count;
  Bands(std::int64_t m, std::int64_t most_blocks) {
    const std::int64_t least = ceil_div(m, std::int64_t(Shape::rows_a_block));
    blocks = std::min(least, most_blocks);
    const std::int64_t even = ceil_div(least, blocks) * blocks;
    height = round_up(ceil_div(m, even), std::int64_t(32)), count = ceil_div(m, height);
    blocks = std::min(blocks, count);
  }
  std::size_t shared() const {
    return sizeof(TournamentShared<Shape>) +
           std::size_t(ceil_div(count, blocks)) * Shape::rows * Shape::warps * sizeof(unsigned);
  }
};

template <class T, int widest>
using TournamentShape = PanelShape<
    T, PanelSize{
           .threads = threads_of_match, .rows = rows_of_thread<T>, .columns = candidates_of_match, .widest = widest}>;

/// Scratch memory of a queue: what a panel of m rows takes of it, behind a packed L11. A band has half of the rows that it could have, or
/// more, or all that there are.
template <class T>
std::int64_t tournament_scratch(std::int64_t m) {
  return PackedL11<T>::elements +
         Matches<T>::elements(2 * ceil_div(m, std::int64_t(threads_of_match * rows_of_thread<T>)));
}

/// P A = L U of at most `widest` columns, with the rows left where they were.
template <class T, int widest>
void factor_by_tournament(Queue<Cuda>& q, const PanelInPlace<T>& panel) {
  using Shape = TournamentShape<T, widest>;
  static_assert(sizeof(TournamentShared<Shape>) <=
                (widest < most_panel_columns ? least_shared_memory : shared_memory_of_widest_panel(precision_of<T>)) -
                    2048);
  const MatrixView<T, Cuda> A = panel.A;
  const Bands<Shape> bands(A.rows(), std::min(cooperative_blocks(q), most_grid_blocks));
  const PacketChannel channel =
      channel_of(q, most_packet_bytes, unsigned(ceil_div(A.cols(), std::int64_t(Shape::columns))));
  T* const memory = q.scratch<T>(tournament_scratch<T>(A.rows()), 1).data() + PackedL11<T>::elements;
  launch(q, factor_panel_by_tournament<Shape>, Blocks::cooperative, dim3(unsigned(bands.blocks)), Shape::threads,
         bands.shared(), A, int(bands.height), int(bands.count), PanelPivots(panel.pivots), panel.packed_L11,
         Matches<T>::in(memory, bands.count, channel));
}

}  // namespace lasolve
