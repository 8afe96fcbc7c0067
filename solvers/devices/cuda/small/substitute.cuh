// X = op(A)⁻¹ B of a small system from its factors, a block of threads for each right-hand side, and what a check asks of X.
//
// One warp substitutes, with up to four rows a lane: a step is a shuffle and a multiplication, and has no barrier. All warps fetch
// the factors before, and compute the residual behind.
#pragma once

#include "core/cuda/copy_async.cuh"
#include "core/cuda/wait.cuh"
#include "solvers/devices/cuda/small/shape.hpp"
#include "solvers/lu/cuda/pivot_candidate.cuh"
#include "solvers/refine/largest.hpp"

namespace lasolve {

/// B and X, of which each block has a column, may be the same: then `kept` gets a copy of B, n × nrhs.
template <class T>
struct SmallRhs {
  const T* B;
  T* X;
  T* kept;
  std::int64_t ld_of_B, ld_of_X;
  bool transposed, checked;
};

template <class Shape>
struct SmallSolveShared {
  using T = typename Shape::Element;
  static constexpr int N = Shape::N, parts = 32 * Shape::warps / N;
  static constexpr bool has_A = N <= 64;    // else there is no room
  alignas(16) T LU[N * Shape::ld + 2 * N];  // lanes without a row read what is behind
  alignas(16) T A[has_A ? N * N : Shape::chunk];
  T b[N], x[N], r[N], partial_r[parts][N];
  double sum[N], partial_sum[parts][N];
  SmallNorms norms;
};

/// By a warp: x ← S⁻¹ x, where S is triangular, element (i, k) is S[i · row + k · column], and lane i % 32 has row i in
/// x[i / 32]. `forward`: S is lower triangular. `scaled`: the diagonal is not 1, and its reciprocals are given.
template <bool forward, bool scaled, int rows, class T>
__device__ void substitute(const T* S, int row, int column, int n, const T (&reciprocals)[rows], T (&x)[rows]) {
  const int lane = int(threadIdx.x) % 32;
  constexpr int some = 4;
  T s[rows][some], next[rows][some];  // columns at hand, in their order, and those behind them
#pragma unroll
  for (int turn = 0; turn < rows; ++turn) {
    const int b = forward ? turn : rows - 1 - turn;
    if (32 * b >= n) continue;
    const auto read = [&](T(&to)[rows][some], int c) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
        if (forward ? i >= b : i <= b)
#pragma unroll
          for (int e = 0; e < some; ++e)
            to[i][e] = S[(lane + 32 * i) * row + (32 * b + (forward ? c + e : 31 - c - e)) * column];
    };
    read(next, 0);
#pragma unroll 1
    for (int c = 0; c < 32; c += some) {
#pragma unroll
      for (int i = 0; i < rows; ++i)
#pragma unroll
        for (int e = 0; e < some; ++e) s[i][e] = next[i][e];
      if (c + some < 32) read(next, c + some);
#pragma unroll
      for (int e = 0; e < some; ++e) {
        const int k = forward ? c + e : 31 - c - e;
        if (32 * b + k >= n) continue;
        const T found = __shfl_sync(all_lanes, scaled ? x[b] * reciprocals[b] : x[b], k);
        if (forward ? lane > k : lane < k) x[b] = fma(-s[b][e], found, x[b]);
#pragma unroll
        for (int i = 0; i < rows; ++i)
          if (forward ? i > b : i < b) x[i] = fma(-s[i][e], found, x[i]);
      }
    }
    if constexpr (scaled) x[b] *= reciprocals[b];
  }
}

/// By a warp, with the factors and b in shared memory: x ← op(A)⁻¹ b.
template <class Shape, class T>
__device__ void solve_column(SmallSolveShared<Shape>& s, const SmallFactors<T>& factors, bool transposed) {
  constexpr int rows = Shape::N / 32;
  const int lane = int(threadIdx.x) % 32, n = factors.n, ld = factors.ld();
  T x[rows], reciprocals[rows];
  int in_A[rows];
#pragma unroll
  for (int i = 0; i < rows; ++i) {
    const int row = lane + 32 * i;
    in_A[i] = row < n ? factors.rows[row] : row;
    reciprocals[i] = row < n ? s.LU[n * ld + row] : T(0);
    x[i] = s.b[transposed ? row : in_A[i]];
  }
  if (transposed) {
    substitute<true, true>(s.LU, ld, 1, n, reciprocals, x);    // Uᵀ z = b
    substitute<false, false>(s.LU, ld, 1, n, reciprocals, x);  // Lᵀ y = z
  } else {
    substitute<true, false>(s.LU, 1, ld, n, reciprocals, x);  // L y = P b
    substitute<false, true>(s.LU, 1, ld, n, reciprocals, x);  // U x = y
  }
#pragma unroll
  for (int i = 0; i < rows; ++i)
    if (lane + 32 * i < n) s.x[transposed ? in_A[i] : lane + 32 * i] = x[i];
}

