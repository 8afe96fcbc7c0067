// Few right-hand sides: the triangle is read once, at memory speed.
//
// Unknowns are solved in blocks of 128, each by one thread block: it subtracts T(i, j) x(j) as each x(j) arrives, solves
// with its diagonal block and sends x(i) to all as letters. The next tile of T is already on its way while it waits. All
// blocks run at the same time, and each takes its rows in increasing order, so the first unfinished row never waits.
// Sums are in an order that does not depend on time.
//
// The chain from x(i) to x(i + 1) is what small triangles take: a letter, one product, and the diagonal block, where
// blocks T(s, s) of order 16 are inverted beforehand and what is below them is multiplied by the inverse, so that
// [x(s); what it subtracts] is one product with what is left of b(s).
// Source: the stamped letters are NCCL's; waiting for single unknowns is as in Liu, Li, Hogg, Duff & Vinter, "A
// synchronization-free algorithm for parallel sparse triangular solves", 2016.
#pragma once

#include "solvers/cuda/forward.cuh"
#include "solvers/cuda/mailbox.cuh"

namespace lasolve {

constexpr int flow_order = 128;  // unknowns of a block
constexpr int flow_threads = 512;
constexpr int flow_parts = 8;  // threads that share a sum
constexpr int flow_rows = flow_order * flow_parts / flow_threads, flow_columns = flow_order / flow_parts;  // a thread's
constexpr int flow_inverted = flow_order / inverted_order;

/// A lower triangle of order 128 without what is above its diagonal blocks of order 16: each of these block columns is
/// stored by columns, which have an odd length.
constexpr int flow_place(int i, int k) {
  const int s = k / inverted_order, above = s * inverted_order;
  return inverted_order * ((flow_order + 1) * s - inverted_order * s * (s - 1) / 2) +
         (k - above) * (flow_order + 1 - above) + i - above;
}
constexpr int flow_triangle_size = flow_place(flow_order - 1, flow_order - 1) + 1;

template <class T, int R>
struct FlowShared {
  T triangle[(flow_triangle_size + 3) / 4 * 4];
  T partial[flow_parts][R][flow_order];
  T x[2][R][flow_order];  // of odd and even columns
  T rest[R][flow_order];  // what is left of b, when its block is solved
  bool inverted[flow_inverted];
};

/// The diagonal block: fetched, its blocks of order 16 inverted where they allow it, and what is below them multiplied.
template <class T, int R>
__device__ void prepare_diagonal(const ForwardTriangle<T>& tri, std::int64_t start, bool rows_are_contiguous,
                                 FlowShared<T, R>& s) {
  const int tid = threadIdx.x;
  T* t = s.triangle;
  __syncthreads();  // the last block is done
#pragma unroll 4
  for (int e = tid; e < flow_order * flow_order; e += flow_threads) {
    const int fast = e % flow_order, slow = e / flow_order;
    const int i = rows_are_contiguous ? fast : slow, k = rows_are_contiguous ? slow : fast;
    if (i >= k / inverted_order * inverted_order) fetch_element(t + flow_place(i, k), tri, start + i, start + k);
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (tid < flow_order) {
    const int first = tid / inverted_order * inverted_order;
    const auto element = [&](int i, int k) -> T& { return t[flow_place(first + i, first + k)]; };
    const bool done = invert_block<T>(element, tri.unit, 0xffffu << tid / 16 % 2 * 16);
    if (tid % inverted_order == 0) s.inverted[tid / inverted_order] = done;
  }
  __syncthreads();
  for (int e = tid; e < flow_inverted * flow_order; e += flow_threads) {
    const int i = e % flow_order, block = e / flow_order, first = block * inverted_order;
    if (i < first + inverted_order || !s.inverted[block]) continue;
    T row[inverted_order];
#pragma unroll
    for (int k = 0; k < inverted_order; ++k) row[k] = t[flow_place(i, first + k)];
#pragma unroll 1
    for (int k = 0; k < inverted_order; ++k) {
      T sum = 0;
#pragma unroll
      for (int l = 0; l < inverted_order; ++l) sum += row[l] * t[flow_place(first + l, first + k)];
      t[flow_place(i, first + k)] = sum;
    }
  }
  __syncthreads();
}

/// One unknown a lane, 16 lanes.
template <class T>
__device__ T substitute_block(const T* t, int first, bool unit, T mine, unsigned lanes) {
  const int i = threadIdx.x % inverted_order;
  for (int k = 0; k < inverted_order; ++k) {
    T unknown = __shfl_sync(lanes, mine, k, inverted_order);
    if (!unit) unknown /= t[flow_place(first + k, first + k)];
    if (i == k) mine = unknown;
    if (i > k) mine -= t[flow_place(first + i, first + k)] * unknown;
  }
  return mine;
}

/// Solves with the diagonal block. Thread 128c + i has unknown i of sides c, c + 4, …: mine[] is b on entry and x on exit.
/// done(u) is called as soon as mine[u] is there.
template <class T, int R, class Done>
__device__ void solve_diagonal(FlowShared<T, R>& shared, bool unit, T (&mine)[(R + 3) / 4], Done done) {
  const int i = threadIdx.x % flow_order, c = threadIdx.x / flow_order;
  const T* t = shared.triangle;
#pragma unroll 1
  for (int s = 0; s < flow_inverted; ++s) {
    const int first = s * inverted_order;
    const bool here = i / inverted_order == s, below = i / inverted_order > s;
    if (!shared.inverted[s] && here)
#pragma unroll
      for (int u = 0; u < (R + 3) / 4; ++u)
        mine[u] = substitute_block(t, first, unit, mine[u], 0xffffu << threadIdx.x / 16 % 2 * 16);
    if (here)
#pragma unroll
      for (int u = 0; u < (R + 3) / 4; ++u)
        if (c + 4 * u < R) shared.rest[c + 4 * u][i] = mine[u];
    T row[inverted_order];
    if (here || below)
#pragma unroll
      for (int k = 0; k < inverted_order; ++k)
        row[k] = t[flow_place(first, first) + k * (flow_order + 1 - first) + i - first];
    __syncthreads();
    if (here || below)
#pragma unroll
      for (int u = 0; u < (R + 3) / 4; ++u) {
        if (c + 4 * u >= R) continue;
        T sum[4] = {};
#pragma unroll
        for (int k = 0; k < inverted_order; ++k) sum[k % 4] += row[k] * shared.rest[c + 4 * u][first + k];
        const T product = (sum[0] + sum[1]) + (sum[2] + sum[3]);
        if (below)
          mine[u] -= product;
        else if (shared.inverted[s])
          mine[u] = product;
        if (here) done(u);
      }
  }
}

/// B ← inv(T) B. Block (x, y) has the rows of blocks x, x + gridDim.x, … for the R sides from y·R.
template <class T, int R, bool rows_are_contiguous>
__global__ void __launch_bounds__(flow_threads, 1)
    solve_dataflow(ForwardTriangle<T> tri, ForwardSides<T> sides, Letter* letters, unsigned stamp) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<FlowShared<T, R>*>(memory);
  const int tid = threadIdx.x, blocks = int((tri.order + flow_order - 1) / flow_order);
  constexpr int apart = flow_order / flow_rows;  // rows of a thread
  const int row = rows_are_contiguous ? tid % apart : tid / flow_parts;
  const int part = rows_are_contiguous ? tid / apart : tid % flow_parts;
  const std::int64_t first_side = std::int64_t(blockIdx.y) * R;
  letters += std::int64_t(blockIdx.y) * blocks * flow_order * R;
  for (int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const std::int64_t start = std::int64_t(block) * flow_order;
    prepare_diagonal(tri, start, rows_are_contiguous, s);
    T sum[flow_rows][R] = {};
    const T* from[flow_rows];
#pragma unroll
    for (int r = 0; r < flow_rows; ++r) from[r] = tri.at(min(start + row + r * apart, tri.order - 1), part);
#pragma unroll 1
    for (int j = 0; j < block; ++j) {
      T tile[flow_rows][flow_columns];
      std::int64_t step = flow_parts * tri.col_stride;
      forget(step);
#pragma unroll
      for (int k = 0; k < flow_columns; ++k)
#pragma unroll
        for (int r = 0; r < flow_rows; ++r) {
          tile[r][k] = *from[r];
          from[r] += step;
        }
      auto& x = s.x[j % 2];
      for (int e = tid; e < flow_order * R; e += flow_threads)
        x[e % R][e / R] = from_bits<T>(collect(letters + std::int64_t(j) * flow_order * R + e, stamp));
      __syncthreads();
#pragma unroll
      for (int k = 0; k < flow_columns; ++k)
#pragma unroll
        for (int c = 0; c < R; ++c) {
          const T unknown = x[c][part + k * flow_parts];
#pragma unroll
          for (int r = 0; r < flow_rows; ++r) sum[r][c] += tile[r][k] * unknown;
        }
    }
#pragma unroll
    for (int r = 0; r < flow_rows; ++r)
#pragma unroll
      for (int c = 0; c < R; ++c) s.partial[part][c][row + r * apart] = sum[r][c];
    __syncthreads();
    const int i = tid % flow_order;
    T mine[(R + 3) / 4];
#pragma unroll
    for (int u = 0; u < (R + 3) / 4; ++u) {
      const int c = tid / flow_order + 4 * u;
      mine[u] = 0;
      if (c < R) {
        T total = 0;
#pragma unroll
        for (int p = 0; p < flow_parts; ++p) total += s.partial[p][c][i];
        if (start + i < tri.order && first_side + c < sides.count)
          mine[u] = *sides.at(start + i, first_side + c) - total;
      }
    }
    solve_diagonal<T, R>(s, tri.unit, mine, [&](int u) {
      const int c = tid / flow_order + 4 * u;
      post(letters + (start + i) * R + c, bits_of(mine[u]), stamp);
      if (start + i < tri.order && first_side + c < sides.count) *sides.at(start + i, first_side + c) = mine[u];
    });
  }
}

template <class T, int R, bool rows_are_contiguous>
void launch_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr auto kernel = solve_dataflow<T, R, rows_are_contiguous>;
  constexpr std::size_t shared = sizeof(FlowShared<T, R>);
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(shared)));
  const std::int64_t rows = (problem.triangle.order + flow_order - 1) / flow_order;
  const std::int64_t groups = (problem.sides.count + R - 1) / R;
  const std::int64_t at_once = std::min<std::int64_t>(groups, q.multiprocessors());
  for (std::int64_t g = 0; g < groups; g += at_once) {
    ForwardSides<T> sides = problem.sides;
    sides.data += g * R * sides.side_stride;
    sides.count -= g * R;
    const std::int64_t now = std::min(at_once, groups - g);
    const auto mail = q.mailbox(std::size_t(now * rows * flow_order * R) * sizeof(Letter), 1);
    cudaLaunchAttribute together{};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(std::min<std::int64_t>(rows, q.multiprocessors() / now)), unsigned(now));
    config.blockDim = dim3(flow_threads);
    config.dynamicSmemBytes = shared;
    config.stream = q.stream();
    config.attrs = &together;
    config.numAttrs = 1;
    CUDA_CHECK(
        cudaLaunchKernelEx(&config, kernel, problem.triangle, sides, static_cast<Letter*>(mail.memory), mail.stamp));
  }
}

template <class T>
void solve_by_dataflow(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  const bool rows = problem.triangle.row_stride == 1 || problem.triangle.row_stride == -1;
  const auto n = problem.sides.count;
  const auto launch = n == 1   ? rows ? launch_dataflow<T, 1, true> : launch_dataflow<T, 1, false>
                        : n <= 4 ? rows ? launch_dataflow<T, 4, true> : launch_dataflow<T, 4, false>
                        : rows ? launch_dataflow<T, 8, true>
                               : launch_dataflow<T, 8, false>;
  launch(q, problem);
}

}  // namespace lasolve
