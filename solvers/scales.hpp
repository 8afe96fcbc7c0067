// Powers of two by which a matrix is multiplied before it is factored.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "lasolve/elements.hpp"
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
  /// A⁻¹ = C (2^e R A C)⁻¹ 2^e R, and A⁻ᵀ = R (2^e R A C)⁻ᵀ 2^e C. The exponents for row i of B, and of X.
  int before(Op op, std::int64_t i) const { return int(exponent + at(op == Op::none ? rows : columns, i)); }
  int after(Op op, std::int64_t i) const { return int(at(op == Op::none ? columns : rows, i)); }
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

 private:
  static std::int64_t at(const std::vector<std::int64_t>& exponents, std::int64_t i) {
    return exponents.empty() ? 0 : exponents[std::size_t(i)];
  }
};

/// Whether scales may take right-hand sides of T out of the range of F. Narrow factors of ordinary matrices are scaled, too, but not far.
template <class F, class T>
bool leave_range(const Scales& scales) {
  constexpr int most_of_F = std::numeric_limits<real_of<F>>::max_exponent,
                most_of_T = std::numeric_limits<real_of<T>>::max_exponent;
  return most_of_F < most_of_T && scales.farthest() > most_of_F / 4;
}

/// Right-hand sides B on the host as factors in F take them, scaled, and their solutions. Where leave_range() says so, each column is brought
/// into the range of F.
template <class F, class T>
class ScaledRhs {
 public:
  ScaledRhs(const Scales& scales, Op op, MatrixView<const T> B)
      : scales_(scales), op_(op), B_(B), to_range_(std::size_t(B.cols()), 0) {
    if (!leave_range<F, T>(scales)) return;
    for (std::int64_t j = 0; j < B.cols(); ++j) {
      int most = std::numeric_limits<int>::min();
      for (std::int64_t i = 0; i < B.rows(); ++i)
        if (B(i, j) != T(0) && std::isfinite(B(i, j)))
          most = std::max(most, std::ilogb(B(i, j)) + scales.before(op, i));
      if (most > std::numeric_limits<int>::min()) to_range_[std::size_t(j)] = -most;
    }
  }
  F operator()(std::int64_t i, std::int64_t j) const {
    return F(std::ldexp(B_(i, j), scales_.before(op_, i) + to_range_[std::size_t(j)]));
  }
  T solution(F x, std::int64_t i, std::int64_t j) const {
    return std::ldexp(T(x), scales_.after(op_, i) - to_range_[std::size_t(j)]);
  }

 private:
  const Scales& scales_;
  Op op_;
  MatrixView<const T> B_;
  std::vector<int> to_range_;
};

}  // namespace lasolve
