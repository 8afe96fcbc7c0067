// A place in a text file that moves from token to token, and knows lines and comments.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/in_rounds.hpp"
#include "io/input_error.hpp"
#include "io/input_file.hpp"
#include "io/number.hpp"

namespace lasolve::io {

struct Scanner {
  const InputFile& file;
  const char* place;
  Underflows underflows = {};

  bool at_end() const { return place == file.end(); }
  bool at_line_end() const { return at_end() || *place == '\n'; }

  void skip_blanks_in_line() {
    while (*place == ' ' || *place == '\t' || *place == '\r') ++place;
  }

  /// Goes to the next token that is not in a comment. A comment is a line whose first token starts with %.
  void skip_to_data() {
    for (;;) {
      while (is_blank(*place)) ++place;
      if (*place != '%' || !first_in_line()) return;
      skip_line();
    }
  }

  void skip_line() { place = line_end(place, file.end()); }

  /// The token at the place, empty at the end of a line.
  std::string_view token() const {
    const char* end = place;
    while (end != file.end() && !is_blank(*end)) ++end;
    return {place, std::size_t(end - place)};
  }

  /// The token at the place, or which end is there, for messages.
  std::string found() const {
    if (at_end()) return "the end of the file";
    return *place == '\n' ? "the end of the line" : quoted(token());
  }

  [[noreturn]] void refuse(const std::string& message) const { file.refuse(place, message); }
  [[noreturn]] void refuse_other_than(const std::string& expected) const {
    refuse("expected " + expected + ", found " + found());
  }

  /// Reads a number of digits only, in [least, greatest].
  std::int64_t read_count(std::int64_t least, std::int64_t greatest, const char* what) {
    std::uint64_t value = 0;
    const char* const end = read_digits(place, value);
    const auto digits = end - place;
    if (digits == 0 || !ends_number(*end)) refuse_other_than(what);
    if (digits > 18 || std::int64_t(value) < least || std::int64_t(value) > greatest)
      refuse_other_than(std::string(what) + " from " + std::to_string(least) + " to " + std::to_string(greatest));
    place = end;
    skip_blanks_in_line();
    return std::int64_t(value);
  }

 private:
  bool first_in_line() const {
    const char* p = place;
    while (p != file.begin() && p[-1] != '\n' && is_blank(p[-1])) --p;
    return p == file.begin() || p[-1] == '\n';
  }
};

}  // namespace lasolve::io
