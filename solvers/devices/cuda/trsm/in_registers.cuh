// Triangular solves of small triangles with many right-hand sides. Each warp solves for 16 right-hand sides, which it
// holds in registers from the first unknown to the last.
//
// Each block inverts the diagonal tiles, of order 8, for itself. So only products are left, all of them on fp64 tensor
// cores. fp32 goes the same way: tensor cores are as fast as plain fp32, and the precision comes for nothing. A tile
// too ill-conditioned to be inverted is solved by substitution.
//
// Registers: x[q][m][s] of lane 4g + t is unknown 8q + 4s + t of right-hand side 8m + g. That is the layout of an
// accumulator of mma.m16n8k8. With the unknowns in another order it is also that of its first operand. So what was
// computed is used without moving it.
//
// Tiles are in the order in which the lanes take them as the second operand: lane l has elements 2l and 2l + 1.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "solvers/devices/cuda/trsm/forward_substitution.cuh"
#include "solvers/kernel_limits.hpp"

namespace lasolve {

constexpr int in_registers_threads = 128;  // so that a block fits where one of a product has ended
constexpr int rhs_of_a_warp = 16;
constexpr int tile_order = 8;

/// Tile (q, p) of the lower triangle of tiles, and its element (a, b).
__device__ constexpr int tile_start(int q, int p) { return (q * (q + 1) / 2 + p) * tile_order * tile_order; }
__device__ constexpr int place_in_tile(int a, int b) { return ((2 * (a % 4) + a / 4) * 4 + b % 4) * 2 + b / 4; }

/// Unknowns of one tile, as above: [m][s].
using UnknownTile = double[2][2];

/// c += T a, where T is a tile.
template <class T>
__device__ void add_product(UnknownTile& c, const T* tile, const UnknownTile& a) {
  struct alignas(2 * sizeof(T)) Pair {
    T of[2];
  };
  const Pair pair = reinterpret_cast<const Pair*>(tile)[threadIdx.x % 32];
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0][0]), "+d"(c[0][1]), "+d"(c[1][0]), "+d"(c[1][1])
      : "d"(a[0][0]), "d"(a[1][0]), "d"(a[0][1]), "d"(a[1][1]), "d"(double(pair.of[0])), "d"(double(pair.of[1])));
#else
  for (int m = 0; m < 2; ++m)
    for (int s = 0; s < 2; ++s) multiply_8x8x4(c[m], a[m][s], double(pair.of[s]));
#endif
}

/// y ← inv(T) y by substitution.
template <class T>
__device__ void substitute(UnknownTile& y, const T* tile, bool unit) {
  const int t = threadIdx.x % 4;
#pragma unroll
  for (int s = 0; s < 2; ++s)
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int m = 0; m < 2; ++m) {
        double unknown = __shfl_sync(~0u, y[m][s], k, 4);
        if (!unit) unknown /= double(tile[place_in_tile(4 * s + k, 4 * s + k)]);
        if (t == k) y[m][s] = unknown;
        if (t > k) y[m][s] -= double(tile[place_in_tile(4 * s + t, 4 * s + k)]) * unknown;
        if (s == 0) y[m][1] -= double(tile[place_in_tile(4 + t, k)]) * unknown;
      }
}

/// x ← inv(T) x with an inverted diagonal tile; minus ← −x.
template <class T>
__device__ void solve_tile(UnknownTile& x, UnknownTile& minus, const T* tile) {
#pragma unroll
  for (int m = 0; m < 2; ++m) x[m][0] = -x[m][0], x[m][1] = -x[m][1], minus[m][0] = minus[m][1] = 0;
  add_product(minus, tile, x);
#pragma unroll
  for (int m = 0; m < 2; ++m) x[m][0] = -minus[m][0], x[m][1] = -minus[m][1];
}

