// Powers of two by which a matrix is multiplied before it is factored.
#pragma once

#include <cstdint>
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
  std::int64_t of(std::int64_t i, std::int64_t j) const { return exponent + at(rows, i) + at(columns, j); }
  /// op(A)⁻¹ = op(C) op(2^e R A C)⁻¹ 2^e op(R); with a transpose, R and C change places. Of row i.
  int before(Op op, std::int64_t i) const { return int(exponent + at(op == Op::none ? rows : columns, i)); }
  int after(Op op, std::int64_t i) const { return int(at(op == Op::none ? columns : rows, i)); }
  /// det(2^exponent R C) of order n, as a power of two.
  double log2_of_determinant(std::int64_t n) const {
    const auto sum = [](const std::vector<std::int64_t>& all) { return std::accumulate(all.begin(), all.end(), 0.0); };
    return double(n) * exponent + sum(rows) + sum(columns);
  }

 private:
  static std::int64_t at(const std::vector<std::int64_t>& exponents, std::int64_t i) {
    return exponents.empty() ? 0 : exponents[std::size_t(i)];
  }
};

}  // namespace lasolve
