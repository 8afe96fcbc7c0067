// Halving: how recursive algorithms divide their columns.
#pragma once

#include <cstdint>
#include <utility>

#include "solvers/plan.hpp"

namespace lasolve {

/// About half of n, in whole leaves.
constexpr std::int64_t first_half(std::int64_t n, std::int64_t leaf) { return (n / leaf + 1) / 2 * leaf; }

/// A triangular solve by halving its unknowns, down to diagonal blocks of at most `leaf`: once, for what a device does and for the tasks
/// that lower() makes of it. The first unknowns are found first, or the last. It calls
///   solve(r)           X(r) = inv(T(r, r)) B(r)
///   product(done, r)   B(r) ← B(r) − T(r, done) X(done)
/// Source: Elmroth, Gustavson, Jonsson & Kågström, "Recursive blocked algorithms and hybrid data structures", 2004.
template <class Solve, class Product>
void solve_by_halves(Range unknowns, std::int64_t leaf, bool first_come_first, const Solve& solve,
                     const Product& product) {
  if (unknowns.count() <= leaf) return solve(unknowns);
  const std::int64_t middle = unknowns.begin + first_half(unknowns.count(), leaf);
  Range before{unknowns.begin, middle}, behind{middle, unknowns.end};
  if (!first_come_first) std::swap(before, behind);
  solve_by_halves(before, leaf, first_come_first, solve, product);
  product(before, behind);
  solve_by_halves(behind, leaf, first_come_first, solve, product);
}

}  // namespace lasolve
