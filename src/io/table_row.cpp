#include "io/table_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/in_rounds.hpp"
#include "io/input_error.hpp"
#include "io/table_labels.hpp"

namespace lasolve::io {
namespace {

/// What is in quotes, or nothing.
std::string_view unquoted(std::string_view cell) {
  const char first = cell.empty() ? '\0' : cell.front();
  const bool in_quotes = cell.size() > 2 && (first == '"' || first == '\'') && cell.back() == first;
  return in_quotes ? cell.substr(1, cell.size() - 2) : std::string_view();
}

bool begins_comment_of_others(std::string_view cell) {
  return cell.starts_with('!') || cell.starts_with(';') || cell.starts_with("//") || cell.starts_with("/*");
}

}  // namespace

const char* RowReader::read(const char* p, double* x) {
  place_ = row_ = p;
  end_ = row_end(p, file_.end(), layout_.separator);
  for (std::int64_t j = 0; j < layout_.cols; ++j) {
    skip_padding();
    if (at_row_end() && has_blanks_between()) refuse_length(j);
    if (at_row_end() || *place_ == layout_.separator) refuse_empty();
    field_ = place_;
    read_number(x[j]);
    skip_padding();
    if (has_blanks_between() || j + 1 == layout_.cols) continue;
    if (at_row_end()) refuse_length(j + 1);
    if (*place_ != layout_.separator)
      refuse_other_than(layout_.separator == '\t' ? "a tab" : layout_.separator == ';' ? "a semicolon" : "a comma");
    ++place_;
  }
  if (!at_row_end()) refuse_other_than("the end of the row after " + as_in_first());
  return line_end(place_, file_.end());
}

std::string RowReader::as_in_first() const {
  return fmt::format("{} number{}{}", layout_.cols, layout_.cols == 1 ? "" : "s",
                     is_first() ? "" : ", as the first row has");
}

/// What is at the place, which is not the end of the row, to the next separator, that of a text in quotes behind them.
std::string_view RowReader::cell() const {
  const char* end = place_ + 1;
  if (*place_ == '"') {
    const char* const quote = std::find(end, end_, '"');
    if (quote != end_) end = quote + 1;
  }
  while (end != end_ && *end != layout_.separator && !(has_blanks_between() && is_blank(*end))) ++end;
  while (end > place_ + 1 && is_blank(end[-1])) --end;
  return {place_, std::size_t(end - place_)};
}

std::string RowReader::found() const {
  if (place_ == file_.end()) return "the end of the file";
  if (*place_ == '\n') return "the end of the line";
  return at_row_end() ? "a comment" : quoted(cell());
}

void RowReader::read_number(double& value) {
  const char* end = read_field(place_, layout_.mark, value);
  if (!end && allow_nonfinite_) end = read_nonfinite(place_, value, ends_cell);
  if (!end) refuse_number();
  underflows_.look_at(place_, end, value);
  place_ = end;
}

bool RowReader::is_number(std::string_view text) const {
  double ignored;
  const std::string copy = std::string(text).append(readable_bytes_behind, '\0');
  return read_field(copy.c_str(), layout_.mark, ignored) == copy.c_str() + text.size();
}

/// Whether a field of this row is a number.
bool RowReader::has_a_number() const {
  const auto separates = [&](char c) { return c == layout_.separator || (has_blanks_between() && is_blank(c)); };
  for (const char* p = row_; p != end_; ++p) {
    if (p != row_ && !separates(p[-1])) continue;
    double ignored;
    while (p != end_ && is_padding(*p, layout_.separator)) ++p;
    if (p == end_) break;
    if (read_field(p, layout_.mark, ignored)) return true;
  }
  return false;
}

/// Whether this row begins with an empty field, and the others are names, or 0, 1, 2, … as pandas names columns without one.
bool RowReader::is_header_of_pandas() const {
  if (!is_first() || place_ != row_) return false;
  std::int64_t next = 0;
  double value;
  for (const char* p = place_; p != end_ && *p == layout_.separator; ++next) {
    const char* const stop = read_field(p + 1, layout_.mark, value);
    if (!stop || value != double(next)) return !has_a_number();
    p = stop;
    while (p != end_ && is_padding(*p, layout_.separator)) ++p;
  }
  return true;
}

/// Whether this row begins with a semicolon that separates nothing in the next.
bool RowReader::is_comment_of_others() const {
  if (*place_ != ';' || !is_first() || place_ != row_ || has_a_number()) return false;
  const char* const stop = line_end(row_, file_.end());
  if (stop == file_.end()) return true;
  const char* const next = next_row(stop + 1, file_.end(), layout_.separator);
  const std::string_view below(next, std::size_t(row_end(next, file_.end(), layout_.separator) - next));
  return below.starts_with(';') || below.find(';') == below.npos;
}

std::string RowReader::without_header(bool has_index) const {
  return command_without({.header = true, .index = has_index}, file_, layout_);
}

void RowReader::refuse_number() const {
  const std::string_view text = cell();
  file_.refuse(place_, explain_bad_real(text, layout_.mark) + hint(text));
}

void RowReader::refuse_empty() const {
  file_.refuse(place_, "expected a number, found an empty field" + hint_of_empty());
}

std::string RowReader::hint_of_empty() const {
  if (is_comment_of_others()) return "; is it a comment? that begins with # or %";
  if (is_header_of_pandas()) {
    const bool has_index = has_index_below_first(file_, layout_);
    return fmt::format(
        "; is it a header row of pandas? to_csv(..., index=False, header=False) has none; {} leaves out {}",
        without_header(has_index), has_index ? "header and index" : "the header");
  }
  return layout_.separator == '\t' ? "; --format txt takes tabs for blanks" : "";
}

/// What a field may be where a number is missing; empty where it is none of that.
const char* RowReader::hint_of_missing(std::string_view cell) const {
  if (is_error_value(cell)) return "; a spreadsheet had no number there";
  for (const char* missing : {"NA", "N/A", "n/a", "na", "null", "NULL", "None", "-", "?"})
    if (cell == missing || unquoted(cell) == missing) return "; is a value missing? a matrix has one in each place";
  return "";
}

/// What is to be said of the decimal mark of a number with marks between thousands, too.
const char* RowReader::hint_of_mark(std::string_view number) const {
  const auto thousands = thousands_of(number);
  if (!thousands || thousands->decimal == '\0' || thousands->decimal == layout_.mark) return "";
  return layout_.mark == '.' ? ", and a decimal comma only with --decimal-comma"
                             : ", and with --decimal-comma a point is no decimal mark";
}

/// What a field may be that is no number.
std::string RowReader::hint(std::string_view cell) const {
  double ignored;
  if (read_nonfinite(place_, ignored, ends_cell)) return "; --allow-nonfinite reads it";
  if (std::string missing = hint_of_missing(cell); !missing.empty()) return missing;
  if (const std::string_view inner = unquoted(cell); !inner.empty()) {
    if (is_number(inner)) return "; numbers stand without quotes, which tr -d '\"' takes away";
    if (thousands_of(inner))
      return fmt::format("; numbers stand without quotes and have no marks between thousands{}", hint_of_mark(inner));
    if (decimal_commas_of(inner).are_there)
      return "; numbers stand without quotes, and have a decimal comma only with --decimal-comma";
  }
  if (thousands_of(cell)) return hint_of_mark(cell);
  const std::size_t hash = cell.find('#');
  if (hash != cell.npos && hash > 0 && is_number(cell.substr(0, hash))) return "; a comment begins behind a blank";
  return is_first() ? hint_of_first_row(cell) : "";
}

std::string RowReader::hint_of_first_row(std::string_view cell) const {
  if (begins_comment_of_others(cell)) return "; is it a comment? that begins with # or %";
  if (!begins_name(cell.front())) return "";
  if (has_a_number())
    return place_ != row_ ? ""
                          : fmt::format("; does a name stand before each row? {} leaves it out",
                                        command_without({.index = true}, file_, layout_));
  const bool has_index = has_index_below_first(file_, layout_);
  return fmt::format("; is it a header row? {} leaves {} out", without_header(has_index),
                     has_index ? "header and index" : "it");
}

void RowReader::refuse_length(std::int64_t found_numbers) const {
  file_.refuse(place_, fmt::format("expected {}, found {}", as_in_first(), found_numbers));
}

/// Where a comma stands behind a number, or numbers with commas do, a person may mean decimals; where three digits do, thousands.
void RowReader::refuse_other_than(const std::string& expected) {
  const char* const behind = std::exchange(place_, field_);
  if (thousands_of(cell())) refuse_number();
  place_ = behind;
  const std::string_view row(row_, std::size_t(end_ - row_));
  DecimalCommas commas;
  if (layout_.mark == '.')
    commas = layout_.separator == ',' ? decimal_commas_of(row) : DecimalCommas{.are_there = *place_ == ','};
  file_.refuse(place_, fmt::format("expected {}, found {}{}{}", expected, found(),
                                   commas.are_there ? "; --decimal-comma takes a comma for the decimal mark" : "",
                                   commas.beside_thousands ? ", and numbers have no marks between thousands" : ""));
}

}  // namespace lasolve::io
