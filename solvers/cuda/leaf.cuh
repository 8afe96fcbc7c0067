// A leaf of a panel: m × w, few columns, any height, factored by one kernel with a row in the registers of each thread.
//
// Rows stay with their threads; only their positions change, and each is written to its place at the end. For a column,
// each block finds its best candidate and posts it with its whole row; all blocks read all candidates and so know the
// same winner, whose row they take from the mailbox. No block waits for anything else.
//
// The loop over the columns is not unrolled: straight-line code would be fetched from memory once for each column, which
// takes longer than the column. Instead the row is shifted by one register a step, so that the column at hand is always
// v[0], and its multiplier comes in at the end, where the pivot row has a zero.
#pragma once

#include <climits>

#include "core/cuda/check.hpp"
#include "solvers/cuda/mailbox.cuh"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int leaf_threads = 512;
constexpr int leaf_warps = leaf_threads / 32;
constexpr int most_leaf_blocks = 256;
constexpr int few_leaf_blocks = 16;  // whose letters a block reads all at once

/// A candidate for the pivot: the bits of |a| plus one, which order as |a| does, with NaN above all; no candidate is 0.
/// Of equals the first position wins, as in LAPACK. `place` is the position and the block that has it.
template <class T>
struct LeafCandidate {
  std::uint64_t key = 0;
  unsigned place = UINT_MAX;

  __device__ void offer(T value, int position, unsigned block) {
    const std::uint64_t k = bits_of(fabs(value)) + 1;
    const unsigned p = unsigned(position) << 8 | block;
    if (k > key || (k == key && p < place)) key = k, place = p;
  }
  __device__ int position() const { return int(place >> 8); }
  __device__ unsigned block() const { return place & 255; }
};

/// The best of a warp, in all its lanes.
template <class T>
__device__ LeafCandidate<T> best_of_warp(LeafCandidate<T> mine) {
  constexpr unsigned all = ~0u;
  LeafCandidate<T> best;
  bool still = true;
  if constexpr (sizeof(T) == 8) {
    const unsigned high = __reduce_max_sync(all, unsigned(mine.key >> 32));
    still = unsigned(mine.key >> 32) == high;
    best.key = std::uint64_t(high) << 32;
  }
  const unsigned low = __reduce_max_sync(all, still ? unsigned(mine.key) : 0u);
  best.key |= low;
  best.place = __reduce_min_sync(all, still && unsigned(mine.key) == low ? mine.place : UINT_MAX);
  return best;
}

/// What the threads of a block share.
template <class T, int W>
struct LeafShared {
  alignas(16) T rows[few_leaf_blocks + 1][W];  // the candidates of all blocks when these are few; the last row is ours
  unsigned places[few_leaf_blocks];
  LeafCandidate<T> found[leaf_warps];
  __device__ T (&own())[W] { return rows[few_leaf_blocks]; }
};

/// Sends this block's candidate row (in s.own()) to all blocks. One warp.
template <class T, int W>
__device__ void post_candidate(LeafShared<T, W>& s, Letter* page, LeafCandidate<T> mine, unsigned stamp) {
  Letter* letters = page + blockIdx.x * (W + 1);
  const int lane = threadIdx.x % 32;
  if (lane < W) post(letters + lane, bits_of(s.own()[lane]), stamp);
  if (lane == 0) post(letters + W, mine.place, stamp);
}

/// The winner among all blocks; its row becomes row number `returned` of s. For all threads of a block.
template <class T, int W>
__device__ int elect(LeafShared<T, W>& s, const Letter* page, LeafCandidate<T>& winner, unsigned stamp) {
  const int blocks = gridDim.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (blocks <= few_leaf_blocks) {  // one round trip: everything
    for (int i = threadIdx.x; i < blocks * (W + 1); i += leaf_threads) {
      const int block = i / (W + 1), c = i % (W + 1);
      const std::uint64_t content = collect(page + i, stamp);
      if (c == W)
        s.places[block] = unsigned(content);
      else
        s.rows[block][c] = from_bits<T>(content);
    }
    __syncthreads();
    LeafCandidate<T> candidate;
    if (lane < blocks && s.places[lane] != UINT_MAX)
      candidate.key = bits_of(fabs(s.rows[lane][0])) + 1, candidate.place = s.places[lane];
    winner = best_of_warp(candidate);
    return int(winner.block());
  }
  LeafCandidate<T> candidate;  // two: the candidates, then the row of the best
  if (int(threadIdx.x) < blocks) {
    const Letter* letters = page + threadIdx.x * (W + 1);
    const T value = from_bits<T>(collect(letters, stamp));
    const unsigned place = unsigned(collect(letters + W, stamp));
    if (place != UINT_MAX) candidate.key = bits_of(fabs(value)) + 1, candidate.place = place;
  }
  candidate = best_of_warp(candidate);
  if (lane == 0) s.found[warp] = candidate;
  __syncthreads();
  winner = best_of_warp(lane < leaf_warps ? s.found[lane] : LeafCandidate<T>());
  if (warp == 0 && lane < W) s.own()[lane] = from_bits<T>(collect(page + winner.block() * (W + 1) + lane, stamp));
  __syncthreads();
  return few_leaf_blocks;
}

