// A strip of a panel: W columns in the registers of the threads, R rows each, factored with partial pivoting.
//
// Rows stay with their threads, and in their places in memory; what changes is their position, which is where they would
// be if the exchanges had been made. The loop over the columns is not unrolled, which keeps its code in the instruction
// cache; so the column at hand must be a fixed register, and rows below the pivot are shifted by one register a step.
//
// The next column is brought up to date first, and its election is under way while the others follow. So a row that is
// sent to the other blocks lacks the step at hand, which is made up for by the warp that sends it, a lane a column.
#pragma once

#include "solvers/cuda/election.cuh"
#include "solvers/cuda/rows.cuh"

namespace lasolve {

/// What a pivot and its column are multiplied by, so that the pivot has a reciprocal that neither overflows nor is subnormal.
__device__ inline double scale_for(double pivot) {
  const int exponent = (__double2hiint(pivot) >> 20 & 0x7ff) - 1023;
  return exponent < -1000 ? 0x1p600 : exponent > 1000 ? 0x1p-600 : 1;
}
__device__ inline float scale_for(float pivot) {
  const int exponent = (__float_as_int(pivot) >> 23 & 0xff) - 127;
  return exponent < -120 ? 0x1p60f : exponent > 120 ? 0x1p-60f : 1;
}

/// Pivots as kernels need them.
struct PanelPivots {
  std::int64_t *p, *zero, start;
  Moves moves;
};

/// What the threads of a block share while they factor a strip.
template <class T, int W, class Election>
struct StripShared {
  Candidate candidates[2][panel_warps];
  alignas(16) T row[W];  // of the block's candidate, as v has it
  T next, l;             // its entry in the next column, and its multiplier
  Election election;
};

template <class T, int W, int R>
struct Strip {
  T v[R][W], l[R], next[R];  // entries from the column at hand on; the multipliers; the next column
  int position[R];           // −1: no row

  __device__ __forceinline__ static int row(int r) {
    return (int(blockIdx.x) * R + r) * panel_threads + int(threadIdx.x);
  }

  /// Rows beyond the last are copies of it that nobody looks at.
  __device__ __forceinline__ void load(MatrixView<T, Cuda> A) {
    const T* first[R];
#pragma unroll
    for (int r = 0; r < R; ++r) first[r] = A.data() + min(std::int64_t(row(r)), A.rows() - 1);
    const int w = int(A.cols());
#pragma unroll
    for (int c = 0; c < W; ++c)
#pragma unroll
      for (int r = 0; r < R; ++r) v[r][c] = first[r][min(c, w - 1) * A.ld()];
  }

  /// Of the rows of the warp whose position is `first` or behind, nominates the one with the largest entry in the next
  /// column.
  __device__ __forceinline__ void nominate(Candidate& nominee, int first) const {
    Candidate mine;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const Candidate other(next[r], position[r], row(r));
      if (position[r] >= first && (r == 0 || other.before(mine))) mine = other;
    }
    if (best_lane(mine) == int(threadIdx.x % 32)) nominee = mine;
  }

