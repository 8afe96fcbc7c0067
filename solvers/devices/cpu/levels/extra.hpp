// Products with one column in twice the precision of their elements, for each set of instructions.
#pragma once

#include <cstdint>

#include "solvers/devices/cpu/levels/tables.hpp"

namespace lasolve {

/// Sums in two parts: each is hi + lo. Of floats, of which products are exact in double, hi alone is the sum.
///
/// Products are exact by a fused multiplication, and so is what is rounded off when they are added to hi, which lo has the sum of.
/// Source: Ogita, Rump & Oishi, "Accurate sum and dot product", SISC 26, 2005: as if computed in twice the precision, and rounded once.
template <class T>
struct ExtraProducts {
  /// hi + lo ← hi + lo − A (x + tail), m sums. A: m × n by columns.
  void (*subtract_product)(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, const T* tail,
                           double* hi, double* lo);
  /// The same with Aᵀ: n sums.
  void (*subtract_transposed)(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, const T* tail,
                              double* hi, double* lo);
};

using ExtraProductsOfEach = OfEachElement<ExtraProducts>;

}  // namespace lasolve
