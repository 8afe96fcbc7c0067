// A sub-panel: W columns of a panel in the registers of the threads, R rows each, factored with partial pivoting.
//
// Rows stay with their threads and in their places in memory. What changes is their position: where they would be if
// the interchanges had been made. The loop over the columns is not unrolled, so that its code stays in the instruction
// cache. So the column at hand must be a fixed register, and rows are shifted by one register a step.
//
// A step waits for other blocks once: for the candidates of its search, with which the pivot row of the step before
// arrives. With that row the next two columns are brought up to date at once, because the next search needs them. While
// it runs, the warp that has the pivot row broadcasts it, and the other columns are updated. So these lag by one step.
// The pivot row lags too, and the warp that broadcasts it makes up for that.
#pragma once

#include "core/cuda/fp64_tile.cuh"
#include "solvers/lu/cuda/pivot_search.cuh"
#include "solvers/lu/cuda/row_interchanges.cuh"

namespace lasolve {

/// Pivots as kernels need them.
struct PanelPivots {
  std::int64_t *p, *zero, start;
  Interchanges<Cuda> interchanges;

  explicit PanelPivots(const Pivots<Cuda>& of)
      : p(of.p.data()), zero(of.zero.data()), start(of.start), interchanges(of.interchanges) {}
  /// The permutation is the identity until the blocks have agreed on another. So where a wait took too long, the
  /// kernels that move rows still find places within the matrix. `row` is one of this thread's, if below `end`.
  __device__ void begin(int n, int row, int end) const {
    const int i = threadIdx.x;
    if (blockIdx.x == 0 && i == 0) interchanges.counts[0] = n;
    if (blockIdx.x == 0 && i < n) interchanges.panel.sources[i] = i;
    if (row < min(n, end)) interchanges.panel.targets[row] = row;
  }
};

/// A pivot row: its first two entries, its position before the interchange, and where it is.
template <class T>
struct alignas(16) PivotRecord {
  T pivot, behind;
  int position, row;
};

/// What the threads of a block share while they factor a sub-panel.
template <class Shape, class PivotSearch>
struct SubPanelShared {
  using T = typename Shape::Element;
  static constexpr int W = Shape::columns;
  alignas(16) T rows[W + 1][W];  // rows[c + 1]: the pivot row of step c, from column c + 2 on; rows[0] = 0
  alignas(16) T lagging_row[W];  // the next of them, which lacks the step before
  PivotRecord<T> records[W];
  PivotSearch search;
};

template <class Shape>
struct SubPanel {
  using T = typename Shape::Element;
  static constexpr int R = Shape::rows, W = Shape::columns, threads = Shape::threads;
  static constexpr int part = Shape::part;

  const int block;
  const int height;  // how many rows a block has
  // Entries from the column at hand on, of which the first is up to date; and the multipliers of the step before.
  T v[R][W], l[R];
  int position[R];  // −1: no row

  /// In a register, because it takes long to ask for.
  __device__ static int block_index() {
    int index;
    asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(index));
    return index;
  }
  /// Of m rows, those of a block.
  __device__ __forceinline__ SubPanel(int height, std::int64_t m, int block = block_index())
      : block(block), height(height) {
#pragma unroll
    for (int r = 0; r < R; ++r) position[r] = row(r) < end(m) ? row(r) : -1;
  }
  __device__ __forceinline__ int row(int r) const { return block * height + r * threads + int(threadIdx.x); }
  __device__ __forceinline__ int end(std::int64_t m) const { return min((block + 1) * height, int(m)); }
  __device__ __forceinline__ bool has(int row) const { return unsigned(row - block * height) < unsigned(height); }

