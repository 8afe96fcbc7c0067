// Decimal numbers as Matrix Market files write them, rounded correctly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lasolve::io {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// A byte that may stand between two numbers: space, tab, CR, LF.
inline bool is_blank(char c) { return c == '\n' || c == ' ' || c == '\t' || c == '\r'; }

/// A number ends at a blank or at the zero byte that follows the text. A zero byte inside the text becomes the next
/// token, and is refused there.
inline bool ends_number(char c) { return is_blank(c) || c == '\0'; }

/// In a table a separator ends it, too.
inline bool ends_cell(char c) { return ends_number(c) || c == ',' || c == ';'; }

/// Appends the digits at p to w, modulo 2^64. Returns the first byte that is not a digit.
inline const char* read_digits(const char* p, std::uint64_t& w) {
  for (; is_digit(*p); ++p) w = 10 * w + std::uint64_t(*p - '0');
  return p;
}

/// Reads [+-] digits [. digits] [(e|E|d|D) [+-] digits], with a digit on at least one side of the point, to the nearest
/// double. An exponent of three digits behind a point may lack its letter, as Fortran writes 1.0-103. `mark` stands for the
/// point. Returns the end of the number, or null when there is none, when it runs on into other bytes, or when it
/// overflows. What underflows is read as the nearest number, zero included.
template <auto ends = ends_number, char mark = '.'>
const char* read_real(const char* p, double& value);

/// Reads [+-] digits. Null also when the integer is not exact as a double or does not fit 64 bits.
const char* read_integer(const char* p, double& value);

/// Reads nan, nan(…), inf or infinity, with or without a sign, in any case, and 1.#INF, 1.#IND, 1.#QNAN and 1.#SNAN of older C
/// libraries, which zeros may follow. Null when it is none of them.
const char* read_nonfinite(const char* p, double& value);
const char* read_nonfinite(const char* p, double& value, bool (*ends)(char));

/// Says what is wrong with a token that read_real or read_integer refused: "expected a number, found …".
std::string explain_bad_real(std::string_view token, char mark = '.');
std::string explain_bad_integer(std::string_view token);

/// Whether the digits of a number stand in groups of three, such as 4,000.5 and 1'000'000. One comma alone may be meant for a
/// decimal mark.
bool has_thousands(std::string_view token);

namespace detail {

/// Of the number in [begin, end), which has no sign. False where it is none, or overflows.
bool read_magnitude(const char* begin, const char* end, char mark, double& value);

}  // namespace detail

template <auto ends, char mark>
const char* read_real(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* end = p;
  for (bool has_mark = false; !ends(*end) || (*end == mark && !has_mark); ++end) has_mark |= *end == mark;
  if (!detail::read_magnitude(p, end, mark, value)) return nullptr;
  if (negative) value = -value;
  return end;
}

}  // namespace lasolve::io
