// Small triangles, many right-hand sides: one kernel, in which every warp solves for a strip of right-hand sides that it
// holds in its registers from the first to the last unknown.
//
// Each block inverts the diagonal blocks of order 16 for itself, so that nothing but products is left: fp64 on tensor
// cores. A block too ill-conditioned to be inverted is solved by substitution.
//
// Registers   x[q][m][s] of lane 4g + t is unknown 8q + 4s + t of right-hand side 8m + g. That is both the layout of an
//             accumulator of mma.m16n8k8 and, with the unknowns in another order, that of its first operand, so that
//             what was computed is used without moving it.
#pragma once

#include "solvers/cuda/forward.cuh"

namespace lasolve {

constexpr int strip_threads = 128;

#if __CUDA_ARCH__ >= 800
template <class T>
inline constexpr bool on_tensor_cores = sizeof(T) == 8;
#else
template <class T>
inline constexpr bool on_tensor_cores = false;
#endif

/// The lower triangle of tiles of 8 × 8 in shared memory.
template <class T>
__device__ constexpr int tile_start(int q, int p) {
  return (q * (q + 1) / 2 + p) * 64;
}
/// Where a tile has its element (a, b). On tensor cores lane l takes elements 2l and 2l + 1.
template <class T>
__device__ constexpr int place_in_tile(int a, int b) {
  return on_tensor_cores<T> ? ((2 * (a % 4) + a / 4) * 4 + b % 4) * 2 + b / 4 : a * 8 + b;
}

#if __CUDA_ARCH__ >= 800
/// c += a bᵀ, where b is a tile.
__device__ inline void multiply_tile(double (&c)[1][2], const double (&a)[1][2], double2 b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0][0]), "+d"(c[0][1])
      : "d"(a[0][0]), "d"(b.x));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0][0]), "+d"(c[0][1])
      : "d"(a[0][1]), "d"(b.y));
}
__device__ inline void multiply_tile(double (&c)[2][2], const double (&a)[2][2], double2 b) {
#if __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+d"(c[0][0]), "+d"(c[0][1]), "+d"(c[1][0]), "+d"(c[1][1])
      : "d"(a[0][0]), "d"(a[1][0]), "d"(a[0][1]), "d"(a[1][1]), "d"(b.x), "d"(b.y));
#else
  for (int m = 0; m < 2; ++m) {
    double one[1][2] = {{c[m][0], c[m][1]}};
    multiply_tile(one, {{a[m][0], a[m][1]}}, b);
    c[m][0] = one[0][0], c[m][1] = one[0][1];
  }
#endif
}
#endif

template <class T>
struct alignas(16) FourOf {
  T of[4];
};

/// c[q] += Σ_p T(first + q, column + p) y[p], p < 2, in tiles; those above the diagonal are zero.
template <class T, int N, int M>
__device__ void add_products(T (&c)[N][M][2], int offset, int first, int column, const T (&y)[2][M][2],
                             const T* tiles) {
  const int lane = threadIdx.x % 32, t = lane % 4;
  if constexpr (on_tensor_cores<T>) {
#if __CUDA_ARCH__ >= 800
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
      for (int q = 0; q < N; ++q)
        if (q >= offset && first + q >= column + p)
          multiply_tile(c[q], y[p],
                        reinterpret_cast<const double2*>(tiles + tile_start<T>(first + q, column + p))[lane]);
#endif
  } else {
    T w[4][M];
#pragma unroll
    for (int e = 0; e < 4; ++e)
#pragma unroll
      for (int m = 0; m < M; ++m) w[e][m] = y[e / 2][m][e % 2];
#pragma unroll 1
    for (int e = 0; e < 4; ++e) {  // unknowns 4e, …, 4e + 3; not unrolled, to stay in the instruction cache
      T v[4][M];
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int m = 0; m < M; ++m) v[k][m] = __shfl_sync(~0u, w[0][m], k, 4);
#pragma unroll
      for (int q = 0; q < N; ++q)
        if (q >= offset && first + q >= column + e / 2)
#pragma unroll
          for (int s = 0; s < 2; ++s) {
            const T* row = tiles + tile_start<T>(first + q, column + e / 2) + place_in_tile<T>(4 * s + t, e % 2 * 4);
            const auto four = *reinterpret_cast<const FourOf<T>*>(row);
#pragma unroll
            for (int k = 0; k < 4; ++k)
#pragma unroll
              for (int m = 0; m < M; ++m) c[q][m][s] += four.of[k] * v[k][m];
          }
#pragma unroll
      for (int m = 0; m < M; ++m) w[0][m] = w[1][m], w[1][m] = w[2][m], w[2][m] = w[3][m];
    }
  }
}

