#include "io/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <vector>

#include "io/in_rounds.hpp"
#include "io/scanner.hpp"

namespace lasolve::io {
namespace {

/// What a table is: where it begins, and what is between two of its numbers; a space stands for blanks of any length.
struct Layout {
  const char* first_row;
  char separator;
  std::int64_t cols;
};

bool ends_row(char c) { return c == '\n' || c == '#'; }

/// Blanks that count for nothing: tabs do where they separate.
bool is_padding(char c, char separator) { return c == ' ' || c == '\r' || (c == '\t' && separator != '\t'); }

/// The end of the line at p, which is a line feed or the end of the file.
const char* line_end(const char* p, const char* end) {
  const void* const found = std::memchr(p, '\n', std::size_t(end - p));
  return found ? static_cast<const char*>(found) : end;
}

/// The next row at or behind p, which begins a line; `end` where there is none. A line that begins with % is a comment; within a row
/// it is none, where it may be a per cent.
const char* next_row(const char* p, const char* end, char separator) {
  while (p != end) {
    const char* q = p;
    while (is_padding(*q, separator)) ++q;
    if (q != end && !ends_row(*q) && *q != '%') return p;
    p = line_end(q, end);
    if (p != end) ++p;
  }
  return end;
}

std::string_view row_at(const char* p, const char* end) {
  std::string_view row(p, std::size_t(line_end(p, end) - p));
  row = row.substr(0, row.find('#'));
  const std::size_t last = row.find_last_not_of(" \r");
  return row.substr(0, last + 1);  // npos + 1 is 0
}

char separator_of(FileFormat format, std::string_view row) {
  if (format == FileFormat::txt) return ' ';
  if (format == FileFormat::tsv) return '\t';
  return row.find(';') != row.npos ? ';' : ',';
}

Layout layout_of(const InputFile& file, FileFormat format) {
  // Which lines are rows depends on the separator only where a line holds nothing but blanks and tabs.
  const char* const probe = next_row(file.begin(), file.end(), ' ');
  if (probe == file.end()) file.refuse(probe, "expected a row of numbers, found the end of the file");
  const char separator = separator_of(format, row_at(probe, file.end()));
  const char* const first = next_row(file.begin(), file.end(), separator);
  const std::string_view row = row_at(first, file.end());
  std::int64_t cols = 1;
  if (separator != ' ') {
    cols += std::count(row.begin(), row.end(), separator);
  } else {
    cols = 0;
    for (std::size_t k = 0; k < row.size(); ++k) cols += !is_blank(row[k]) && (k == 0 || is_blank(row[k - 1]));
  }
  return {first, separator, cols};
}

/// Reads a row that has nothing unusual. Returns its end, which ends a line, or null.
const char* read_plain_row(const char* p, const Layout& layout, double* x) {
  const char separator = layout.separator;
  for (std::int64_t j = 0; j < layout.cols; ++j) {
    while (is_padding(*p, separator)) ++p;
    p = read_real<ends_cell>(p, x[j]);
    if (p == nullptr) return nullptr;
    if (separator == ' ' || j + 1 == layout.cols) continue;
    while (is_padding(*p, separator)) ++p;
    if (*p++ != separator) return nullptr;
  }
  while (is_padding(*p, separator)) ++p;
  return p;
}

/// Reads the rows of a table one by one, and says what is wrong with the first that is no row.
class RowReader {
 public:
  RowReader(const InputFile& file, const Layout& layout, bool allow_nonfinite)
      : file_(file), layout_(layout), allow_nonfinite_(allow_nonfinite) {}

  /// Reads the row at p. Returns the end of its line.
  const char* read(const char* p, double* x) {
    place_ = row_ = p;
    for (std::int64_t j = 0; j < layout_.cols; ++j) {
      skip_padding();
      if (at_row_end() && layout_.separator == ' ') refuse_length(j);
      if (at_row_end() || *place_ == layout_.separator) refuse_empty();
      read_number(x[j]);
      skip_padding();
      if (layout_.separator == ' ' || j + 1 == layout_.cols) continue;
      if (at_row_end()) refuse_length(j + 1);
      if (*place_ != layout_.separator) refuse_separator();
      ++place_;
    }
    if (!at_row_end())
      file_.refuse(place_, fmt::format("expected the end of the row after {}, found {}", as_in_first(), found()));
    return line_end(place_, file_.end());
  }

 private:
  bool at_row_end() const { return place_ == file_.end() || ends_row(*place_); }
  void skip_padding() {
    while (is_padding(*place_, layout_.separator)) ++place_;
  }
  std::string as_in_first() const {
    return fmt::format("{} number{}{}", layout_.cols, layout_.cols == 1 ? "" : "s",
                       row_ == layout_.first_row ? "" : ", as the first row has");
  }
  /// What is at the place, which is not the end of the row, to the next separator.
  std::string_view cell() const {
    const char* end = place_ + 1;
    while (end != file_.end() && !ends_row(*end) && *end != layout_.separator &&
           !(layout_.separator == ' ' && is_blank(*end)))
      ++end;
    while (end > place_ + 1 && is_blank(end[-1])) --end;
    return {place_, std::size_t(end - place_)};
  }
  std::string found() const {
    if (place_ == file_.end()) return "the end of the file";
    if (*place_ == '\n') return "the end of the line";
    return *place_ == '#' ? "a comment" : quoted(cell());
  }

  void read_number(double& value) {
    const char* end = read_real<ends_cell>(place_, value);
    if (!end && allow_nonfinite_) end = read_nonfinite(place_, value, ends_cell);
    if (!end) refuse_number();
    place_ = end;
  }

