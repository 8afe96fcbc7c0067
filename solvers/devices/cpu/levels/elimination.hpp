// Leaves of panels of LU, for each set of instructions.
#pragma once

#include <cstdint>

#include "solvers/devices/cpu/levels/tables.hpp"

namespace lasolve {

/// None of it fuses a multiplication with a subtraction, and the order of the operations on an element does not depend on vectors: all
/// levels give the same bits.
template <class T>
struct Elimination {
  /// P A = L U of few columns, m × n by columns, m ≥ n. At step i, row i changes places with row pivots[i] − start. Returns the first
  /// column whose pivot is exactly zero, or −1.
  std::int64_t (*factor)(std::int64_t m, std::int64_t n, T* A, std::int64_t ld, std::int64_t* pivots,
                         std::int64_t start);
  /// Rows begin, …, end − 1 below row j, after a pivot A(j, j): their part of column j of L, and of A22 ← A22 − L21 U12.
  void (*eliminate)(std::int64_t n, T* A, std::int64_t ld, std::int64_t j, std::int64_t begin, std::int64_t end);
  /// Which of n > 0 elements has the largest magnitude: the first. NaN beats everything: with `>` it would lose, and be found nowhere.
  std::int64_t (*largest)(std::int64_t n, const T* a);
};

using Eliminations = OfEachElement<Elimination>;

}  // namespace lasolve