/// y ← inv(T) y by substitution, for a diagonal block of order 16 at tile (column, column).
template <class T, int M>
__device__ void substitute(T (&y)[2][M][2], int column, bool unit, const T* tiles) {
  const int t = threadIdx.x % 4;
  const auto element = [&](int i, int k) {
    return tiles[tile_start<T>(column + i / 8, column + k / 8) + place_in_tile<T>(i % 8, k % 8)];
  };
  T w[4][M];  // unknowns 4(e + j) + t at step e: turned by one a step, so that those at hand are always w[0]
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int m = 0; m < M; ++m) w[j][m] = y[j / 2][m][j % 2];
#pragma unroll 1
  for (int e = 0; e < 4; ++e) {
#pragma unroll 1
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int m = 0; m < M; ++m) {
        T unknown = __shfl_sync(~0u, w[0][m], k, 4);
        if (!unit) unknown /= element(4 * e + k, 4 * e + k);
        w[0][m] = t == k ? unknown : w[0][m];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          if (e + j < 4 && 4 * j + t > k) w[j][m] -= element(4 * (e + j) + t, 4 * e + k) * unknown;
      }
#pragma unroll
    for (int m = 0; m < M; ++m) {
      const T turned = w[0][m];
      w[0][m] = w[1][m], w[1][m] = w[2][m], w[2][m] = w[3][m], w[3][m] = turned;
    }
  }
#pragma unroll
  for (int j = 0; j < 4; ++j)
#pragma unroll
    for (int m = 0; m < M; ++m) y[j / 2][m][j % 2] = w[j][m];
}

/// Forward substitution in blocks of 16 unknowns, H of them.
template <class T, int H, int M>
__device__ void solve_strip(T (&x)[2 * H][M][2], bool unit, const bool* inverted, const T* tiles) {
#pragma unroll
  for (int i = 0; i < H; ++i) {
    T y[2][M][2] = {}, minus[2][M][2];
    auto& own = reinterpret_cast<T(&)[2][M][2]>(x[2 * i]);
    if (inverted[i])
      add_products(y, 0, 2 * i, 2 * i, own, tiles);
    else {
#pragma unroll
      for (int p = 0; p < 2; ++p)
#pragma unroll
        for (int m = 0; m < M; ++m) y[p][m][0] = own[p][m][0], y[p][m][1] = own[p][m][1];
      substitute(y, 2 * i, unit, tiles);
    }
#pragma unroll
    for (int p = 0; p < 2; ++p)
#pragma unroll
      for (int m = 0; m < M; ++m)
#pragma unroll
        for (int s = 0; s < 2; ++s) own[p][m][s] = y[p][m][s], minus[p][m][s] = -y[p][m][s];
    add_products(x, 2 * i + 2, 0, 2 * i, minus, tiles);
  }
}

/// Fetches a triangle of order ≤ 16 H as tiles, and inverts its diagonal blocks where they allow it.
template <class T, int H>
__device__ void fetch_tiles(const ForwardTriangle<T>& tri, T* tiles) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int a = lane / 4 % 2 * 4 + lane / 8, b = lane % 4;  // that lane 4n + t has elements n, t of a tile as stored
#pragma unroll 4
  for (int e = warp; e < 4 * H * H; e += strip_threads / 32) {
    const int q = e / (2 * H), p = e % (2 * H);
    if (p > q) continue;
    T* tile = tiles + tile_start<T>(q, p);
    fetch_element(tile + place_in_tile<T>(a, b), tri, 8 * q + a, 8 * p + b);
    fetch_element(tile + place_in_tile<T>(a, b + 4), tri, 8 * q + a, 8 * p + b + 4);
  }
  __pipeline_commit();
}
template <class T, int H>
__device__ void invert_diagonal(T* tiles, bool unit, bool* inverted) {
  const int block = threadIdx.x / inverted_order;
  if (block >= H) return;
  const auto element = [&](int i, int k) -> T& {
    return tiles[tile_start<T>(2 * block + i / 8, 2 * block + k / 8) + place_in_tile<T>(i % 8, k % 8)];
  };
  const bool done = invert_block<T>(element, unit, 0xffffu << threadIdx.x / 16 % 2 * 16);
  if (threadIdx.x % inverted_order == 0) inverted[block] = done;
}

