// L or U of A = L U, which the factors of a square matrix hold in one.
#pragma once

#include <cstdint>
#include <utility>

#include "lasolve/lasolve.hpp"

namespace lasolve {

template <class T, class Space = Cpu>
struct PartOfFactors {
  MatrixView<const T, Space> LU;
  Factor which;  ///< L has ones on its diagonal, which are not stored

  constexpr std::int64_t rows() const { return LU.rows(); }
  constexpr std::int64_t cols() const { return LU.cols(); }
  /// The first row of column j that is stored, and the one behind the last.
  std::pair<std::int64_t, std::int64_t> stored(std::int64_t j) const {
    return which == Factor::L ? std::pair(j + 1, rows()) : std::pair(std::int64_t(0), j + 1);
  }
};

}  // namespace lasolve
