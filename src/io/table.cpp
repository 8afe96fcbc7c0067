#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <vector>

#include "core/range.hpp"
#include "io/in_rounds.hpp"
#include "io/input_error.hpp"
#include "io/table_labels.hpp"
#include "io/table_row.hpp"

namespace lasolve::io {
namespace {

/// Reads a row that has nothing unusual. Returns its end, which ends a line, or null.
template <char mark>
const char* read_plain_row(const char* p, const Layout& layout, double* x) {
  const char separator = layout.separator;
  for (std::int64_t j = 0; j < layout.cols; ++j) {
    while (is_padding(*p, separator)) ++p;
    p = read_real<ends_cell, mark, true>(p, x[j]);
    if (p == nullptr) return nullptr;
    if (separator == ' ' || j + 1 == layout.cols) continue;
    while (is_padding(*p, separator)) ++p;
    if (*p++ != separator) return nullptr;
  }
  while (is_padding(*p, separator)) ++p;
  return p;
}

/// Reads the rows of [p, end) into the rows of A from `row` on, with what reads one row. A few at a time, since A's columns
/// are contiguous and not its rows. False where one is not read.
template <class ReadRow>
bool read_rows(const char* p, const char* end, const Layout& layout, std::int64_t row, MatrixView<double> A,
               ReadRow read_row) {
  constexpr std::int64_t most_rows = 16, most_elements = 1 << 16;
  const std::int64_t cols = layout.cols, height = std::clamp<std::int64_t>(most_elements / cols, 1, most_rows);
  std::vector<double> rows(std::size_t(height * cols));
  std::int64_t filled = 0;
  const auto store = [&] {
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < filled; ++i) A(row + i, j) = rows[std::size_t(i * cols + j)];
    row += filled;
    filled = 0;
  };
  for (p = next_row(p, end, layout.separator); p != end; p = next_row(p, end, layout.separator)) {
    p = read_row(p, &rows[std::size_t(filled * cols)]);
    if (p == nullptr) return false;
    if (p != end) ++p;
    if (++filled == height) store();
  }
  store();
  return true;
}

std::int64_t count_rows(const char* p, const char* end, char separator) {
  std::int64_t rows = 0;
  for (p = next_row(p, end, separator); p != end; p = next_row(p, end, separator), ++rows) {
    p = line_end(p, end);
    if (p != end) ++p;
  }
  return rows;
}

}  // namespace

MatrixFile read_table(const InputFile& file, FileFormat format, const ReadOptions& options) {
  const Layout layout = layout_of(file, format, options.decimal_comma);
  const char* const end = file.end();
  const std::int64_t parts = parts_of_text(end - layout.first_row, options.threads);
  const std::vector<const char*> bounds = split_lines(layout.first_row, end, parts);
  std::vector<std::int64_t> counts(bounds.size() - 1), firsts(counts.size());
  const double work = double(end - layout.first_row);
  in_rounds(parts, options.threads, work, nullptr, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    counts[t] = count_rows(bounds[t], bounds[t + 1], layout.separator);
  });
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t(0));
  const std::int64_t rows = firsts.back() + counts.back();

  // A number takes two bytes with what separates it: a table is no larger than eight times its file where its rows are of
  // one length, and where they are not, that is said before memory is taken.
  if (layout.cols > (end - layout.first_row + 1) / (2 * rows)) {
    RowReader careful(file, layout, options.allow_nonfinite);
    std::vector<double> row(std::size_t(layout.cols));
    for (const char* p = layout.first_row; p != end; p = next_row(p, end, layout.separator)) {
      p = careful.read(p, row.data());
      if (p != end) ++p;
    }
  }
  if (const auto why = why_no_memory(rows, layout.cols, options.bytes_an_element); !why.empty())
    throw MachineError(message_at(file.name(), file.content(), std::size_t(layout.first_row - file.begin()), why));
  MatrixFile result{Matrix<double>(rows, layout.cols), file.name_of(layout.first_row), {}, false};
  result.may_have_decimal_commas = may_have_decimal_commas(layout, end);

  std::vector<char> plain(counts.size());
  in_rounds(parts, options.threads, 10 * work, options.progress, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    plain[t] = read_rows(bounds[t], bounds[t + 1], layout, firsts[t], result.matrix, [&](const char* at, double* x) {
      const char* const stop =
          layout.mark == ',' ? read_plain_row<','>(at, layout, x) : read_plain_row<'.'>(at, layout, x);
      return stop == end || (stop && *stop == '\n') ? stop : nullptr;
    });
  });
  if (contains(plain, 0)) {
    RowReader careful(file, layout, options.allow_nonfinite);
    Teller tell(options.progress, end - layout.first_row);
    read_rows(layout.first_row, end, layout, 0, result.matrix, [&](const char* at, double* x) {
      tell(at - layout.first_row);
      return careful.read(at, x);
    });
    note_underflows(file, careful.underflows(), result);
  }
  ask_about_labels(file, layout, result);
  return result;
}

void write_table(OutputFile& file, FileFormat format, MatrixView<const double> A, const Progress& progress) {
  const char separator = format == FileFormat::csv ? ',' : format == FileFormat::tsv ? '\t' : ' ';
  std::array<char, 32> digits;  // -1.2345678901234567e-308 has 24 characters
  Teller tell(progress, A.rows() * A.cols());
  for (std::int64_t i = 0; i < A.rows() && A.cols() > 0; ++i) {
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      tell(i * A.cols() + j);
      char* const end = std::to_chars(digits.data(), digits.data() + digits.size() - 1, A(i, j)).ptr;
      *end = j + 1 < A.cols() ? separator : '\n';
      file.append({digits.data(), std::size_t(end + 1 - digits.data())});
    }
  }
}

}  // namespace lasolve::io