  /// v ← A − L U: columns k … of a panel A, as the sub-panels before leave them. There are k columns of L to the left
  /// of A, and U(q, c) = U[q][k − W + c]. Rows beyond the last one are undefined, and so are the pivot rows of the
  /// sub-panels before; neither is used.
  template <int ld>
  __device__ __forceinline__ void load(MatrixView<T, Cuda> A, int k, const T (*U)[ld], T (*staging)[32][part]) {
    const int last = int(A.cols()) - 1, lane = threadIdx.x % 32;
    const std::int64_t below = A.rows() - 1;
    const int end = this->end(A.rows());
    if (row(0) - lane >= end) return;
    if (k == 0 || W >= Shape::widest) {
      const T* from[R];
#pragma unroll
      for (int r = 0; r < R; ++r) from[r] = A.data() + min(std::int64_t(row(row(r) - lane < end ? r : 0)), below);
#pragma unroll
      for (int c = 0; c < W; ++c) {
        const std::int64_t step = c < last ? A.ld() : 0;
#pragma unroll
        for (int r = 0; r < R; ++r) {
          v[r][c] = *from[r];
          from[r] += step;
          asm volatile("" : "+l"(from[r]));
        }
      }
      return;
    }
    constexpr int at_once = R == 1 ? 1 : 2;
#pragma unroll
    for (int r = 0; r < R; r += at_once) {
      const int first = row(r) - lane, second = row(r + at_once - 1) - lane;
      if (first >= end) return;
      if (R == 2 && second >= end && first + 31 <= below)
        load_tiles<true, 1>(A, k, U, staging, r);
      else if (second + 31 <= below)
        load_tiles<true, at_once>(A, k, U, staging, r);
      else
        load_tiles<false, at_once>(A, k, U, staging, r);
    }
  }

  /// A warp makes 32 × W of the product, or twice that, at a time, in tiles of 16 × 8. `full`: it has all of its rows.
  template <bool full, int at_once, int ld>
  __device__ __forceinline__ void load_tiles(MatrixView<T, Cuda> A, int k, const T (*U)[ld], T (*staging)[32][part],
                                             int r0) {
    constexpr int wide = W / 8, ahead = at_once == 1 ? 4 : 2;
    const int last = int(A.cols()) - 1, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, below = int(A.rows()) - 1;
    const int first = row(r0) - lane + g;
    const auto place = [&](int r, int i) __attribute__((always_inline)) {  // of rows g, g + 8, … in a column
      const int there = r * threads + 8 * i;
      return full ? there : min(first + there, below) - first;
    };
    const T* top = A.data() + first;
    double sum[at_once][2][wide][4];
#pragma unroll
    for (int j = 0; j < wide; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const T* column = top + min(k + 8 * j + 2 * t + e, last) * A.ld();
#pragma unroll
        for (int r = 0; r < at_once; ++r)
#pragma unroll
          for (int i = 0; i < 4; ++i) sum[r][i / 2][j][i % 2 * 2 + e] = column[place(r, i)];
      }
    const T* column = top + t * A.ld();
    T next[ahead][at_once][2][4];
    const auto fetch = [&](int stage) __attribute__((always_inline)) {
#pragma unroll
      for (int e = 0; e < 2; ++e, column += 4 * A.ld())
#pragma unroll
        for (int r = 0; r < at_once; ++r)
#pragma unroll
          for (int i = 0; i < 4; ++i) next[stage][r][i / 2][2 * e + i % 2] = column[place(r, i)];
    };
#pragma unroll
    for (int stage = 0; stage < ahead; ++stage)
      if (8 * stage < k) fetch(stage);
#pragma unroll 1
    for (int q0 = 0; q0 < k; q0 += 8 * ahead)
#pragma unroll
      for (int stage = 0; stage < ahead; ++stage) {
        const int q = q0 + 8 * stage;
        if (q >= k) break;
#pragma unroll
        for (int j = 0; j < wide; ++j) {
          const double b[2] = {-U[q + t][k - W + 8 * j + g], -U[q + 4 + t][k - W + 8 * j + g]};
#pragma unroll
          for (int r = 0; r < at_once; ++r)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
              const T* l = next[stage][r][i];
              const double a[4] = {double(l[0]), double(l[1]), double(l[2]), double(l[3])};
              multiply_tile(sum[r][i][j], a, b, sum[r][i][j]);
            }
        }
        if (q + 8 * ahead < k) fetch(stage);
      }
#pragma unroll
    for (int r = 0; r < at_once; ++r)
#pragma unroll
      for (int c = 0; c < W; c += part) tiles_to_rows(sum[r], c / 8, staging[threadIdx.x / 32], v[r0 + r] + c);
  }

  /// 32 × part of a warp, from the layout of tiles to a row a lane, through shared memory. Chunks of a row change places
  /// there, so that neither writing pairs nor reading rows meets bank conflicts.
  __device__ __forceinline__ static void tiles_to_rows(const double (&tiles)[2][W / 8][4], int first,
                                                       T (&through)[32][part], T* entries) {
    constexpr int size = Chunk<T>::size;
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const auto place = [](int i, int c) {
      return (c / size ^ (i % 2 * 4 + i / 2 % 4) % (part / size)) * size + c % size;
    };
    struct alignas(2 * sizeof(T)) Pair {
      T values[2];
    };
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < part / 8; ++j) {
        const auto& tile = tiles[i / 2][first + j];
        *reinterpret_cast<Pair*>(&through[8 * i + g][place(g, 8 * j + 2 * t)]) = {T(tile[i % 2 * 2]),
                                                                                  T(tile[i % 2 * 2 + 1])};
      }
    __syncwarp();