/// Forward substitution with Q tiles, where all diagonal ones are inverted. The next tile is solved while enough
/// products are left to hide its latency.
template <class T, int Q>
__device__ void solve_tiles(UnknownTile (&x)[Q], const T* tiles) {
  constexpr int before = 3;  // products that hide the latency of the first
  UnknownTile minus[2];
  solve_tile(x[0], minus[0], tiles);
#pragma unroll
  for (int q = 0; q + 1 < Q; ++q) {
#pragma unroll
    for (int r = q + 1; r < Q; ++r) {
      add_product(x[r], tiles + tile_start(r, q), minus[q % 2]);
      if (r == q + before || (r == Q - 1 && r < q + before))
        solve_tile(x[q + 1], minus[(q + 1) % 2], tiles + tile_start(q + 1, q + 1));
    }
  }
}

/// The same where some are not inverted. Seldom needed, so its code is short and apart: each kernel of a factorization
/// fetches code anew.
template <class T>
__device__ __noinline__ void solve_tiles_of_any(UnknownTile* x, int Q, bool unit, const bool* inverted,
                                                const T* tiles) {
#pragma unroll 1
  for (int q = 0; q < Q; ++q) {
    UnknownTile minus;
    if (inverted[q])
      solve_tile(x[q], minus, tiles + tile_start(q, q));
    else
      substitute(x[q], tiles + tile_start(q, q), unit);
#pragma unroll
    for (int i = 0; i < 4; ++i) minus[i / 2][i % 2] = -x[q][i / 2][i % 2];
#pragma unroll 1
    for (int r = q + 1; r < Q; ++r) add_product(x[r], tiles + tile_start(r, q), minus);
  }
}

/// With the fast loop where all diagonal tiles are inverted.
template <class T, int Q>
__device__ void solve_tiles(UnknownTile (&x)[Q], bool unit, bool all_inverted, const bool* inverted, const T* tiles) {
  if (all_inverted) return solve_tiles(x, tiles);
  UnknownTile y[Q];
#pragma unroll
  for (int i = 0; i < 4 * Q; ++i) y[i / 4][i / 2 % 2][i % 2] = x[i / 4][i / 2 % 2][i % 2];
  solve_tiles_of_any(y, Q, unit, inverted, tiles);
#pragma unroll
  for (int i = 0; i < 4 * Q; ++i) x[i / 4][i / 2 % 2][i % 2] = y[i / 4][i / 2 % 2][i % 2];
}

/// Begins to fetch a triangle of order ≤ 8 Q as tiles. Rows of tiles are dealt to warps to and fro, so that each has as
/// many short ones as long ones.
template <class T, int Q>
__device__ void fetch_tiles(const ForwardTriangle<T>& tri, T* tiles) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int a = lane / 4 % 2 * 4 + lane / 8, b = lane % 4;  // lane l fetches elements 2l and 2l + 1 of a tile
  constexpr int warps = in_registers_threads / 32;
#pragma unroll 1
  for (int turn = 0; turn * warps < Q; ++turn) {
    const int q = warps * turn + (turn % 2 == 0 ? warp : warps - 1 - warp), i = tile_order * q + a;
    if (q >= Q) break;
    T* to = tiles + tile_start(q, 0) + 2 * lane;
    const T* from = tri.at(i, b);
    const std::int64_t half = 4 * tri.col_stride;
#pragma unroll 4
    for (int p = 0; p < q; ++p, from += 2 * half, to += tile_order * tile_order) {
      if (i < tri.order) {
        __pipeline_memcpy_async(to, from, sizeof(T));
        __pipeline_memcpy_async(to + 1, from + half, sizeof(T));
      } else {
        to[0] = to[1] = 0;
      }
    }
    fetch_element(to, from, tri, i, tile_order * q + b);
    fetch_element(to + 1, from + half, tri, i, tile_order * q + b + 4);
  }
  __pipeline_commit();
}

