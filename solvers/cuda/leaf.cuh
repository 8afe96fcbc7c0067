// A leaf of a panel: m × w, few columns, any height, factored by one kernel with a row in the registers of each thread.
//
// Rows stay with their threads; only their positions change, and each is written to its place at the end. For a column,
// each block finds its best candidate and sends it with its whole row to all others, which so know the same winner and
// its row. Up to 16 blocks are a cluster and write into each other's shared memory; more are a grid that exchanges
// letters through global memory.
//
// The loop over the columns is not unrolled, and so the column at hand must be a fixed register: the rows below the pivot
// are shifted by one register a step. Their multipliers wait in shared memory, rows that became pivots keep what they have.
#pragma once

#include <algorithm>
#include <climits>

#include "core/cuda/check.hpp"
#include "solvers/cuda/mailbox.cuh"
#include "solvers/lu.hpp"

namespace lasolve {

constexpr int leaf_threads = 512;
constexpr int leaf_warps = leaf_threads / 32;
constexpr int most_leaf_blocks = 256;
constexpr int most_cluster_blocks = 16;

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

/// The best of a warp, in all its lanes. Most often the upper halves of the keys decide.
template <class T>
__device__ LeafCandidate<T> best_of_warp(LeafCandidate<T> mine) {
  constexpr unsigned all = ~0u;
  constexpr int upper = sizeof(T) == 8 ? 32 : 0;
  const unsigned high = __reduce_max_sync(all, unsigned(mine.key >> upper));
  bool best = unsigned(mine.key >> upper) == high;
  unsigned ballot = __ballot_sync(all, best);
  if (ballot & (ballot - 1)) {  // several
    const unsigned low = __reduce_max_sync(all, best ? unsigned(mine.key) : 0u);
    best = best && unsigned(mine.key) == low;
    const unsigned place = __reduce_min_sync(all, best ? mine.place : UINT_MAX);
    ballot = __ballot_sync(all, best && mine.place == place);
  }
  const int lane = __ffs(int(ballot)) - 1;
  LeafCandidate<T> winner;
  winner.key = __shfl_sync(all, mine.key, lane);
  winner.place = __shfl_sync(all, mine.place, lane);
  return winner;
}

/// What the threads of a block share.
template <class T, int W, int R>
struct LeafShared {
  T multipliers[R][W][leaf_threads];
  alignas(16) T own[W];                           // this block's candidate row, or the pivot row of a grid
  alignas(16) T rows[2][most_cluster_blocks][W];  // those of a cluster, for odd and even columns
  unsigned places[2][most_cluster_blocks];
  LeafCandidate<T> found[leaf_warps];
};

/// Within a cluster: writes this block's candidate and its row into the shared memory of all blocks, a warp for each.
template <class T, int W, int R>
__device__ void post_in_cluster(LeafShared<T, W, R>& s, LeafCandidate<T> mine, int page) {
  static_assert(leaf_warps >= most_cluster_blocks);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();  // the candidate row is there
  if (warp >= gridDim.x) return;
  if (lane < W) *of_block(&s.rows[page][blockIdx.x][lane], warp) = s.own[lane];
  if (lane == 0) *of_block(&s.places[page][blockIdx.x], warp) = mine.place;
}

/// Within a cluster: the winner of all blocks, and its row. For all threads.
template <class T, int W, int R>
__device__ const T* elect_in_cluster(LeafShared<T, W, R>& s, LeafCandidate<T>& winner, int page) {
  cluster_barrier();
  const int lane = threadIdx.x % 32;
  LeafCandidate<T> candidate;
  if (lane < gridDim.x && s.places[page][lane] != UINT_MAX)
    candidate.key = bits_of(fabs(s.rows[page][lane][0])) + 1, candidate.place = s.places[page][lane];
  winner = best_of_warp(candidate);
  return s.rows[page][winner.block()];
}

/// In a grid: sends this block's candidate row to all. One warp.
template <class T, int W, int R>
__device__ void post_in_grid(LeafShared<T, W, R>& s, Letter* page, LeafCandidate<T> mine, unsigned stamp) {
  Letter* letters = page + blockIdx.x * (W + 1);
  const int lane = threadIdx.x % 32;
  if (lane < W) post(letters + lane, bits_of(s.own[lane]), stamp);
  if (lane == 0) post(letters + W, mine.place, stamp);
}

/// In a grid: as elect_in_cluster, but only the candidates are read by all, and then the row of the best.
template <class T, int W, int R>
__device__ const T* elect_in_grid(LeafShared<T, W, R>& s, const Letter* page, LeafCandidate<T>& winner,
                                  unsigned stamp) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  __syncthreads();  // own was posted and found was read
  LeafCandidate<T> candidate;
  if (threadIdx.x < gridDim.x) {
    const Letter* letters = page + threadIdx.x * (W + 1);
    const T value = from_bits<T>(collect(letters, stamp));
    const unsigned place = unsigned(collect(letters + W, stamp));
    if (place != UINT_MAX) candidate.key = bits_of(fabs(value)) + 1, candidate.place = place;
  }
  candidate = best_of_warp(candidate);
  if (lane == 0) s.found[warp] = candidate;
  __syncthreads();
  winner = best_of_warp(lane < leaf_warps ? s.found[lane] : LeafCandidate<T>());
  if (warp == 0 && lane < W) s.own[lane] = from_bits<T>(collect(page + winner.block() * (W + 1) + lane, stamp));
  __syncthreads();
  return s.own;
}

/// v ← (v[1:] − l·u[1:], 0).
template <int live, class T, int W>
__device__ void eliminate_and_shift(T (&v)[W], T l, const T* u) {
#pragma unroll
  for (int c = 1; c < live; ++c) v[c - 1] = v[c] - l * u[c];
  v[live - 1] = 0;
}