/// Calls act(unknown of x, its place in memory) for all that lane 4g + t has of sides c + g, c + g + 8, ….
template <class T, int H, int M, class Act>
__device__ void with_strip(T (&x)[2 * H][M][2], const ForwardSides<T>& sides, std::int64_t c, int order, Act act) {
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  std::int64_t step = 4 * sides.stride;
  forget(step);
#pragma unroll
  for (int m = 0; m < M; ++m) {
    T* at = sides.at(t, c + g + 8 * m);
    const int end = c + g + 8 * m < sides.count ? order : 0;
#pragma unroll
    for (int q = 0; q < 2 * H; ++q)
#pragma unroll
      for (int s = 0; s < 2; ++s, at += step) act(x[q][m][s], at, 8 * q + 4 * s + t < end);
  }
}

template <class T, int H, int M>
__global__ void __launch_bounds__(strip_threads, 2) solve_strips(ForwardTriangle<T> tri, ForwardSides<T> sides) {
  extern __shared__ __align__(16) unsigned char memory[];
  __shared__ bool inverted[H];
  T* tiles = reinterpret_cast<T*>(memory);
  constexpr int sides_a_warp = 8 * M, sides_a_block = strip_threads / 32 * sides_a_warp;
  const int order = int(tri.order);
  std::int64_t c = std::int64_t(blockIdx.x) * sides_a_block + threadIdx.x / 32 * sides_a_warp;
  T x[2 * H][M][2];
  const auto load = [](T& value, const T* at, bool there) { value = there ? *at : T(0); };
  fetch_tiles<T, H>(tri, tiles);
  with_strip<T, H, M>(x, sides, c, order, load);
  __pipeline_wait_prior(0);
  __syncthreads();
  invert_diagonal<T, H>(tiles, tri.unit, inverted);
  __syncthreads();
  while (true) {
    solve_strip<T, H, M>(x, tri.unit, inverted, tiles);
    with_strip<T, H, M>(x, sides, c, order, [](const T& value, T* at, bool there) {
      if (there) *at = value;
    });
    c += std::int64_t(gridDim.x) * sides_a_block;
    if (c >= sides.count) break;
    with_strip<T, H, M>(x, sides, c, order, load);
  }
}

template <class T, int H, int M>
void launch_strips(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr auto kernel = solve_strips<T, H, M>;
  constexpr int shared = H * (2 * H + 1) * 64 * int(sizeof(T)), sides_a_block = strip_threads / 4 * M;
  const std::int64_t strips = (problem.sides.count + sides_a_block - 1) / sides_a_block;
  const auto blocks = unsigned(std::min<std::int64_t>(strips, 3 * q.multiprocessors()));
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
  kernel<<<blocks, strip_threads, shared, q.stream()>>>(problem.triangle, problem.sides);
  CUDA_CHECK_LAUNCH();
}

constexpr std::int64_t most_strip_order = 128;

/// For a triangle of order ≤ 128. Few right-hand sides are spread over more blocks.
template <class T>
void solve_in_strips(Queue<Cuda>& q, const ForwardProblem<T>& problem) {
  constexpr int wide = sizeof(T) == 8 ? 2 : 4;
  const bool few = problem.sides.count <= 2 * q.multiprocessors() * strip_threads / 4;
  const std::int64_t n = problem.triangle.order;
  const auto launch = n <= 32   ? few ? launch_strips<T, 2, 1> : launch_strips<T, 2, wide>
                        : n <= 64 ? few ? launch_strips<T, 4, 1> : launch_strips<T, 4, wide>
                        : few ? launch_strips<T, 8, 1>
                                : launch_strips<T, 8, wide>;
  launch(q, problem);
}

}  // namespace lasolve
