// A strip of a panel: W columns in the registers of the threads, R rows each, factored with partial pivoting.
//
// Rows stay with their threads, and in their places in memory; what changes is their position, which is where they would
// be if the exchanges had been made. The loop over the columns is not unrolled, which keeps its code in the instruction
// cache; so the column at hand must be a fixed register, and rows are shifted by one register a step.
//
// A step waits for others once: for the candidates of its election and, with them, the pivot row of the step before. With
// that row the next two columns are brought up to date at once, which is what the next election needs to know; the others
// follow while it is under way, and then the pivot row of the step is published. So all columns but two lag by one step.
#pragma once

#include "solvers/cuda/election.cuh"
#include "solvers/cuda/rows.cuh"

namespace lasolve {

/// Pivots as kernels need them.
struct PanelPivots {
  std::int64_t *p, *zero, start;
  Moves moves;
};

/// What the threads of a block share while they factor a strip.
template <class T, int W, class Election>
struct StripShared {
  alignas(16) T rows[W + 1][W];  // rows[c + 1]: the pivot row of step c, from column c + 2 on; rows[0] = 0
  T pivots[W], behind[W];        // its first two entries
  Election election;
};

template <class T, int W, int R>
struct Strip {
  static constexpr int rows_a_block = R * panel_threads;

  T v[R][W], l[R];  // entries from the column at hand on, of which the first is up to date; the multipliers of the step before
  int position[R];  // −1: no row

  __device__ __forceinline__ static int row(int r) {
    return int(blockIdx.x) * rows_a_block + r * panel_threads + int(threadIdx.x);
  }

  /// Columns k … of a panel A, as the strips before leave them: v ← A − L U, with k columns of L to the left of A, and
  /// U(q, c) = U[q][k − W + c]. Rows beyond the last are copies of it that nobody looks at, and pivot rows of the strips
  /// before become something that nobody looks at.
  template <int ld>
  __device__ __forceinline__ void load(MatrixView<T, Cuda> A, int k, const T (*U)[ld]) {
    constexpr int depth = 8 / R;
    const T* first[R];
    T L[R][depth];
    const int last = int(A.cols()) - 1;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      first[r] = A.data() + min(std::int64_t(row(r)), A.rows() - 1);
#pragma unroll
      for (int c = 0; c < W; ++c) v[r][c] = first[r][min(k + c, last) * A.ld()];
#pragma unroll
      for (int e = 0; e < depth; ++e) L[r][e] = first[r][min(e, last) * A.ld()];
    }
#pragma unroll 1
    for (int q = 0; q < k; q += depth) {
      T now[R][depth];
#pragma unroll
      for (int e = 0; e < depth; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r) now[r][e] = L[r][e], L[r][e] = first[r][min(q + depth + e, last) * A.ld()];
#pragma unroll
      for (int e = 0; e < depth; ++e)
#pragma unroll
        for (int c0 = 0; c0 < W; c0 += Chunk<T>::size) {
          const auto chunk = *reinterpret_cast<const Chunk<T>*>(&U[q + e][k - W + c0]);
#pragma unroll
          for (int i = 0; i < Chunk<T>::size; ++i)
#pragma unroll
            for (int r = 0; r < R; ++r) v[r][c0 + i] = fma(-now[r][e], chunk.values[i], v[r][c0 + i]);
        }
    }
  }

