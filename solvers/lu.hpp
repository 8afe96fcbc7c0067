// What every place's LU shares, P A = L U with partial pivoting: counts of operations, and where the interchanges are.
#pragma once

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cube(double n) { return n * n * n; }
/// Textbook counts, from which all rates are computed.
constexpr double lu_flops(double n) { return 2.0 / 3.0 * cube(n); }
constexpr double panel_flops(double m, double n) { return m * n * n - n * n * n / 3; }

/// The row interchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1. The further columns of p are the place's own.
template <class Place>
struct Pivots {
  MatrixView<std::int64_t, Place> p, zero;
  std::int64_t start = 0;

  static constexpr std::int64_t columns = 9;
  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const { return {p.block(i, 0, n, p.cols()), zero, start + i}; }
};

}  // namespace lasolve