/// P A = L U. W ≥ columns of A; thread t of block b has rows (b·R + r)·512 + t. All blocks must run at the same time.
template <class T, int W, int R>
__global__ void __launch_bounds__(leaf_threads, 1)
    factor_leaf(MatrixView<T, Cuda> A, Pivots<Cuda> pivots, Letter* letters, unsigned stamp) {
  static_assert(W <= 32, "a lane a column");
  __shared__ LeafShared<T, W> s;
  const int w = int(A.cols()), lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  T v[R][W];
  int position[R];  // −1: no row
#pragma unroll
  for (int r = 0; r < R; ++r) {
    const std::int64_t i = std::int64_t(blockIdx.x * R + r) * leaf_threads + threadIdx.x;
    position[r] = i < A.rows() ? int(i) : -1;
#pragma unroll
    for (int c = 0; c < W; ++c) v[r][c] = c < w && i < A.rows() ? A.data()[i + c * A.ld()] : T(0);
  }
#pragma unroll 1
  for (int j = 0; j < w; ++j) {
    LeafCandidate<T> mine;
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= j) mine.offer(v[r][0], position[r], blockIdx.x);
    mine = best_of_warp(mine);
    if (lane == 0) s.found[warp] = mine;
    __syncthreads();
    mine = best_of_warp(lane < leaf_warps ? s.found[lane] : LeafCandidate<T>());

    bool owner = false;
#pragma unroll
    for (int r = 0; r < R; ++r)
      if (position[r] >= j && position[r] == mine.position()) {
        owner = true;
#pragma unroll
        for (int c = 0; c < W; ++c) s.own()[c] = c < W - j ? v[r][c] : T(0);
      }
    LeafCandidate<T> winner = mine;
    int pivot_row = few_leaf_blocks;
    if (gridDim.x == 1) {
      __syncthreads();
    } else {
      Letter* page = letters + (j % 2) * most_leaf_blocks * (W + 1);
      const bool nobody = mine.place == UINT_MAX && warp == 0;
      if (__any_sync(~0u, owner) || nobody) {
        __syncwarp();
        post_candidate<T, W>(s, page, mine, stamp + j);
      }
      if (gridDim.x > few_leaf_blocks) __syncthreads();  // s.own() and s.found are about to be written again
      pivot_row = elect<T, W>(s, page, winner, stamp + j);
    }

    const T(&u)[W] = s.rows[pivot_row];
    const T pivot = u[0];
    const int p = winner.position();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      pivots.p.data()[j] = pivots.start + p;
      if (pivot == T(0) && *pivots.zero.data() < 0) *pivots.zero.data() = pivots.start + j;
    }
    const bool tiny = fabs(pivot) < (sizeof(T) == 8 ? T(2.2250738585072014e-308) : T(1.17549435e-38f));
    const T reciprocal = T(1) / pivot;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == p)
        position[r] = j;
      else if (position[r] == j)
        position[r] = p;
      const bool below = position[r] > j && pivot != T(0);
      const T l = !below ? T(0) : tiny ? v[r][0] / pivot : v[r][0] * reciprocal;
      const T stays = below ? l : v[r][0];
      if (below) {
#pragma unroll
        for (int c = 1; c < W; ++c) v[r][c - 1] = v[r][c] - l * u[c];
      } else {
#pragma unroll
        for (int c = 1; c < W; ++c) v[r][c - 1] = v[r][c];
      }
      v[r][W - 1] = stays;
    }
  }
#pragma unroll 1
  for (int j = w; j < W; ++j)  // columns that A does not have
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const T first = v[r][0];
#pragma unroll
      for (int c = 1; c < W; ++c) v[r][c - 1] = v[r][c];
      v[r][W - 1] = first;
    }
#pragma unroll
  for (int r = 0; r < R; ++r)
#pragma unroll
    for (int c = 0; c < W; ++c)
      if (c < w && position[r] >= 0) A.data()[position[r] + c * A.ld()] = v[r][c];
}

/// Columns and rows a thread of a leaf of a given height: as many columns as the registers of the card hold.
struct LeafShape {
  int columns, rows;
};
template <class T>
LeafShape leaf_shape(const Queue<Cuda>& q, std::int64_t m) {
  const std::int64_t a_row_each = std::int64_t(std::min(q.multiprocessors(), most_leaf_blocks)) * leaf_threads;
  if (m <= a_row_each) return {32, 1};
  if (m <= 2 * a_row_each) return {sizeof(T) == 8 ? 16 : 32, 2};
  require(m <= 4 * a_row_each, "the matrix has more rows than a panel on this device can have");
  return {sizeof(T) == 8 ? 8 : 16, 4};
}

template <class T, int W, int R>
void launch_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  const auto blocks = unsigned((A.rows() + R * leaf_threads - 1) / (R * leaf_threads));
  const auto mail = q.mailbox(2 * most_leaf_blocks * (W + 1) * sizeof(Letter), W);
  auto letters = static_cast<Letter*>(mail.memory);
  unsigned stamp = mail.stamp;
  void* arguments[] = {&A, &pivots, &letters, &stamp};
  CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(factor_leaf<T, W, R>), dim3(blocks),
                                         dim3(leaf_threads), arguments, 0, q.stream()));
}

/// P A = L U of a leaf, of at most leaf_shape(m).columns columns.
template <class T>
void panel_lu_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  constexpr bool f64 = sizeof(T) == 8;
  switch (leaf_shape<T>(q, A.rows()).rows) {
    case 1:
      return launch_leaf<T, 32, 1>(q, A, pivots);
    case 2:
      return launch_leaf < T, f64 ? 16 : 32, 2 > (q, A, pivots);
    default:
      return launch_leaf < T, f64 ? 8 : 16, 4 > (q, A, pivots);
  }
}

}  // namespace lasolve
