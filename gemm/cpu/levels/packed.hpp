// The product of packed.cpp on one core, for each set of instructions.
#pragma once

#include <cstdint>

namespace lasolve {

/// Element (i, j) is data[i·row + j·col].
template <class T>
struct Strided {
  const T* data;
  std::int64_t row, col;
};

template <class T>
struct PackedProduct {
  /// How many elements of memory a product takes.
  std::int64_t (*room)(std::int64_t m, std::int64_t n, std::int64_t k);
  /// C ← α·A·B + β·C with k > 0, and C: m × n by columns.
  void (*multiply)(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Strided<T> A, Strided<T> B, T beta, T* C,
                   std::int64_t ldc, T* room);
};

struct PackedProducts {
  PackedProduct<double> f64;
  PackedProduct<float> f32;
};

}  // namespace lasolve
