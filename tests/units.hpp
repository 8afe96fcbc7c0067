// Systems whose rows and columns have units of very different size.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "exact.hpp"
#include "matrices.hpp"

namespace lasolve::test {

/// Powers of two that span 1e±150 in fp64, and 1e±15 in fp32, in no order.
template <class T>
std::vector<int> far_apart(std::int64_t n, std::uint64_t seed) {
  const int most = std::is_same_v<T, double> ? 498 : 50;
  Random random(seed);
  std::vector<int> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(int(random.integer(most)));
  return all;
}

/// The largest error of a component, in the scale of its column.
template <class T>
double error_in_units(const Matrix<T>& X, const Matrix<T>& B, const Matrix<T>& M, const std::vector<int>& rows,
                      const std::vector<int>& columns, Op op) {
  const std::vector<int>&before = op == Op::none ? rows : columns, &after = op == Op::none ? columns : rows;
  const auto unscaled = [](const Matrix<T>& V, const std::vector<int>& by, int sign) {
    return matrix_of<T>(V.rows(), V.cols(),
                        [&](auto i, auto j) { return std::ldexp(V(i, j), sign * by[std::size_t(i)]); });
  };
  return forward_error(unscaled(X, after, 1), exact_solutions(M, unscaled(B, before, -1), op));
}

/// Rows whose first elements are small beside the others, and large beside those of other rows: as pivots they leave nothing of these.
template <class T>
Matrix<T> with_large_rows(std::int64_t n) {
  const int small = std::is_same_v<T, double> ? 45 : 20;
  const Matrix<T> R = random_matrix<T>(n, n, 7);
  return matrix_of<T>(n, n, [&](auto i, auto j) {
    return std::ldexp(R(i, j), i % 7 != 0 ? 0 : j < n / 2 ? 20 : small + 20);
  });
}

}  // namespace lasolve::test
