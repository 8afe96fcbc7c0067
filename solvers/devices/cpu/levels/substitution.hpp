// Leaves of triangular solves and of Cholesky, and products with one column, for each set of instructions.
#pragma once

#include <cstdint>

#include "solvers/devices/cpu/levels/tables.hpp"

namespace lasolve {

/// A triangle of which element (i, j) is data[i·row + j·col]: one of row and col is 1.
template <class T>
struct TriangleLeaf {
  const T* data;
  std::int64_t row, col, order;
  bool lower, unit;
};

/// The most columns of a right-hand side that are solved for with a triangle of a higher order than this: one.
constexpr std::int64_t most_order_with_many = 64;

template <class T>
struct Substitution {
  /// A = L Lᵀ; the lower triangle of A, n × n by columns. Stops at the first minor that is not positive, and returns its order; else 0.
  std::int64_t (*cholesky)(std::int64_t n, T* A, std::int64_t ld);
  /// B ← B inv(T). B: m × n by columns.
  void (*solve_right)(TriangleLeaf<T> t, std::int64_t m, T* B, std::int64_t ldb);
  /// B ← inv(T) B, where the order of T is at most most_order_with_many. B: n × nrhs by columns.
  void (*solve_left)(TriangleLeaf<T> t, std::int64_t nrhs, T* B, std::int64_t ldb);
  /// b ← inv(T) b. As in LAPACK, an unknown that is zero takes nothing from those next to it.
  void (*solve_one)(TriangleLeaf<T> t, T* b);
  /// r ← r − A x, and r ← r − Aᵀ x. A: m × n by columns.
  void (*subtract_product)(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r);
  void (*subtract_transposed)(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r);
  /// sums[i] ← sums[i] + the magnitudes in row i, times a power of two. A: m × n by columns.
  void (*add_magnitudes)(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, double scale, double* sums);
};

using Substitutions = OfEachElement<Substitution>;

}  // namespace lasolve
