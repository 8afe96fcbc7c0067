// NaN and infinity in what a caller gave: noticed in a norm, and only then looked for.
#pragma once

#include <cmath>
#include <string>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// `whose`: "the matrix has", "the right-hand sides have".
inline void require_finite(bool is_finite, const char* whose) {
  if (!is_finite) throw NotFinite(std::string("lasolve: ") + whose + " an entry that is NaN or infinite");
}

/// nan, inf or -inf.
inline std::string named(double not_finite) { return std::isnan(not_finite) ? "nan" : not_finite > 0 ? "inf" : "-inf"; }

/// Which entry of a matrix that was given as the columns of op(A) is the first, in the order of its memory; empty: none, but a sum of
/// them. Of a triangle that alone is there only that counts.
template <class T>
std::string first_not_finite(MatrixView<const T> columns, Op op, Uplo triangle) {
  for (std::int64_t j = 0; j < columns.cols(); ++j) {
    const std::int64_t from = triangle == Uplo::lower ? j : 0, to = triangle == Uplo::upper ? j + 1 : columns.rows();
    for (std::int64_t i = from; i < to; ++i)
      if (!std::isfinite(columns(i, j)))
        return ": " + named(columns(i, j)) + " in row " + std::to_string(op == Op::none ? i : j) + " and column " +
               std::to_string(op == Op::none ? j : i) + ", counted from 0";
  }
  return "";
}

/// Throws the same, and says which entry of such a matrix is the first.
template <class T>
[[noreturn, gnu::cold]] void throw_naming_first(const NotFinite& e, MatrixView<const T> columns, Op op, Uplo triangle) {
  throw NotFinite(e.what() + first_not_finite(columns, op, triangle));
}

}  // namespace lasolve
