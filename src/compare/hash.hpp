// A matrix told by a number, so that results on different machines are known to be of the same.
#pragma once

#include <cstdint>
#include <string>

#include "lasolve/queue.hpp"

namespace lasolve::compare {

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