  /// Shows a row of this thread to its warp.
  template <int live, class Shared>
  __device__ __forceinline__ void show(Shared& s, int which) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r == which) {
        s.next = next[r], s.l = l[r];
#pragma unroll
        for (int c0 = 0; c0 < live; c0 += Chunk<T>::size) {
          Chunk<T> chunk;
#pragma unroll
          for (int e = 0; e < Chunk<T>::size; ++e) chunk.values[e] = v[r][c0 + e];
          chunk.write_shared(&s.row[c0]);
        }
      }
  }

  /// The election of the pivot of the next column, which is v[offset], where v[live − 1] is the last; `before` is the pivot
  /// row of the step at hand.
  template <int offset, int live, class Shared>
  __device__ __forceinline__ void campaign(Shared& s, const T* before, int round) {
    auto& candidates = s.candidates[round % 2];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    nominate(candidates[warp], round);
    __syncthreads();
    if (warp != best_warp(candidates)) return let_pass();
    const Candidate best = candidates[warp];
    if (best.row % 32 == lane) show<live>(s, best.row / panel_threads % R);
    __syncwarp();
    const int c = lane + offset;  // v[c], from which on the row is sent
    T entry = lane == 0 ? s.next : c < live ? s.row[c] : T(0);
    if (offset > 0 && lane > 0 && c < live) entry = fma(-s.l, before[c], entry);
    s.election.template send<live>(best, entry, round);
    passed();
  }

  /// v ← v − l u in columns 2 … live − 1, shifted by one.
  template <int live>
  __device__ __forceinline__ void eliminate(const T* u, int done) {
#pragma unroll
    for (int c0 = 0; c0 < live; c0 += Chunk<T>::size) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(u + c0);
#pragma unroll
      for (int e = 0; e < Chunk<T>::size; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (c0 + e >= 2 && position[r] >= done) v[r][c0 + e - 1] = fma(-l[r], chunk.values[e], v[r][c0 + e]);
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= done) v[r][0] = next[r], v[r][live - 1] = 0;
  }

  template <int live, class Shared>
  __device__ __forceinline__ void advance(Shared& s, const T* u, int done) {
    campaign<1, live>(s, u, done);
    eliminate<live>(u, done);
  }

  /// The multipliers of the column at hand, v[0], which go to `column` of A.
  __device__ __forceinline__ void divide(T pivot, T* column, int done) {
    const T scale = scale_for(pivot), reciprocal = pivot == T(0) ? T(1) : fast_reciprocal(pivot * scale);
#pragma unroll
    for (int r = 0; r < R; ++r) {
      l[r] = (scale == T(1) ? v[r][0] : v[r][0] * scale) * reciprocal;
      if (position[r] >= done) column[row(r)] = l[r];
    }
  }

  /// Factors A, which is columns k, k + 1, … of the panel: the multipliers and U are written to it.
  template <class Shared>
  __device__ __forceinline__ void factor(Shared& s, MatrixView<T, Cuda> A, PanelPivots pivots, int k, int* row_of) {
    const int w = int(A.cols());
#pragma unroll
    for (int r = 0; r < R; ++r) next[r] = v[r][0], l[r] = 0;
    campaign<0, W>(s, nullptr, k);
    Winner<T> winner = s.election.elect(k);
#pragma unroll 1
    for (int c = 0; c < w; ++c) {
      const int j = k + c, done = j + 1;
      const T pivot = winner.row[0];
#pragma unroll
      for (int r = 0; r < R; ++r)
        position[r] = position[r] == winner.position ? j : position[r] == j ? winner.position : position[r];
      divide(pivot, A.data() + c * A.ld(), done);
      if (c + 1 < w) {
#pragma unroll
        for (int r = 0; r < R; ++r) next[r] = fma(-l[r], winner.row[1], v[r][1]);
        switch (c / (W / 4)) {  // how many columns are left
          case 0:
            advance<W>(s, winner.row, done);
            break;
          case 1:
            advance<W / 4 * 3>(s, winner.row, done);
            break;
          case 2:
            advance<W / 2>(s, winner.row, done);
            break;
          case 3:
            advance<W / 4>(s, winner.row, done);
        }
      }
      if (threadIdx.x == 0) take_note(pivots, row_of, j, winner, pivot);
      if (c + 1 < w) winner = s.election.elect(done);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const int first = position[r] - k;  // column of the pivot, for rows that became one now
      if (first < 0 || first >= w) continue;
#pragma unroll
      for (int c = 0; c < W; ++c)
        if (first + c < w) A.data()[row(r) + (first + c) * A.ld()] = v[r][c];
    }
  }

  __device__ __forceinline__ static void take_note(PanelPivots pivots, int* row_of, int j, const Winner<T>& winner,
                                                   T pivot) {
    row_of[j] = winner.physical;
    if (blockIdx.x > 0) return;
    pivots.p[j] = pivots.start + winner.position;
    if (pivot == T(0) && *pivots.zero < 0) *pivots.zero = pivots.start + j;
  }
};

}  // namespace lasolve