  [[noreturn]] void refuse_number() const { file_.refuse(place_, explain_bad_real(cell()) + hint(cell())); }
  [[noreturn]] void refuse_empty() const {
    const bool is_header = row_ == layout_.first_row && place_ == row_ && !has_a_number();
    file_.refuse(
        place_,
        fmt::format("expected a number, found an empty field{}",
                    layout_.separator == '\t' ? "; --format txt takes tabs for blanks"
                    : is_header ? "; is it a header row of pandas? to_csv(..., index=False, header=False) has none"
                                : ""));
  }
  /// What a cell may be that is no number.
  std::string hint(std::string_view cell) const {
    double ignored;
    const char first = cell.front();
    const bool in_quotes = cell.size() > 2 && (first == '"' || first == '\'') && cell.back() == first;
    if (read_nonfinite(place_, ignored, ends_cell)) return "; --allow-nonfinite reads it";
    for (const char* missing : {"NA", "N/A", "n/a", "na", "null", "NULL", "None", "-", "?"})
      if (cell == missing || (in_quotes && cell.substr(1, cell.size() - 2) == missing))
        return "; is a value missing? a matrix has one in each place";
    if (in_quotes &&
        read_real(std::string(cell.substr(1, cell.size() - 2)).append(readable_bytes_behind, '\0').c_str(), ignored))
      return "; numbers stand without quotes";
    const bool word = (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z') || first == '"' || first == '_';
    if (!word || row_ != layout_.first_row) return "";
    if (has_a_number()) return place_ == row_ ? "; does a name stand before each row?" : "";
    const auto line = 1 + std::count(file_.begin(), row_, '\n');
    return fmt::format("; is it a header row? 'tail -n +{}' leaves it out", line + 1);
  }
  /// Whether a cell of this row is a number.
  bool has_a_number() const {
    const auto separates = [&](char c) { return c == layout_.separator || (layout_.separator == ' ' && is_blank(c)); };
    for (const char* p = row_; p != file_.end() && !ends_row(*p); ++p) {
      if (p != row_ && !separates(p[-1])) continue;
      double ignored;
      while (is_padding(*p, layout_.separator)) ++p;
      if (p == file_.end() || ends_row(*p)) break;
      if (read_real<ends_cell>(p, ignored)) return true;
    }
    return false;
  }
  [[noreturn]] void refuse_length(std::int64_t found_numbers) const {
    file_.refuse(place_, fmt::format("expected {}, found {}", as_in_first(), found_numbers));
  }
  [[noreturn]] void refuse_separator() const {
    file_.refuse(
        place_, fmt::format("expected {}, found {}{}",
                            layout_.separator == '\t'  ? "a tab"
                            : layout_.separator == ';' ? "a semicolon"
                                                       : "a comma",
                            found(), layout_.separator == ';' && *place_ == ',' ? "; a comma is no decimal mark" : ""));
  }

  const InputFile& file_;
  const Layout& layout_;
  const bool allow_nonfinite_;
  const char *place_ = nullptr, *row_ = nullptr;
};

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

/// The lines of [begin, end) in so many parts of about the same size.
std::vector<const char*> split_lines(const char* begin, const char* end, std::int64_t parts) {
  std::vector<const char*> bounds(std::size_t(parts) + 1, end);
  bounds[0] = begin;
  for (std::int64_t t = 1; t < parts; ++t) {
    const char* const about = std::max(bounds[std::size_t(t - 1)], begin + (end - begin) / parts * t);
    const char* const stop = line_end(about, end);
    bounds[std::size_t(t)] = stop == end ? end : stop + 1;
  }
  return bounds;
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

FileFormat format_of_table(const InputFile& file) {
  const char* p = next_row(file.begin(), file.end(), ' ');
  const std::string_view row = row_at(p, file.end());
  if (row.find_first_of(",;") != row.npos) return FileFormat::csv;
  // Tabs beside spaces are blanks as any other.
  const std::size_t tab = row.find('\t');
  return tab == row.npos || row.find(' ') != row.npos ? FileFormat::txt : FileFormat::tsv;
}

MatrixFile read_table(const InputFile& file, FileFormat format, const ReadOptions& options) {
  const Layout layout = layout_of(file, format);
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
  RowReader careful(file, layout, options.allow_nonfinite);
  if (layout.cols > (end - layout.first_row + 1) / (2 * rows)) {
    std::vector<double> row(std::size_t(layout.cols));
    for (const char* p = layout.first_row; p != end; p = next_row(p, end, layout.separator)) {
      p = careful.read(p, row.data());
      if (p != end) ++p;
    }
  }
  if (const auto why = why_no_memory(rows, layout.cols, options.bytes_an_element); !why.empty())
    throw MachineError(message_at(file.name(), file.content(), std::size_t(layout.first_row - file.begin()), why));
  MatrixFile result{Matrix<double>(rows, layout.cols), file.name_of(layout.first_row), {}, false};

  std::vector<char> plain(counts.size());
  in_rounds(parts, options.threads, 10 * work, options.progress, [&](std::int64_t p) {
    const auto t = std::size_t(p);
    plain[t] = read_rows(bounds[t], bounds[t + 1], layout, firsts[t], result.matrix, [&](const char* at, double* x) {
      const char* const stop = read_plain_row(at, layout, x);
      return stop == end || (stop && *stop == '\n') ? stop : nullptr;
    });
  });
  if (std::count(plain.begin(), plain.end(), 0) > 0) {
    Teller tell(options.progress, end - layout.first_row);
    read_rows(layout.first_row, end, layout, 0, result.matrix, [&](const char* at, double* x) {
      tell(at - layout.first_row);
      return careful.read(at, x);
    });
  }
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
