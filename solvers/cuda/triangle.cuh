// Leaves of the triangular solves on CUDA.
#pragma once

#include <limits>

#include "core/by_type.hpp"
#include "core/cuda/blas.hpp"
#include "core/cuda/check.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

constexpr int small_triangle = 64;

/// With few right-hand sides the triangle is read once from memory, whatever its order: halving would gain nothing.
inline std::int64_t leaf_order(const Queue<Cuda>&, std::int64_t nrhs) {
  return nrhs < 32 ? std::numeric_limits<std::int64_t>::max() : small_triangle;
}

/// Element (i, k), i ≥ k, of a triangle in the order in which substitution walks it: an upper triangle from the left,
/// and a lower one from the right, from the end; from the right, transposed. Beyond the order a unit matrix.
template <class T>
__device__ T walked(Triangle<T, Cuda> tri, bool from_the_right, int i, int k) {
  const int n = int(tri.order());
  const bool from_the_end = tri.lower == from_the_right;
  if (i >= n || (i == k && tri.unit)) return i == k ? T(1) : T(0);
  const int a = from_the_end ? n - 1 - i : i, b = from_the_end ? n - 1 - k : k;
  return tri.values
      .data()[(from_the_right ? b : a) * tri.values.row_stride() + (from_the_right ? a : b) * tri.values.col_stride()];
}

/// B ← inv(T) B for a triangle of order n ≤ 32·H. A warp solves `columns` columns at once: lane l has rows l, l + 32, …,
/// and each unknown goes to all lanes by a shuffle.
template <class T, int H, bool unit, int columns, int threads>
__global__ void __launch_bounds__(threads) substitute_left(Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  constexpr int order = 32 * H;
  __shared__ T t[order][order + 1];  // t[k][i] = T(i, k)
#pragma unroll
  for (int e = threadIdx.x; e < order * order; e += threads) {
    const int i = e % order, k = e / order;
    t[k][i] = i >= k ? walked(tri, false, i, k) : T(0);
  }
  __syncthreads();
  const int n = int(tri.order()), lane = threadIdx.x % 32;
  const std::int64_t j0 = (std::int64_t(blockIdx.x) * (threads / 32) + threadIdx.x / 32) * columns;
  const auto element = [&](int i, int c) { return B.data() + (tri.lower ? i : n - 1 - i) + (j0 + c) * B.ld(); };
  T x[columns][H];
#pragma unroll
  for (int c = 0; c < columns; ++c)
#pragma unroll
    for (int h = 0; h < H; ++h) x[c][h] = lane + 32 * h < n && j0 + c < B.cols() ? *element(lane + 32 * h, c) : T(0);
#pragma unroll
  for (int done = 0; done < H; ++done) {
#pragma unroll 1
    for (int k = 0; k < 32; ++k) {
      const T* column = &t[32 * done + k][lane];
#pragma unroll
      for (int c = 0; c < columns; ++c) {
        T unknown = __shfl_sync(~0u, x[c][done], k);
        if (!unit) unknown /= t[32 * done + k][32 * done + k];
        x[c][done] = lane == k ? unknown : lane > k ? x[c][done] - column[32 * done] * unknown : x[c][done];
#pragma unroll
        for (int h = done + 1; h < H; ++h) x[c][h] -= column[32 * h] * unknown;
      }
    }
  }
#pragma unroll
  for (int c = 0; c < columns; ++c)
#pragma unroll
    for (int h = 0; h < H; ++h)
      if (lane + 32 * h < n && j0 + c < B.cols()) *element(lane + 32 * h, c) = x[c][h];
}

/// B ← B inv(T). A thread solves a row, which is shifted by one register a step: x[0] is the unknown at hand.
template <class T, int threads>
__global__ void __launch_bounds__(threads) substitute_right(Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  __shared__ T t[small_triangle][small_triangle];  // t[k][d] = T(k, k + d)
#pragma unroll 8
  for (int e = threadIdx.x; e < small_triangle * small_triangle; e += threads) {
    const int d = e % small_triangle, k = e / small_triangle;
    t[k][d] = k + d < small_triangle ? walked(tri, true, k + d, k) : T(0);
  }
  __syncthreads();
  const int n = int(tri.order());
  const std::int64_t row = std::int64_t(blockIdx.x) * threads + threadIdx.x;
  if (row >= B.rows()) return;
  const auto element = [&](int j) { return B.data() + row + (tri.lower ? n - 1 - j : j) * B.ld(); };
  T x[small_triangle];
#pragma unroll
  for (int j = 0; j < small_triangle; ++j) x[j] = j < n ? *element(j) : T(0);
#pragma unroll 1
  for (int k = 0; k < small_triangle; ++k) {
    const T unknown = tri.unit ? x[0] : x[0] / t[k][0];
#pragma unroll
    for (int d = 1; d < small_triangle; ++d) x[d - 1] = x[d] - t[k][d] * unknown;
    x[small_triangle - 1] = unknown;
  }
#pragma unroll
  for (int j = 0; j < small_triangle; ++j)
    if (j < n) *element(j) = x[j];
}

template <class T>
void cublas_trsm(Queue<Cuda>& q, cublasSideMode_t side, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  const auto trsm = by_type<T>(cublasDtrsm_64, cublasStrsm_64);
  const bool as_stored = tri.values.op() == Op::none;
  const T one = 1;
  CUDA_CHECK(trsm(q.blas(), side, tri.lower == as_stored ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                  cublas_op(tri.values.op()), tri.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, B.rows(), B.cols(),
                  &one, tri.values.data(), tri.values.ld(), B.data(), B.ld()));
}

/// B ← inv(T) B. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (B.empty()) return;
  if (tri.order() > small_triangle) return cublas_trsm(q, CUBLAS_SIDE_LEFT, tri, B);
  constexpr int columns = 2, threads = 256, columns_a_block = columns * threads / 32;
  const auto blocks = unsigned((B.cols() + columns_a_block - 1) / columns_a_block);
  const auto kernel = tri.order() <= 32 ? tri.unit ? substitute_left<T, 1, true, columns, threads>
                                                   : substitute_left<T, 1, false, columns, threads>
                      : tri.unit ? substitute_left<T, 2, true, columns, threads>
                                        : substitute_left<T, 2, false, columns, threads>;
  kernel<<<blocks, threads, 0, q.stream()>>>(tri, B);
  CUDA_CHECK_LAUNCH();
}

/// B ← B inv(T). T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (B.empty()) return;
  if (tri.order() > small_triangle) return cublas_trsm(q, CUBLAS_SIDE_RIGHT, tri, B);
  constexpr int threads = 128;
  substitute_right<T, threads><<<unsigned((B.rows() + threads - 1) / threads), threads, 0, q.stream()>>>(tri, B);
  CUDA_CHECK_LAUNCH();
}

}  // namespace lasolve
