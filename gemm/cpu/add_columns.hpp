// Columns of a block, added to a column of C: the inner loops of kernels that copy blocks of op(A).
#pragma once

#include <cstdint>

namespace lasolve {

/// c ← c + As·b for a block As of m × k, whose columns are ld apart. Four of them at a time: c is loaded once for 8 flops.
template <class T>
inline void add_columns(std::int64_t m, std::int64_t k, const T* __restrict As, std::int64_t ld, const T* __restrict b,
                        T* __restrict c) {
  std::int64_t l = 0;
  for (; l + 4 <= k; l += 4) {
    const T *a0 = As + l * ld, *a1 = a0 + ld, *a2 = a1 + ld, *a3 = a2 + ld;
    for (std::int64_t i = 0; i < m; ++i) c[i] += a0[i] * b[l] + a1[i] * b[l + 1] + a2[i] * b[l + 2] + a3[i] * b[l + 3];
  }
  for (; l < k; ++l)
    for (std::int64_t i = 0; i < m; ++i) c[i] += As[l * ld + i] * b[l];
}

}  // namespace lasolve