#pragma unroll
    for (int c0 = 0; c0 < part; c0 += size) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(&through[lane][place(lane, c0)]);
#pragma unroll
      for (int e = 0; e < size; ++e) entries[c0 + e] = chunk.values[e];
    }
  }

  /// Submits the candidate of this thread: of its rows from position `round` on, the one with the largest entry in the
  /// next column.
  template <class PivotSearch>
  __device__ __forceinline__ void submit(PivotSearch& search, const T (&next)[R], const T (&behind)[R],
                                         int round) const {
    Candidate<T> mine;
    std::uint64_t best = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const std::uint64_t magnitude = position[r] >= round ? magnitude_of(next[r]) : 0;
      if (magnitude > best || (magnitude == best && magnitude > 0 && position[r] < mine.position)) {
        best = magnitude, mine.value = next[r], mine.behind = behind[r], mine.l = l[r];
        mine.position = position[r], mine.row = row(r);
      }
    }
    search.submit(round, mine, best);
  }

  /// Writes a row of this thread, from v[2] on.
  template <int live>
  __device__ __forceinline__ void copy_row(T* to, int which) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r == which)
#pragma unroll
        for (int i = 2; i < live; ++i) write_shared(to + i - 2, v[r][i]);
  }

  /// Step c of the sub-panel, which is step j of the panel and has v[live − 1] as its last column at most. Finds the
  /// pivot, scales the column, brings the next two columns up to date, submits candidates, and updates the other
  /// columns.
  template <int live, class Shared>
  __device__ __forceinline__ void step(Shared& s, T* column, int j, int c, bool more) {
    const Candidate<T> winner = s.search.find_pivot(j, s.rows[c], c > 0);
    const T* u = s.rows[c];
    const T u1 = fma(-winner.l, u[0], winner.behind);
    const bool extreme = is_extreme(winner.value);
    T next[R], behind[R], before[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
      position[r] = position[r] == winner.position ? j : position[r] == j ? winner.position : position[r];
      next[r] = fma(-l[r], u[0], v[r][1]), behind[r] = fma(-l[r], u[1], v[r][2]);
      T entry = v[r][0];
      if (extreme) entry *= scale_for(winner.value);
      before[r] = l[r], l[r] = entry * winner.reciprocal;
      next[r] = fma(-l[r], u1, next[r]);
    }
    if (more) {
      submit(s.search, next, behind, j + 1);
      const int local = winner.row - block * height, thread = int(unsigned(local) % threads), warp = threadIdx.x / 32;
      if (warp == (thread / 32 + 1) % Shape::warps) s.search.send_candidate(j + 1, block);
      if (warp == thread / 32 && unsigned(local) < unsigned(height)) {
        if (thread == int(threadIdx.x)) copy_row<live>(s.lagging_row, local / threads % R);
        __syncwarp();
        s.search.template broadcast_row<live>(
            s.rows[c + 1], j + 1, [&](int i) { return fma(-winner.l, u[min(i + 1, W - 1)], s.lagging_row[i]); });
      }
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] > j) column[row(r)] = l[r];
    if (threadIdx.x < 32 && more) s.search.expect_messages(j + 1, live);
    if (threadIdx.x == 0) s.records[c] = {winner.value, u1, winner.position, winner.row};
