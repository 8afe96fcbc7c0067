// Factors of a small system, written where the kernel that solves with them reads them.
#pragma once

#include "core/ceil_div.hpp"
#include "solvers/devices/cuda/small/shape.hpp"

namespace lasolve {

/// By all threads of a block: element(i, j) of L and U, reciprocal(i) of the diagonal of U, and row(i), where row i of P A is in A.
template <int threads, class T, class Element, class Reciprocal, class Row>
__device__ void write_factors(const SmallFactors<T>& to, Element element, Reciprocal reciprocal, Row row) {
  const int n = to.n, rows = to.ld(), t = int(threadIdx.x), end = round_up(to.elements(), 16 / int(sizeof(T)));
  for (int j = t / 32; j < n; j += threads / 32)
    for (int i = t % 32; i < rows; i += 32) to.LU[i + j * rows] = i < n ? element(i, j) : T(0);
  for (int i = t; n * rows + i < end; i += threads) to.LU[n * rows + i] = i < n ? reciprocal(i) : T(0);
  if (t < n) to.rows[t] = row(t);
}

}  // namespace lasolve