  /// Of the rows of the warp whose position is `first` or behind, nominates the one with the largest entry in the next
  /// column.
  __device__ __forceinline__ void nominate(Candidate<T>& nominee, const T (&next)[R], const T (&behind)[R],
                                           int first) const {
    Candidate<T> mine;
    std::uint64_t best = 0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const std::uint64_t rank = position[r] >= first ? rank_of(next[r]) : 0;
      if (rank > best || (rank == best && rank > 0 && position[r] < mine.position)) {
        best = rank, mine.value = next[r], mine.behind = behind[r], mine.l = l[r];
        mine.position = position[r], mine.row = row(r);
      }
    }
    mine.reciprocal = mine.value == T(0) ? T(1) : fast_reciprocal(mine.value * scale_for(mine.value));
    if (best_lane(best, mine.position) == int(threadIdx.x % 32)) nominee = mine;
  }

  /// Writes a row of this thread, from v[1] on.
  template <int live>
  __device__ __forceinline__ void show(T* to, int which) const {
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (r == which)
#pragma unroll
        for (int c0 = 0; c0 < live; c0 += Chunk<T>::size) {
          Chunk<T> chunk;
#pragma unroll
          for (int e = 0; e < Chunk<T>::size; ++e) chunk.values[e] = c0 + e + 1 < live ? v[r][c0 + e + 1] : T(0);
          chunk.write_shared(to + c0);
        }
  }

  /// Brings columns 3 … live − 1 up to date with the step before, whose multipliers are `before` and whose pivot row is u,
  /// shifts all by one, and publishes the row of the winner; `next` and `behind` are the next two columns.
  template <int live, class Shared>
  __device__ __forceinline__ void follow(Shared& s, const T* u, const T (&before)[R], const T (&next)[R],
                                         const T (&behind)[R], int winner, T* to, int message) {
    s.election.template expect<live>(message);
#pragma unroll
    for (int c0 = 0; c0 < live; c0 += Chunk<T>::size) {
      const auto chunk = *reinterpret_cast<const Chunk<T>*>(u + c0);
#pragma unroll
      for (int e = 0; e < Chunk<T>::size; ++e)
#pragma unroll
        for (int r = 0; r < R; ++r)
          if (const int c = c0 + e + 1; c >= 3 && c < live) v[r][c - 1] = fma(-before[r], chunk.values[e], v[r][c]);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) v[r][0] = next[r], v[r][1] = behind[r];
    const int thread = winner % panel_threads;
    if (winner / rows_a_block != int(blockIdx.x) || thread / 32 != int(threadIdx.x) / 32) return;
    if (thread == int(threadIdx.x)) show<live>(s.election.outgoing(to), winner / panel_threads % R);
    s.election.template publish<live>(to, message);
  }

  /// Factors A, which is columns k, k + 1, … of the panel: the multipliers are written to it, and U stays in s.
  template <class Shared>
  __device__ __forceinline__ void factor(Shared& s, MatrixView<T, Cuda> A, PanelPivots pivots, int k, int* row_of) {
    const int w = int(A.cols());
    T next[R], behind[R];
#pragma unroll
    for (int r = 0; r < R; ++r) next[r] = v[r][0], behind[r] = v[r][1], l[r] = 0;
    nominate(s.election.nominees[k % 2][threadIdx.x / 32], next, behind, k);
    s.election.send(k);
#pragma unroll 1
    for (int c = 0; c < w; ++c) {
      const int j = k + c, message = j - k / W;  // a strip publishes a row less than it elects
      const Candidate<T> winner = s.election.elect(j, s.rows[c], c > 0 ? message - 1 : -1);
      const T* u = s.rows[c];
      const T scale = scale_for(winner.value), u1 = fma(-winner.l, u[0], winner.behind);
      T before[R];
#pragma unroll
      for (int r = 0; r < R; ++r) {
        position[r] = position[r] == winner.position ? j : position[r] == j ? winner.position : position[r];
        next[r] = fma(-l[r], u[0], v[r][1]), behind[r] = fma(-l[r], u[1], v[r][2]);
        before[r] = l[r], l[r] = (scale == T(1) ? v[r][0] : v[r][0] * scale) * winner.reciprocal;
        if (position[r] > j) A.data()[row(r) + c * A.ld()] = l[r];
        next[r] = fma(-l[r], u1, next[r]);
      }
      if (c + 1 < w) {
        nominate(s.election.nominees[(j + 1) % 2][threadIdx.x / 32], next, behind, j + 1);
        s.election.send(j + 1);
        const auto go = [&]<int live>() __attribute__((always_inline)) {
          follow<live>(s, u, before, next, behind, winner.row, s.rows[c + 1], message);
        };
        switch (c / (W / 4)) {  // how many columns are left
          case 0:
            go.template operator()<W>();
            break;
          case 1:
            go.template operator()<W / 4 * 3>();
            break;
          case 2:
            go.template operator()<W / 2>();
            break;
          case 3:
            go.template operator()<W / 4>();
        }
      }
      if (threadIdx.x == 0) {
        s.pivots[c] = winner.value, s.behind[c] = u1;
        take_note(pivots, row_of, j, winner);
      }
    }
  }

  __device__ __forceinline__ static void take_note(PanelPivots pivots, int* row_of, int j, const Candidate<T>& winner) {
    row_of[j] = winner.row;
    if (blockIdx.x > 0) return;
    pivots.p[j] = pivots.start + winner.position;
    if (winner.value == T(0) && *pivots.zero < 0) *pivots.zero = pivots.start + j;
  }

  /// U, which all blocks have, to the pivot rows of this block; `row_of` begins with the first of the strip. After a
  /// barrier.
  template <class Shared>
  __device__ __forceinline__ static void store(const Shared& s, MatrixView<T, Cuda> A, const int* row_of) {
    for (int i = int(threadIdx.x); i < W * W; i += panel_threads) {
      const int p = i / W, c = i % W;
      if (c < p || c >= int(A.cols()) || row_of[p] / rows_a_block != int(blockIdx.x)) continue;
      A.data()[row_of[p] + c * A.ld()] = c == p ? s.pivots[p] : c == p + 1 ? s.behind[p] : s.rows[p + 1][c - p - 2];
    }
  }
};

}  // namespace lasolve
