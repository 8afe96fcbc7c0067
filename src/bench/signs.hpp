// Operands that nobody has seen before, for runs that are the same: only signs change. D, E and F are diagonal matrices of ±1. With
// A → D A E, B → E B F and C → D C F each number that a product computes keeps its magnitude and its rounding. So do LU's factors and
// pivots and Cholesky's factor under A → D A D. A kernel that keeps results by their operands finds none.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cpu/parallel.hpp"
#include "io/generators.hpp"
#include "lasolve/precision.hpp"

namespace lasolve::bench {

/// ±1 for each index: the product of what two numbers draw. 0 draws +1 alone.
struct Signs {
  std::uint64_t number = 0, other = 0;

  constexpr float operator()(std::int64_t i) const { return drawn(number, i) * drawn(other, i); }

 private:
  static constexpr float drawn(std::uint64_t number, std::int64_t i) {
    return number != 0 && io::Formula{.seed = number}.random(i, 0) < 0 ? -1.f : 1.f;
  }
};

/// A(i, j) ← rows(i) columns(j) A(i, j). On a device T is double, float, fp16 or bf16.
template <class T>
void change_signs(const Queue<Cpu>& q, Signs rows, MatrixView<T> A, Signs columns) {
  std::vector<float> of_rows(std::size_t(A.rows()));
  for (std::int64_t i = 0; i < A.rows(); ++i) of_rows[std::size_t(i)] = rows(i);
  on_shares(q, A.cols(), double(A.rows()) * double(A.cols()), [&](std::int64_t first, std::int64_t n) {
    for (std::int64_t j = first; j < first + n; ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) = T(columns(j) * of_rows[std::size_t(i)] * A(i, j));
  });
}
template <class T>
void change_signs(Queue<Cuda>& q, Signs rows, MatrixView<T, Cuda> A, Signs columns);

}  // namespace lasolve::bench
