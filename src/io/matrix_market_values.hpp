// What stands in the lines of a Matrix Market file: values and entries, and what may be wrong with them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "io/matrix_file.hpp"
#include "io/matrix_market_header.hpp"

namespace lasolve::io {

/// Reads numbers at p into x[0 … count) until one is not plain, or a comment or the end stands there. Returns how many.
template <auto read_number>
std::int64_t read_run(const char*& p, double* x, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) {
    const char* next = p;
    while (is_blank(*next)) ++next;
    p = next;
    next = read_number(p, x[k]);
    if (!next) return k;
    p = next;
  }
  return count;
}

inline std::int64_t read_run(Field field, const char*& p, double* x, std::int64_t count) {
  return field == Field::integer ? read_run<read_integer>(p, x, count)
                                 : read_run<read_real<ends_number, '.', true>>(p, x, count);
}

/// Reads the value at the place, whatever it is, or says what is wrong with it.
inline double read_value(Scanner& scanner, Field field, const ReadOptions& options) {
  double value = 0;
  const char* end = field == Field::integer ? read_integer(scanner.place, value) : read_real(scanner.place, value);
  if (!end && options.allow_nonfinite && field == Field::real) end = read_nonfinite(scanner.place, value);
  if (!end) {
    if (scanner.at_line_end()) scanner.refuse_other_than("a number");
    double ignored;
    const bool may_be_read = field == Field::real && read_nonfinite(scanner.place, ignored);
    scanner.refuse(
        (field == Field::integer ? explain_bad_integer(scanner.token()) : explain_bad_real(scanner.token())) +
        (may_be_read ? "; --allow-nonfinite reads it" : ""));
  }
  if (field == Field::real) scanner.underflows.look_at(scanner.place, end, value);
  scanner.place = end;
  return value;
}

/// Reads the indices of an entry, of a symmetric matrix those in either triangle.
inline std::pair<std::int64_t, std::int64_t> read_indices(Scanner& scanner, const MatrixMarketHeader& header) {
  const std::int64_t i = scanner.read_count(1, header.rows, "a row index");
  const Scanner column = scanner;
  const std::int64_t j = scanner.read_count(1, header.cols, "a column index");
  if (header.symmetry == Symmetry::skew_symmetric && i == j)
    column.refuse(
        fmt::format("expected a column other than {}, as the diagonal of a skew-symmetric matrix is zero", i));
  return {i - 1, j - 1};
}

/// An entry of a coordinate file, and where it stands in the content.
struct Entry {
  std::int64_t i, j, at;
  double value;

  Scanner place_in(const InputFile& file) const { return {file, file.begin() + at}; }
};

inline Entry read_entry(Scanner& scanner, const MatrixMarketHeader& header, const ReadOptions& options) {
  const std::int64_t at = scanner.place - scanner.file.begin();
  const auto [i, j] = read_indices(scanner, header);
  const double value = header.field == Field::pattern ? 1.0 : read_value(scanner, header.field, options);
  scanner.skip_blanks_in_line();
  if (!scanner.at_line_end()) scanner.refuse_other_than("the end of the line after an entry");
  return {i, j, at, value};
}

/// Refuses what stands behind all that the sizes promise.
void refuse_extra(Scanner& scanner, const MatrixMarketHeader& header);
[[noreturn]] void refuse_both_triangles(const Scanner& entry, const MatrixMarketHeader& header, std::int64_t i,
                                        std::int64_t j);
/// Refuses an entry to which others were added, where it is infinite now.
void refuse_overflow(const Scanner& entry, double x, const ReadOptions& options);
/// Of entries that repeat an earlier one.
std::string note_of_repeated(const std::string& first, std::int64_t repeated);

}  // namespace lasolve::io
