// A row of a table, read field by field.
#pragma once

#include <string>
#include <string_view>

#include "io/number.hpp"
#include "io/table_grammar.hpp"

namespace lasolve::io {

/// Reads a number that ends where a field does, with the decimal mark of a table.
inline const char* read_field(const char* p, char mark, double& value) {
  return mark == ',' ? read_real<ends_cell, ','>(p, value) : read_real<ends_cell>(p, value);
}

/// Reads the rows of a table one by one, and says what is wrong with the first that is no row.
class RowReader {
 public:
  RowReader(const InputFile& file, const Layout& layout, bool allow_nonfinite)
      : file_(file), layout_(layout), allow_nonfinite_(allow_nonfinite) {}

  /// Reads the row at p. Returns the end of its line.
  const char* read(const char* p, double* x);
  /// In all rows that were read.
  const Underflows& underflows() const { return underflows_; }

 private:
  bool at_row_end() const { return place_ == end_; }
  bool has_blanks_between() const { return layout_.separator == ' '; }
  bool is_first() const { return row_ == layout_.first_row; }
  void skip_padding() {
    while (place_ != end_ && is_padding(*place_, layout_.separator)) ++place_;
  }
  std::string as_in_first() const;
  std::string_view cell() const;
  std::string found() const;
  void read_number(double& value);
  bool is_number(std::string_view text) const;
  bool has_a_number() const;
  bool is_header_of_pandas() const;
  bool is_comment_of_others() const;
  std::string without_header(bool has_index) const;
  std::string hint_of_empty() const;
  const char* hint_of_missing(std::string_view cell) const;
  const char* hint_of_mark(std::string_view number) const;
  std::string hint(std::string_view cell) const;
  std::string hint_of_first_row(std::string_view cell) const;
  [[noreturn]] void refuse_number() const;
  [[noreturn]] void refuse_empty() const;
  [[noreturn]] void refuse_length(std::int64_t found_numbers) const;
  [[noreturn]] void refuse_other_than(const std::string& expected);

  const InputFile& file_;
  const Layout& layout_;
  const bool allow_nonfinite_;
  const char *place_ = nullptr, *row_ = nullptr, *end_ = nullptr;
  Underflows underflows_;
  const char* field_ = nullptr;  ///< where the one that place_ is in, or behind, begins
};

}  // namespace lasolve::io
