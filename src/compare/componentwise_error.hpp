// How right a solution is, element by element, which norms do not show: a row of small numbers counts as much as one of large ones.
#pragma once

#include <cstdint>
#include <vector>

#include "lasolve/queue.hpp"

namespace lasolve::compare {

/// maxᵢ |b − A x|ᵢ / (|A||x| + |b|)ᵢ: the least relative change of the elements of A and b with which x is exact (Oettli & Prager,
/// Numer. Math. 6, 1964). A comes a few columns at a time. Sums are of long doubles, so that rounding does not show. A row that is zero
/// with a b of zero has no error. NaN stays.
class ComponentwiseError {
 public:
  /// b: n × 1.
  ComponentwiseError(std::vector<double> x, MatrixView<const double> b);
  /// Columns of A from `first` on.
  void add(const Queue<Cpu>&, std::int64_t first, MatrixView<const double> columns);
  double largest() const;

 private:
  std::vector<double> x_;
  std::vector<long double> residuals_, sizes_;  // of each row
};

}  // namespace lasolve::compare
