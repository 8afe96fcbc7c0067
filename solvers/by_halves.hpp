// Halving: how recursive algorithms divide their columns.
#pragma once

#include <cstdint>

namespace lasolve {

/// About half of n, in whole leaves.
constexpr std::int64_t first_half(std::int64_t n, std::int64_t leaf) { return (n / leaf + 1) / 2 * leaf; }

/// Walks along the n columns from j on by halving: factor(j, columns) of each leaf, and where a half of k columns from j on is
/// factored update(j, k, columns) of those behind it.
/// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
template <class Factor, class Update>
void by_halves(std::int64_t j, std::int64_t n, std::int64_t leaf, const Factor& factor, const Update& update) {
  if (n <= leaf) return factor(j, n);
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  by_halves(j, n1, leaf, factor, update);
  update(j, n1, n2);
  by_halves(j + n1, n2, leaf, factor, update);
}

}  // namespace lasolve
