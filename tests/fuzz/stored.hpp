// Matrices out of bytes, each with no element more than it has.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "reference.hpp"

namespace lasolve::fuzz {

/// A matrix in memory that ends with its last element.
template <class T>
struct Stored {
  Stored(FuzzedDataProvider& in, std::int64_t rows, std::int64_t cols)
      : rows(rows),
        cols(cols),
        ld(std::max(rows, 1L) + in.ConsumeIntegralInRange(0, 9)),
        first(in.ConsumeIntegralInRange(0, 3)),
        memory(std::size_t(first + (rows * cols > 0 ? ld * (cols - 1) + rows : 0))) {
    const int grades = in.ConsumeIntegralInRange(1, 32);  // powers of two that elements differ by
    auto state = in.ConsumeIntegral<std::uint32_t>();
    for (T& x : memory) {
      state = state * 1664525 + 1013904223;
      x = std::ldexp(T(int(state >> 16) - 32768) / 32768, int(state >> 11 & 31) % grades);
    }
    for (int special = in.ConsumeIntegralInRange(0, 3); special > 0 && !memory.empty(); --special)
      memory[in.ConsumeIntegralInRange<std::size_t>(0, memory.size() - 1)] = in.PickValueInArray<T>(
          {0, T(-0.0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN(), 1});
  }
  MatrixView<T> view() { return {memory.data() + first, rows, cols, ld}; }
  bool has(std::size_t at) const {
    const auto k = std::int64_t(at) - first;
    return k >= 0 && k % ld < rows;
  }
  std::int64_t rows, cols, ld, first;
  std::vector<T> memory;
};

template <class T>
Matrix<T> magnitudes(Operand<T> X) {
  return test::matrix_of<T>(X.rows(), X.cols(), [&](auto i, auto j) { return std::abs(X(i, j)); });
}

}  // namespace lasolve::fuzz