/// Inverts the diagonal tiles that allow it. False where this thread's tile does not.
template <class T, int Q>
__device__ bool invert_diagonal(T* tiles, bool unit, bool* inverted) {
  const int q = threadIdx.x / tile_order;
  if (q >= Q) return true;
  T* tile = tiles + tile_start(q, q);
  const auto element = [=](int i, int k) -> T& { return tile[place_in_tile(i, k)]; };
  const bool done = invert_block<tile_order, T>(element, unit, lanes_of_group<tile_order>());
  if (threadIdx.x % tile_order == 0) inverted[q] = done;
  return done;
}

/// Calls act(unknown of x, its place in memory, whether it is there) for all that this lane has of right-hand sides c,
/// ….
template <class T, int Q, class Act>
__device__ void with_unknowns(UnknownTile (&x)[Q], const RightHandSides<T>& rhs, std::int64_t c, int order, Act act) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  std::int64_t step = 4 * rhs.stride;
  forget(step);
#pragma unroll
  for (int m = 0; m < 2; ++m) {
    T* at = rhs.at(t, c + g + 8 * m);
    const int end = c + g + 8 * m < rhs.count ? order : 0;
#pragma unroll
    for (int q = 0; q < Q; ++q)
#pragma unroll
      for (int s = 0; s < 2; ++s, at += step) act(x[q][m][s], at, 8 * q + 4 * s + t < end);
  }
}

/// Each warp solves for 16 right-hand sides at a time.
template <class T, int Q>
__global__ void __launch_bounds__(in_registers_threads, 2)
    solve_rhs_in_registers(ForwardTriangle<T> tri, RightHandSides<T> rhs) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ bool inverted[Q];
  T* tiles = reinterpret_cast<T*>(memory);
  constexpr int rhs_a_block = in_registers_threads / 32 * rhs_of_a_warp;
  const int order = int(tri.order);
  std::int64_t c = std::int64_t(blockIdx.x) * rhs_a_block + threadIdx.x / 32 * rhs_of_a_warp;
  UnknownTile x[Q];
  bool all_inverted = false;
  wait_for_prerequisites();
  fetch_tiles<T, Q>(tri, tiles);
  for (bool first = true; first || c < rhs.count; first = false) {
    with_unknowns<T, Q>(x, rhs, c, order,
                        [](double& value, const T* at, bool there) { value = there ? double(*at) : 0; });
    if (first) {
      __pipeline_wait_prior(0);
      __syncthreads();
      all_inverted = __syncthreads_and(invert_diagonal<T, Q>(tiles, tri.unit, inverted));
    }
    solve_tiles<T, Q>(x, tri.unit, all_inverted, inverted, tiles);
    with_unknowns<T, Q>(x, rhs, c, order, [](double value, T* at, bool there) {
      if (there) *at = T(value);
    });
    c += std::int64_t(gridDim.x) * rhs_a_block;
  }
}

template <class T, int Q>
void launch_in_registers(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr auto kernel = solve_rhs_in_registers<T, Q>;
  constexpr int shared = Q * (Q + 1) / 2 * tile_order * tile_order * int(sizeof(T));
  constexpr int rhs_a_block = in_registers_threads / 32 * rhs_of_a_warp;
  const std::int64_t blocks = ceil_div(problem.rhs.count, rhs_a_block);
  launch(q, kernel, Blocks::dependent, dim3(unsigned(std::min(2 * std::int64_t(q.multiprocessors()), blocks))),
         in_registers_threads, shared, problem.triangle, problem.rhs);
}

/// For a triangle of order ≤ most_in_registers_order.
template <class T>
void solve_in_registers(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  static_assert(most_in_registers_order == 16 * tile_order);
  const std::int64_t n = problem.triangle.order;
  (n <= 32 ? launch_in_registers<T, 4> : n <= 64 ? launch_in_registers<T, 8> : launch_in_registers<T, 16>)(q, problem);
}

}  // namespace lasolve
