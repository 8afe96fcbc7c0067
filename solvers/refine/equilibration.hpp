// Which powers of two bring rows and columns of a matrix to about the same size, and whether that is worth another factorization.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "solvers/refine/known_matrix.hpp"
#include "solvers/refine/scaling.hpp"
#include "solvers/scales.hpp"

namespace lasolve {

namespace equilibration {

/// The exponents with which numbers are between 1 and 2; that of 0 is 0.
inline std::vector<std::int64_t> inverse_exponents(const std::vector<long double>& numbers) {
  std::vector<std::int64_t> exponents;
  for (const long double x : numbers) exponents.push_back(x > 0 && std::isfinite(x) ? -std::int64_t(std::ilogb(x)) : 0);
  return exponents;
}

/// Whether numbers are so far apart that to scale them helps: in LAPACK's geequ, ten times.
inline bool are_apart(const std::vector<long double>& numbers) {
  if (numbers.empty()) return false;
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return *least < 0.1L * *most;
}

/// As in LAPACK's geequ: rows are brought to a largest element of 1, and then columns.
template <class T, class Space>
Scales of_rows_and_columns(Queue<Space>& q, const SystemMatrix<T, Space>& A, std::int64_t n, bool always) {
  std::vector<long double> rows(std::size_t(n), 0), columns(rows);
  for_each_magnitude(q, A, [&](std::int64_t i, std::int64_t, double a) {
    auto& most = rows[std::size_t(i)];
    most = larger(most, static_cast<long double>(a));
  });
  Scales scales;
  if (always || are_apart(rows)) scales.rows = inverse_exponents(rows);
  for_each_magnitude(q, A, [&](std::int64_t i, std::int64_t j, double a) {
    auto& most = columns[std::size_t(j)];
    most = larger(most, std::scalbln(static_cast<long double>(a), scales.of(i, 0)));
  });
  if (always || are_apart(columns)) scales.columns = inverse_exponents(columns);
  return scales;
}

/// As in LAPACK's poequ: symmetrically, so that elements of the diagonal are between 1 and 4. One of zero leaves A as it is.
template <class T, class Space>
Scales of_diagonal(Queue<Space>& q, MatrixView<const T, Space> A, bool always) {
  const std::int64_t n = A.rows();
  const Matrix<T> diagonal = on_host<T>(q, MatrixView<const T, Space>(A.data(), 1, n, A.ld() + 1));
  std::vector<long double> roots;
  for (std::int64_t i = 0; i < n; ++i) roots.push_back(std::sqrt(static_cast<long double>(magnitude(diagonal(0, i)))));
  const bool is_regular = std::all_of(roots.begin(), roots.end(), [](auto x) { return x > 0 && std::isfinite(x); });
  Scales scales;
  if (is_regular && (always || are_apart(roots))) scales.rows = scales.columns = inverse_exponents(roots);
  return scales;
}

}  // namespace equilibration

/// Of A, of which all is there or a triangle. `symmetric`: so that what is factored stays symmetric. Nothing where that does not help,
/// unless it is done `always`.
template <class T, class Space>
std::optional<Scales> scales_of(Queue<Space>& q, const KnownMatrix<T, Space>& A, bool symmetric, bool always) {
  const std::int64_t n = A.order();
  if (n == 0) return {};
  Scales scales = symmetric || !A.is_whole() ? equilibration::of_diagonal(q, A.view(), always)
                                             : equilibration::of_rows_and_columns(q, A.with(Op::none), n, always);
  return scales.any() ? std::optional(std::move(scales)) : std::nullopt;
}

}  // namespace lasolve
