// Which powers of two bring rows and columns of a matrix to about the same size, and whether that is worth another factorization.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "solvers/refine/diagonal.hpp"
#include "solvers/refine/known_matrix.hpp"
#include "solvers/refine/scaling.hpp"
#include "solvers/scales.hpp"

namespace lasolve {

namespace equilibration {

/// The exponents of the largest of some numbers; what is zero, or not finite, has none.
class Largest {
 public:
  explicit Largest(std::int64_t n) : exponents_(std::size_t(n), none) {}

  void add(std::int64_t i, double magnitude, std::int64_t exponent = 0) {
    if (!(magnitude > 0 && std::isfinite(magnitude))) return;
    std::int64_t& most = exponents_[std::size_t(i)];
    most = std::max(most, std::ilogb(magnitude) + exponent);
  }
  /// Whether they are so far apart that it helps to scale them: ten times, as in LAPACK's geequ, or 2^exponents.
  bool are_badly_scaled(int exponents = 4) const {
    std::int64_t least = -none, most = none;
    for (const std::int64_t e : exponents_)
      if (e != none) least = std::min(least, e), most = std::max(most, e);
    return most - least >= exponents && most != none;
  }
  template <class Seen>
  void be_of_all(const Seen& seen) {
    seen.largest(exponents_);
  }
  bool are_all_there() const { return std::find(exponents_.begin(), exponents_.end(), none) == exponents_.end(); }
  /// Those with which they are between 1 and 2, or, halved, between 1 and 4 when they are multiplied twice.
  std::vector<std::int64_t> inverse(int halvings = 0) const {
    std::vector<std::int64_t> all;
    for (const std::int64_t e : exponents_) all.push_back(e == none ? 0 : -(e >> halvings));
    return all;
  }

 private:
  static constexpr std::int64_t none = -(1 << 20);
  std::vector<std::int64_t> exponents_;
};

/// As in LAPACK's geequ: rows are brought to a largest element of 1, and then columns. for_each(alone, f): f(i, j, |aᵢⱼ|) for all elements
/// that are seen here; `seen`: as SeenHere.
template <class ForEach, class Seen>
Scales of_rows_and_columns(std::int64_t n, ForEach for_each, const Seen& seen, bool always) {
  Largest rows(n), columns(n);
  for_each(Alone::rows, [&](std::int64_t i, std::int64_t, double a) { rows.add(i, a); });
  rows.be_of_all(seen);
  Scales scales;
  if (always || rows.are_badly_scaled()) scales.rows = rows.inverse();
  for_each(Alone::columns, [&](std::int64_t i, std::int64_t j, double a) { columns.add(j, a, scales.of(i, 0)); });
  columns.be_of_all(seen);
  if (always || columns.are_badly_scaled()) scales.columns = columns.inverse();
  return scales;
}

/// As in LAPACK's poequ: symmetrically, so that elements of the diagonal, which are given, are between 1 and 4. One of zero leaves A as
/// it is.
inline Scales of_diagonal(const Largest& elements, bool always) {
  Scales scales;
  if (elements.are_all_there() && (always || elements.are_badly_scaled(8)))
    scales.rows = scales.columns = elements.inverse(1);
  return scales;
}
template <class T>
Scales of_diagonal(const std::vector<T>& diagonal, bool always) {
  Largest elements(std::int64_t(diagonal.size()));
  for (std::size_t i = 0; i < diagonal.size(); ++i) elements.add(std::int64_t(i), double(magnitude(diagonal[i])));
  return of_diagonal(elements, always);
}

}  // namespace equilibration

/// Of A, of which all is there or a triangle. `symmetric`: so that what is factored stays symmetric. Nothing where that does not help,
/// unless it is done `always`.
template <class T, class Space>
std::optional<Scales> scales_of(Queue<Space>& q, const KnownMatrix<T, Space>& A, bool symmetric, bool always) {
  const std::int64_t n = A.order();
  if (n == 0) return {};
  Scales scales =
      symmetric || A.is_triangle()
          ? equilibration::of_diagonal(diagonal_of(q, A), always)
          : equilibration::of_rows_and_columns(
                n, [&](Alone alone, auto f) { for_each_magnitude(q, A.with(Op::none), alone, f); }, SeenHere(), always);
  return scales.any() ? std::optional(std::move(scales)) : std::nullopt;
}

}  // namespace lasolve
