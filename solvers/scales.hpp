// Powers of two by which a matrix is multiplied before it is factored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// 2^exponent R A C, with R and C on diagonals: exponents of rows and columns; empty: all are 0.
struct Scales {
  int exponent = 0;
  std::vector<std::int64_t> rows = {}, columns = {};

  bool any() const { return exponent != 0 || !rows.empty() || !columns.empty(); }
  Equilibration kind() const {
    const bool by_rows = exponent != 0 || !rows.empty();
    return columns.empty() ? (by_rows ? Equilibration::rows : Equilibration::none)
                           : (by_rows ? Equilibration::both : Equilibration::columns);
  }
  std::int64_t of(std::int64_t i, std::int64_t j) const {
    return exponent + (rows.empty() ? 0 : rows[std::size_t(i)]) + (columns.empty() ? 0 : columns[std::size_t(j)]);
  }
  /// The largest magnitude of all exponents that B and X are scaled by.
  std::int64_t farthest() const {
    std::int64_t most = 0;
    const auto look = [&](std::int64_t e) { most = std::max(most, std::abs(e)); };
    look(exponent);
    for (const std::int64_t e : rows) look(e), look(exponent + e);
    for (const std::int64_t e : columns) look(e), look(exponent + e);
    return most;
  }
  /// det(2^exponent R C) of order n, as a power of two.
  double log2_of_determinant(std::int64_t n) const {
    const auto sum = [](const std::vector<std::int64_t>& all) { return std::accumulate(all.begin(), all.end(), 0.0); };
    return double(n) * exponent + sum(rows) + sum(columns);
  }
};

}  // namespace lasolve
