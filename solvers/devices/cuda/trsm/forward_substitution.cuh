// What all triangular solves on CUDA share. All are forward substitutions, seen through strides. And all invert small
// diagonal blocks.
#pragma once

#include <cuda_pipeline.h>

#include <algorithm>

#include "core/cuda/check.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// A lower triangle, element (i, k) at data[i·row_stride + k·col_stride]. One of the strides is ±1.
template <class T>
struct ForwardTriangle {
  const T* data;
  std::int64_t row_stride, col_stride, order;
  bool unit, ready;

  __device__ const T* at(std::int64_t i, std::int64_t k) const { return data + i * row_stride + k * col_stride; }
};

/// Right-hand sides on entry, and the solution on exit: unknown i of side c at data[i·stride + c·rhs_stride]. Where `from` is given,
/// the right-hand sides are there instead, side c of row rows[i] at from[rows[i] + c·from_stride]; without `rows` that of row i.
template <class T>
struct RightHandSides {
  T* data;
  std::int64_t stride, rhs_stride, count;
  const T* from = nullptr;
  std::int64_t from_stride = 0;
  const std::int64_t* rows = nullptr;

  __device__ T* at(std::int64_t i, std::int64_t c) const { return data + i * stride + c * rhs_stride; }
  __device__ T given(std::int64_t i, std::int64_t c) const {
    return from ? from[(rows ? rows[i] : i) + c * from_stride] : *at(i, c);
  }
};

/// A triangle of T, and right-hand sides of R, in which is computed.
template <class T, class R = T>
struct ForwardProblem {
  ForwardTriangle<T> triangle;
  RightHandSides<R> rhs;

  /// An upper triangle is a lower one that is walked from the end.
  ForwardProblem(Triangle<T, Cuda> tri, RightHandSides<R> b)
      : triangle{tri.values.data(), tri.values.row_stride(), tri.values.col_stride(), tri.order(), tri.unit, tri.ready},
        rhs(b) {
    if (tri.lower) return;
    ForwardTriangle<T>& t = triangle;
    t.data += (t.order - 1) * (t.row_stride + t.col_stride);
    t.row_stride = -t.row_stride, t.col_stride = -t.col_stride;
    rhs.data += (t.order - 1) * rhs.stride;
    rhs.stride = -rhs.stride;
  }
};

/// inv(T) B.
template <class T, class R>
ForwardProblem<T, R> from_the_left(Triangle<T, Cuda> tri, MatrixView<R, Cuda> B) {
  return {tri, {B.data(), 1, B.ld(), B.cols()}};
}
/// B inv(T), which is the transpose of inv(Tᵀ) Bᵀ.
template <class T>
ForwardProblem<T> from_the_right(Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  return {tri.transposed(), {B.data(), B.ld(), 1, B.rows()}};
}

/// Begins to copy element (i, k) of a triangle, at `from`, to shared memory. Beyond the order it is a unit matrix.
template <class T>
__device__ void fetch_element(T* to, const T* from, const ForwardTriangle<T>& tri, std::int64_t i, std::int64_t k) {
  if (i < tri.order && (i > k || (i == k && !tri.unit)))
    __pipeline_memcpy_async(to, from, sizeof(T));
  else
    *to = i == k ? T(1) : T(0);
}

/// Hides a value from the compiler, so that it computes what follows from it again instead of keeping it in registers.
template <class X>
__device__ void forget(X& x) {
  asm volatile("" : "+l"(x));
}

/// Up to this condition a diagonal block is inverted, and three decimal digits of it can be lost; others are solved by
/// substitution. With an inverse the bound of the residual grows by up to the condition of the block (Du Croz & Higham,
/// "Stability of methods for matrix inversion", 1992). Blocks of order 16 from pivoted LU have a condition of about 40,
/// rarely above 500; those of Cholesky have less.
constexpr double most_condition_to_invert = 1024;

/// Inverts a lower triangle of order n in place where its condition in the 1-norm allows it, and says whether it did. n
/// lanes of a warp, `lanes`, do it together, each a column. element(i, k) is a reference into shared memory.
template <int n, class T, class Element>
__device__ bool invert_block(Element element, bool unit, unsigned lanes) {
  const int c = threadIdx.x % n;
  const T reciprocal = unit ? T(1) : T(1) / element(c, c);
  T x[n], own = 0, inverse = 0;
#pragma unroll 4
  for (int i = 0; i < n; ++i)
    if (i >= c) own += fabs(element(i, c));
#pragma unroll
  for (int i = 0; i < n; ++i) x[i] = i == c ? T(1) : T(0);
#pragma unroll
  for (int k = 0; k < n; ++k) {
    x[k] *= __shfl_sync(lanes, reciprocal, k, n);
    inverse += fabs(x[k]);
#pragma unroll
    for (int i = k + 1; i < n; ++i) x[i] -= element(i, k) * x[k];
  }
  const bool finite = own < T(INFINITY) && inverse < T(INFINITY);
#pragma unroll
  for (int d = n / 2; d > 0; d /= 2) {
    own = fmax(own, __shfl_xor_sync(lanes, own, d, n));
    inverse = fmax(inverse, __shfl_xor_sync(lanes, inverse, d, n));
  }
  const bool good = __all_sync(lanes, finite) && own * inverse <= T(most_condition_to_invert);
  __syncwarp(lanes);  // all have read
  if (good)
#pragma unroll
    for (int i = 0; i < n; ++i)
      if (i >= c) element(i, c) = x[i];
  return good;
}

/// The lanes of this thread's group of n.
template <int n>
__device__ unsigned lanes_of_group() {
  return ((1u << n) - 1) << threadIdx.x % 32 / n * n;
}

/// c += a b on a warp, 8 × 4 times 4 × 8, on fp64 tensor cores where there are some. Lane 4g + t has a(g, t), b(t, g),
/// c(g, 2t) and c(g, 2t + 1).
__device__ inline void multiply_8x8x4(double (&c)[2], double a, double b) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
#else
  const int lane = threadIdx.x % 32, t = lane % 4;
  for (int k = 0; k < 4; ++k) {
    const double left = __shfl_sync(~0u, a, lane / 4 * 4 + k);
    for (int s = 0; s < 2; ++s) c[s] += left * __shfl_sync(~0u, b, 4 * (2 * t + s) + k);
  }
#endif
}

}  // namespace lasolve
