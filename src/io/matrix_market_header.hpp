// The banner and the sizes of a Matrix Market file.
#pragma once

#include <cstdint>

#include "io/scanner.hpp"

namespace lasolve::io {

enum class Format { array, coordinate };
enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew_symmetric };

struct MatrixMarketHeader {
  Format format;
  Field field;
  Symmetry symmetry;
  std::int64_t rows, cols;
  /// How many values (array) or entries (coordinate) the file stores.
  std::int64_t stored;
  /// Where the sizes stand.
  const char* place;

  /// The first row that an array file stores of column j.
  std::int64_t first_row(std::int64_t j) const {
    return symmetry == Symmetry::general ? 0 : symmetry == Symmetry::symmetric ? j : j + 1;
  }
};

/// Reads up to the end of the line of sizes. Throws InputError where the banner or a size is wrong, or where the file
/// is too short for what the sizes promise.
MatrixMarketHeader read_header(Scanner& scanner);

/// "9 values", "1 entry": what the file stores.
std::string counted(std::int64_t count, Format format);

/// Throws InputError because the file ends after `found` values or entries.
[[noreturn]] void refuse_missing(const Scanner& end, const MatrixMarketHeader& header, std::int64_t found);

}  // namespace lasolve::io
