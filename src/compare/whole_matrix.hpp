// What all of a matrix is seen for, some columns at a time: how right a solution is, element by element, which norms do not show; and a
// number that tells whether results on different machines are of the same matrix.
#pragma once

#include <cstdint>
#include <string>
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

/// FNV-1a (Fowler, Noll & Vo) over the bits of the elements of each column, 8 bytes at a time, and over the columns: does not depend
/// on the leading dimension, nor on how many columns are added at a time.
class MatrixHash {
 public:
  MatrixHash(std::int64_t rows, std::int64_t columns);
  /// The columns that come next.
  void add(const Queue<Cpu>&, MatrixView<const double> columns);
  /// 16 hexadecimal digits.
  std::string text() const;

 private:
  std::uint64_t hash_;
};

}  // namespace lasolve::compare
