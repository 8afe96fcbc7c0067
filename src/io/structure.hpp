// Where a matrix has elements other than zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lasolve/matrix.hpp"

namespace lasolve::io {

struct Structure {
  std::int64_t n = 0;                 ///< rows, and columns
  std::int64_t entries = 0;           ///< that are not zero, or that a file gives
  std::int64_t below = 0, above = 0;  ///< diagonals with entries: as far from the main diagonal as this
  std::int64_t empty_rows = 0;
  std::optional<std::int64_t> empty_row = {}, empty_column = {};  ///< the first of each, from 0

  /// Where LU with partial pivoting meets a column without a pivot, because columns or rows are empty; nothing where none is. It may
  /// meet an earlier one where what is not zero is dependent.
  std::optional<std::int64_t> column_without_pivot() const;
  /// What a file that shows an empty row or column says of it: "column 3 is zero".
  std::string what_is_empty() const;
  /// Names solvers for a matrix that is banded or very sparse; empty where it is neither, or small.
  std::string advice() const;
};

/// Gathers the structure of an n × n matrix from the places of its entries.
class StructureGathered {
 public:
  explicit StructureGathered(std::int64_t n)
      : structure_{.n = n}, row_has_entry_(std::size_t(n)), column_has_entry_(std::size_t(n)) {}
  void add(std::int64_t i, std::int64_t j);
  Structure structure() const;

 private:
  Structure structure_;
  std::vector<bool> row_has_entry_, column_has_entry_;
};

/// Of a square matrix in memory.
Structure structure_of(MatrixView<const double> A);

}  // namespace lasolve::io