/// By all threads: r ← b − op(A) x, and the sums of the magnitudes in the rows of op(A).
template <class Shape, class T>
__device__ void residual_of_column(SmallSolveShared<Shape>& s, const T* A, int n, bool transposed) {
  constexpr int rows = Shape::N / 32, parts = SmallSolveShared<Shape>::parts;
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  if (transposed) {  // a warp has a column
    for (int j = warp; j < n; j += Shape::warps) {
      T r = 0;
      double sum = 0;
      for (int i = lane; i < n; i += 32) {
        const T a = A[i + j * n];
        r = fma(-a, s.x[i], r), sum += fabs(double(a));
      }
#pragma unroll
      for (int half = 16; half > 0; half /= 2)
        r += __shfl_xor_sync(all_lanes, r, half), sum += __shfl_xor_sync(all_lanes, sum, half);
      if (lane == 0) s.r[j] = s.b[j] + r, s.sum[j] = sum;
    }
    __syncthreads();
    return;
  }
  const int part = warp / rows, row = 32 * (warp % rows) + lane;
  T r = 0;
  double sum = 0;
  if (row < n) {
#pragma unroll 8
    for (int j = part; j < n; j += parts) {
      const T a = A[row + j * n];
      r = fma(-a, s.x[j], r), sum += fabs(double(a));
    }
  }
  s.partial_r[part][row] = r, s.partial_sum[part][row] = sum;
  __syncthreads();
  if (const int i = int(threadIdx.x); i < n) {
    r = s.b[i], sum = 0;
    for (int p = 0; p < parts; ++p) r += s.partial_r[p][i], sum += s.partial_sum[p][i];
    s.r[i] = r, s.sum[i] = sum;
  }
  __syncthreads();
}

/// By a warp: the largest magnitude; NaN if there is one.
template <class T>
__device__ double largest_magnitude(const T* x, int n) {
  double most = 0;
  for (int i = int(threadIdx.x) % 32; i < n; i += 32) most = larger(most, fabs(double(x[i])));
#pragma unroll
  for (int half = 16; half > 0; half /= 2) most = larger(most, __shfl_xor_sync(all_lanes, most, half));
  return most;
}

/// Starts to copy to shared memory. Both begin where chunks may be read.
template <class Shape, class T>
__device__ void fetch(T* to, const T* from, int count) {
  for (int i = Shape::chunk * int(threadIdx.x); i < count; i += Shape::chunk * Shape::threads)
    copy_async<16>(shared_address(to + i), from + i, min(Shape::chunk, count - i) * int(sizeof(T)));
  close_group_of_copies();
}

template <class Shape>
__global__ void __launch_bounds__(Shape::threads, 1)
    solve_small(SmallFactors<typename Shape::Element> factors, SmallRhs<typename Shape::Element> rhs,
                SmallNorms* norms) {
  using T = typename Shape::Element;
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<SmallSolveShared<Shape>*>(memory);
  const long long begin = clock64();
  const std::uint64_t began = nanoseconds();
  const int n = factors.n, t = int(threadIdx.x), warp = t / 32;
  const std::int64_t column = blockIdx.x;
  const T b = t < n ? rhs.B[t + column * rhs.ld_of_B] : T(0);
  fetch<Shape>(s.LU, factors.LU, factors.elements());
  constexpr bool has_A = SmallSolveShared<Shape>::has_A;
  fetch<Shape>(s.A, factors.A, has_A && rhs.checked ? n * n : 0);
  if (t < Shape::N) s.b[t] = b;
  if (t == 0) s.norms = {};
  if (rhs.kept && t < n) rhs.kept[t + column * n] = b;
  wait_for_copies<1>();
  __syncthreads();
  if (warp == 0) solve_column(s, factors, rhs.transposed);
  wait_for_copies<0>();
  __syncthreads();
  if (t < n) rhs.X[t + column * rhs.ld_of_X] = s.x[t];
  const long long solved = clock64();
  if (rhs.checked) {
    residual_of_column(s, has_A ? s.A : factors.A, n, rhs.transposed);
    if (warp < 4) {
      const double norm = warp == 3 ? largest_magnitude(s.sum, n)
                                    : largest_magnitude(warp == 0   ? s.b
                                                        : warp == 1 ? s.x
                                                                    : s.r,
                                                        n);
      double& to = warp == 0 ? s.norms.b : warp == 1 ? s.norms.x : warp == 2 ? s.norms.r : s.norms.a;
      if (t % 32 == 0) to = norm;
    }
  }
  __syncthreads();
  if (t != 0) return;
  const long long end = clock64();
  s.norms.begin = began, s.norms.end = nanoseconds();
  s.norms.part_of_check = rhs.checked ? double(end - solved) / double(end - begin) : 0;
  tell_host(norms + column, s.norms);
}

}  // namespace lasolve
