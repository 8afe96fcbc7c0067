// Residuals in twice the precision on CUDA, in a fixed order.
#pragma once

#include "solvers/devices/cuda/norms.cuh"

namespace lasolve {

/// A sum in two parts, hi + lo. Of floats, of which products are exact in double, hi alone is the sum.
/// Source: Ogita, Rump & Oishi, "Accurate sum and dot product", SISC 26, 2005: as if computed in twice the precision, and rounded once.
struct SumInTwo {
  double hi, lo;

  __device__ void add(double x) {
    const double sum = hi + x, part = sum - hi;
    lo += (hi - (sum - part)) + (x - part);
    hi = sum;
  }
  /// a (x + tail).
  __device__ void add_product(double a, double x, double tail) {
    const double product = __dmul_rn(a, x);  // never fused with the sum
    const double rest = fma(a, tail, fma(a, x, -product));
    add(product), lo += rest;
  }
  __device__ void add_product(float a, float x, float tail) {
    hi += double(a) * x;
    hi += double(a) * tail;
  }
  __device__ SumInTwo& operator+=(const SumInTwo& other) {
    add(other.hi), lo += other.lo;
    return *this;
  }
};

/// R ← B − A (X + tail), for 32 rows of a column a block.
/// Traffic  All of A for each column: what few right-hand sides take.
template <class T, class AnyMatrix>
__global__ void __launch_bounds__(1024)
    residual_in_two_of_rows(AnyMatrix A, MatrixView<const T, Cuda> X, MatrixView<const T, Cuda> tail,
                            MatrixView<const T, Cuda> B, MatrixView<T, Cuda> R) {
  const std::int64_t j = blockIdx.y;
  const T *const x = X.data() + j * X.ld(), *const rest = tail.data() + j * tail.ld();
  sum_rows<SumInTwo>(
      has_contiguous_rows(A), A.rows(), A.cols(),
      [&](std::int64_t i, std::int64_t k, SumInTwo& sum) { sum.add_product(entry(A, i, k), x[k], rest[k]); },
      [&](std::int64_t i, SumInTwo sum) {
        sum = {-sum.hi, -sum.lo};
        sum.add(double(B.data()[i + j * B.ld()]));
        R.data()[i + j * R.ld()] = T(sum.hi + sum.lo);
      });
}

/// R ← B − A (X + tail) for an Operand or a Symmetric A, in twice the precision of T and rounded to it. R may be B.
template <class T, OnOneDevice AnyMatrix>
void residual_in_two(Queue<Cuda>& q, const AnyMatrix& A, MatrixView<const T, Cuda> X, MatrixView<const T, Cuda> tail,
                     MatrixView<const T, Cuda> B, MatrixView<T, Cuda> R) {
  constexpr std::int64_t most = 65535;  // blocks beside one another
  for (std::int64_t j = 0; j < R.cols() && R.rows() > 0; j += most) {
    const std::int64_t some = std::min(most, R.cols() - j);
    launch(q, residual_in_two_of_rows<T, AnyMatrix>, dim3(unsigned(ceil_div(A.rows(), 32)), unsigned(some)), 1024, A,
           X.columns(j, some), tail.columns(j, some), B.columns(j, some), R.columns(j, some));
  }
}

/// X + tail ← X + tail + D, where X is what that is rounded to.
template <class T>
void add_in_two(Queue<Cuda>& q, MatrixView<const T, Cuda> D, MatrixView<T, Cuda> X, MatrixView<T, Cuda> tail) {
  for_each_element(q, X, [D, tail] __device__(T & x, std::int64_t i, std::int64_t j) {
    T& low = tail.data()[i + j * tail.ld()];
    const T d = D.data()[i + j * D.ld()], sum = x + d, part = sum - x;
    const T rest = ((x - (sum - part)) + (d - part)) + low;
    x = sum + rest;
    low = isfinite(x) ? rest - (x - sum) : T(0);
  });
}

}  // namespace lasolve
