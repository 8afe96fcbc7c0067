// Some adjacent columns, or all, of L or U, as factors hold both in one square.
#pragma once

#include <cstdint>
#include <utility>

#include "lasolve/lasolve.hpp"

namespace lasolve {

template <class T, class Space = Cpu>
struct PartOfFactors {
  MatrixView<const T, Space> LU;
  Factor which;            ///< L has ones on its diagonal, which are not stored
  std::int64_t first = 0;  ///< the column of A that is column 0 here

  constexpr std::int64_t rows() const { return LU.rows(); }
  constexpr std::int64_t cols() const { return LU.cols(); }
  constexpr std::int64_t diagonal(std::int64_t j) const { return first + j; }
  /// The first row of column j that is stored, and the one behind the last.
  std::pair<std::int64_t, std::int64_t> stored(std::int64_t j) const {
    return which == Factor::L ? std::pair(diagonal(j) + 1, rows()) : std::pair(std::int64_t(0), diagonal(j) + 1);
  }
};

}  // namespace lasolve