/// P A = L U. W ≥ columns of A; thread t of block b has rows (b·R + r)·512 + t. All blocks must run at the same time: one
/// block, one cluster of at most 16 (`cluster`), or a cooperative grid that has its mail in `letters`.
template <class T, int W, int R, bool cluster>
__global__ void __launch_bounds__(leaf_threads, 1)
    factor_leaf(MatrixView<T, Cuda> A, Pivots<Cuda> pivots, Letter* letters, unsigned stamp) {
  static_assert(W <= 32, "a lane a column");
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<LeafShared<T, W, R>*>(memory);
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
  if (cluster && gridDim.x > 1) cluster_barrier();  // a block must be there before others write into its memory
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
        for (int c = 0; c < W; ++c) s.own[c] = v[r][c];
      }
    LeafCandidate<T> winner = mine;
    const T* u = s.own;
    if (gridDim.x == 1) {
      __syncthreads();
    } else if (cluster) {
      post_in_cluster(s, mine, j % 2);
      u = elect_in_cluster(s, winner, j % 2);
    } else {
      Letter* page = letters + (j % 2) * most_leaf_blocks * (W + 1);
      const bool nobody = mine.place == UINT_MAX && warp == 0;
      if (__any_sync(~0u, owner) || nobody) {
        __syncwarp();
        post_in_grid(s, page, mine, stamp + j);
      }
      u = elect_in_grid(s, page, winner, stamp + j);
    }

    const T pivot = u[0];
    const int p = winner.position();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      pivots.p.data()[j] = pivots.start + p;
      if (pivot == T(0) && *pivots.zero.data() < 0) *pivots.zero.data() = pivots.start + j;
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      if (position[r] == p)
        position[r] = j;
      else if (position[r] == j)
        position[r] = p;
      if (position[r] > j) {
        const T l = pivot == T(0) ? v[r][0] : v[r][0] / pivot;
        s.multipliers[r][j][threadIdx.x] = l;
        if (W >= 16 && j >= W / 2)
          eliminate_and_shift<W / 2 + 1>(v[r], l, u);
        else
          eliminate_and_shift<W>(v[r], l, u);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < R; ++r) {
    if (position[r] < 0) continue;
    T* row = A.data() + position[r];
    const int multipliers = min(w, position[r]);
    for (int c = 0; c < multipliers; ++c) row[c * A.ld()] = s.multipliers[r][c][threadIdx.x];
#pragma unroll
    for (int c = 0; c < W; ++c)
      if (position[r] + c < w) row[(position[r] + c) * A.ld()] = v[r][c];
  }
}

/// The columns and the rows a thread of a leaf of a given height, and whether its blocks are a cluster.
struct LeafShape {
  int columns, rows;
  bool cluster;
};
template <class T>
LeafShape leaf_shape(const Queue<Cuda>& q, std::int64_t m) {
  constexpr bool f64 = sizeof(T) == 8;
  const std::int64_t in_cluster = (q.has_clusters() ? most_cluster_blocks : 1) * leaf_threads;
  const std::int64_t in_grid = std::int64_t(std::min(q.multiprocessors(), most_leaf_blocks)) * leaf_threads;
  if (m <= in_cluster) return {32, 1, true};
  if (!f64 && m <= 2 * in_cluster) return {32, 2, true};  // in fp64 it would have 16 columns, and a grid is faster
  if (m <= in_grid) return {32, 1, false};
  if (m <= 2 * in_grid) return {f64 ? 16 : 32, 2, false};
  require(m <= 4 * in_grid, "the matrix has more rows than a panel on this device can have");
  return {f64 ? 8 : 16, 4, false};
}

template <class T, int W, int R, bool cluster>
void launch_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  auto blocks = unsigned((A.rows() + R * leaf_threads - 1) / (R * leaf_threads));
  if (cluster)
    while (blocks & (blocks - 1)) ++blocks;  // a power of two
  constexpr auto kernel = factor_leaf<T, W, R, cluster>;
  constexpr std::size_t shared = sizeof(LeafShared<T, W, R>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  if (cluster) CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  const auto mail = q.mailbox(2 * most_leaf_blocks * (W + 1) * sizeof(Letter), W);
  cudaLaunchAttribute together{};
  if (cluster) {
    together.id = cudaLaunchAttributeClusterDimension;
    together.val.clusterDim = {blocks, 1, 1};
  } else {
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(leaf_threads);
  config.dynamicSmemBytes = shared;
  config.stream = q.stream();
  config.attrs = &together;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, A, pivots, static_cast<Letter*>(mail.memory), mail.stamp));
}

/// P A = L U of a leaf, of at most leaf_shape(m).columns columns.
template <class T>
void panel_lu_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  constexpr bool f64 = sizeof(T) == 8;
  constexpr int wide = f64 ? 16 : 32, narrow = wide / 2;  // columns with two rows a thread, and with four
  const LeafShape shape = leaf_shape<T>(q, A.rows());
  if constexpr (!f64)
    if (shape.cluster && shape.rows == 2) return launch_leaf<T, wide, 2, true>(q, A, pivots);
  if (shape.cluster) return launch_leaf<T, 32, 1, true>(q, A, pivots);
  if (shape.rows == 1) return launch_leaf<T, 32, 1, false>(q, A, pivots);
  if (shape.rows == 2) return launch_leaf<T, wide, 2, false>(q, A, pivots);
  launch_leaf<T, narrow, 4, false>(q, A, pivots);
}

}  // namespace lasolve