#pragma unroll
    for (int c0 = 0; c0 < live; c0 += Chunk<T>::size) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(u + c0);
#pragma unroll
      for (int e = 0; e < Chunk<T>::size; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (const int i = c0 + e + 1; i >= 3 && i < live) v[r][i - 1] = fma(-before[r], chunk.values[e], v[r][i]);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) v[r][0] = next[r], v[r][1] = behind[r];
  }

  /// Factors A, which is columns k, k + 1, … of the panel: the multipliers are written to it, and U stays in s.
  template <class Shared>
  __device__ __forceinline__ void factor(Shared& s, MatrixView<T, Cuda> A, int k) {
    T next[R], behind[R];
#pragma unroll
    for (int r = 0; r < R; ++r) next[r] = v[r][0], behind[r] = v[r][1], l[r] = 0;
    submit(s.search, next, behind, k);
    if (threadIdx.x < 32) s.search.expect_messages(k, 0), s.search.send_candidate(k, block);
    steps<W>(s, A, k);
  }

  /// The last `live` steps, with fewer columns in the last of them. That is less work and more code, which must be
  /// fetched: it takes as long as a step, and longer beside other kernels.
  template <int live, class Shared>
  __device__ __forceinline__ void steps(Shared& s, MatrixView<T, Cuda> A, int k) {
    constexpr int then = live * R > 16 ? live / 2 : 0;
    const int w = int(A.cols());
#pragma unroll 1
    for (int c = W - live; c < min(w, W - then); ++c) step<live>(s, A.data() + c * A.ld(), k + c, c, c + 1 < w);
    if constexpr (then > 0) steps<then>(s, A, k);
  }

  /// After a barrier: writes U, which all blocks have, to the pivot rows of this block, and the pivots.
  template <class Shared>
  __device__ __forceinline__ void store(const Shared& s, MatrixView<T, Cuda> A, PanelPivots pivots, int k,
                                        int* row_of) const {
    const int w = int(A.cols()), lane = threadIdx.x % 32;
    int counter = threadIdx.x / 32;
    for (int p0 = 0; p0 < w; p0 += 32) {
      const bool ours = p0 + lane < w && has(s.records[p0 + lane].row);
      for (unsigned rows = __ballot_sync(all_lanes, ours); rows; rows &= rows - 1) {
        if (counter++ % Shape::warps > 0) continue;
        const int p = p0 + __ffs(int(rows)) - 1;
        const PivotRecord<T> record = s.records[p];
        for (int c = p + lane; c < w; c += 32)
          A.data()[record.row + c * A.ld()] = c == p       ? record.pivot
                                              : c == p + 1 ? record.behind
                                                           : s.rows[p + 1][c - p - 2];
      }
    }
    const int c = threadIdx.x;
    if (c < w) row_of[k + c] = s.records[c].row;
    if (blockIdx.x > 0) return;
    if (c < w) pivots.p[k + c] = pivots.start + s.records[c].position;
    if (c >= 32) return;
    for (int p0 = 0; p0 < w; p0 += 32) {
      const unsigned zeros = __ballot_sync(all_lanes, p0 + c < w && s.records[p0 + c].pivot == T(0));
      if (c == 0 && zeros && *pivots.zero < 0) *pivots.zero = pivots.start + k + p0 + __ffs(int(zeros)) - 1;
    }
  }
};

}  // namespace lasolve
