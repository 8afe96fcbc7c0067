// Elements of a matrix and of its transpose, on CUDA.
#pragma once

#include "core/symmetric.hpp"

namespace lasolve {

/// equal_but_for_roundoff() of elements that are not equal. A call of its own: where none is made, it takes no registers.
template <class T>
__device__ __noinline__ bool differ_by_roundoff(T a, T b, T d, T e) {
  return equal_but_for_roundoff(a, b, d, e);
}

/// Whether elements (i, j) and (j, i) of A, a and b, differ by more than roundoff.
template <class T>
__device__ bool are_halves_different(const MatrixView<const T, Cuda>& A, std::int64_t i, std::int64_t j, T a, T b) {
  return a != b && !differ_by_roundoff(a, b, A.data()[i + i * A.ld()], A.data()[j + j * A.ld()]);
}

}  // namespace lasolve
