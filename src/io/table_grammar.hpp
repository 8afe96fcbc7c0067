// What a table of numbers is, as text.
//
//   row        fields with a separator between each two, up to the end of the line; all rows have as many
//   separator  of the whole file, as its first row shows: a semicolon, a comma, or one tab; else blanks
//   field      a number, with blanks around it, and with tabs where they do not separate
//   comment    a line that begins with # or %. In a line behind a row: # behind a blank, and what follows. Where a field is expected
//              behind a semicolon, comma or tab, and within a word, a # is part of the field; and #N/A, #DIV/0! and the like, which
//              spreadsheets write in place of a number, are fields everywhere
//
// Empty lines do not count, nor does a first line such as sep=; which spreadsheets write for each other.
#pragma once

#include <cstdint>
#include <string_view>

#include "io/file_format.hpp"

namespace lasolve::io {

/// What a table is: where it begins, what is between two of its numbers, where a space stands for blanks of any length, and the
/// decimal mark of a number.
struct Layout {
  const char* first_row;
  char separator, mark;
  std::int64_t cols;
};

/// Throws InputError where there is no row.
Layout layout_of(const InputFile& file, FileFormat format, bool decimal_comma);

/// Blanks that count for nothing: tabs do where they separate.
inline bool is_padding(char c, char separator) { return c == ' ' || c == '\r' || (c == '\t' && separator != '\t'); }

/// The next row at or behind p, which begins a line; `end` where there is none.
const char* next_row(const char* p, const char* end, char separator);

/// The end of the row at p: that of its line, or where a comment begins.
const char* row_end(const char* p, const char* end, char separator);

/// Whether a word is what spreadsheets write in place of a number, such as #N/A, #DIV/0!, #NAME? or #WERT!.
bool is_error_value(std::string_view word);

/// Whether the words of a row are numbers with a decimal comma, such as 4,0 and 4.000,5, and blanks are between them.
struct DecimalCommas {
  bool are_there = false, beside_thousands = false;
};
DecimalCommas decimal_commas_of(std::string_view row);

/// Whether each row is two integers and a comma, such as 1,5, and so may be meant for one number.
bool may_have_decimal_commas(const Layout&, const char* end);

}  // namespace lasolve::io
