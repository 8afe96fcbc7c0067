// Decimal numbers as Matrix Market files write them, read at memory-like speed and rounded correctly.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace lasolve::io {

/// Bytes that must be readable behind a number: digits are looked at eight at a time.
inline constexpr std::size_t readable_bytes_behind = 8;

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// A byte that may stand between two numbers: space, tab, CR, LF.
inline bool is_blank(char c) { return c == '\n' || c == ' ' || c == '\t' || c == '\r'; }

/// A number ends at a blank or at the zero byte that follows the text. A zero byte inside the text becomes the next
/// token, and is refused there.
inline bool ends_number(char c) { return is_blank(c) || c == '\0'; }

/// In a table a separator ends it, too.
inline bool ends_cell(char c) { return ends_number(c) || c == ',' || c == ';'; }

/// Appends the digits at p to w, modulo 2^64. Returns the first byte that is not a digit.
const char* read_digits(const char* p, std::uint64_t& w);

/// Reads [+-] digits [. digits] [(e|E|d|D) [+-] digits], with a digit on at least one side of the point, to the nearest
/// double. An exponent of three digits behind a point may lack its letter, as Fortran writes 1.0-103. `mark` stands for the
/// point. Returns the end of the number, or null when there is none, when it runs on into other bytes, or when it
/// overflows. What underflows is read as the nearest number, zero included.
/// `keeps_digits`: null also for what underflows.
template <auto ends = ends_number, char mark = '.', bool keeps_digits = false>
const char* read_real(const char* p, double& value);

/// Numbers below 2.2e-308 and other than zero: a double has fewer digits there, or is 0.
struct Underflows {
  std::int64_t numbers = 0, zeros = 0;
  const char* first = nullptr;

  /// Counts the number in [begin, end), if it is one that was read as `value`.
  void look_at(const char* begin, const char* end, double value) {
    if (value > -least_normal && value < least_normal) count(begin, end, value);
  }

  static constexpr double least_normal = 2.2250738585072014e-308;

 private:
  void count(const char* begin, const char* end, double value);
};

/// Reads [+-] digits. Null also when the integer is not exact as a double or does not fit 64 bits.
const char* read_integer(const char* p, double& value);

/// Reads nan, nan(…), inf or infinity, with or without a sign, in any case, and 1.#INF, 1.#IND, 1.#QNAN and 1.#SNAN of older C
/// libraries, which zeros may follow. Null when it is none of them.
const char* read_nonfinite(const char* p, double& value);
const char* read_nonfinite(const char* p, double& value, bool (*ends)(char));

/// Says what is wrong with a token that read_real or read_integer refused: "expected a number, found …".
std::string explain_bad_real(std::string_view token, char mark = '.');
std::string explain_bad_integer(std::string_view token);

/// A number whose digits stand in groups of three.
struct Thousands {
  char decimal;  ///< its decimal mark, . or ,; 0: it has none
};
/// Such as 4,000.5 and 4.000,5, 1'000'000 and 4 000, also with the blanks of Unicode. One comma or point alone may be meant for a decimal mark.
std::optional<Thousands> thousands_of(std::string_view token);

/// The w·10^q that is nearest, for w in 1 … 2^64 - 1. Returns a negative number when it would be subnormal, overflow,
/// or q is outside the table; the caller then takes the slow way.
double nearest_double(std::uint64_t w, std::int64_t q);

namespace detail {

/// The leading 128 bits of 5^q.
struct PowerOfFive {
  std::uint64_t high, low;
};
inline constexpr std::int64_t least_power = -342, greatest_power = 308;
extern const std::array<PowerOfFive, greatest_power - least_power + 1> powers_of_five;

/// The number in [begin, end), which has the form that read_real reads but for its sign, by std::from_chars.
double slow_real(const char* begin, const char* end);

/// Whether a number, without its sign, has a digit other than 0 before its exponent.
bool is_not_zero(const char* begin, const char* end);

inline std::uint64_t load8(const char* p) {
  static_assert(std::endian::native == std::endian::little, "digits are read in little-endian order");
  std::uint64_t x;
  std::memcpy(&x, p, 8);
  return x;
}

/// A set top bit in each byte that is not a digit; bytes after the first such byte may be wrong.
inline std::uint64_t not_digits(std::uint64_t x) {
  return ((x + 0x4646464646464646) | (x - 0x3030303030303030)) & 0x8080808080808080;
}

/// The value of eight digits; a zero byte counts as the digit 0.
inline std::uint64_t value_of_8_digits(std::uint64_t x) {
  x = (x & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;                // pairs: 10·a + b, 2561 = 10·2^8 + 1
  x = (x & 0x00FF00FF00FF00FF) * 6553601 >> 16;            // fours: 100·a + b
  return (x & 0x0000FFFF0000FFFF) * 42949672960001 >> 32;  // 10000·a + b
}

inline constexpr std::array<std::uint64_t, 8> powers_of_ten = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};

}  // namespace detail

inline const char* read_digits(const char* p, std::uint64_t& w) {
  std::uint64_t x = detail::load8(p), stop;
  for (; (stop = detail::not_digits(x)) == 0; x = detail::load8(p)) {
    w = w * 100000000 + detail::value_of_8_digits(x);
    p += 8;
  }
  const int bits = std::countr_zero(stop) - 7;  // 8 for each digit that is left, of which there may be none
  w = w * detail::powers_of_ten[std::size_t(bits / 8)] + detail::value_of_8_digits(x << 1 << (63 - bits));
  return p + bits / 8;
}

// Eisel-Lemire: D. Lemire, "Number parsing at a gigabyte per second", Software: Practice and Experience 51 (2021);
// that two products always decide is shown in N. Mushtak and D. Lemire, "Fast number parsing without fallback" (2023).
inline double nearest_double(std::uint64_t w, std::int64_t q) {
  using namespace detail;
  __extension__ using Uint128 = unsigned __int128;
  if (q < least_power || q > greatest_power) return -1;
  const int zeros = std::countl_zero(w);
  w <<= zeros;
  const PowerOfFive& power = powers_of_five[std::size_t(q - least_power)];
  Uint128 product = Uint128(w) * power.high;
  // 53 bits, one to round by and one that normalizing may take are needed; they are certain unless all that follow
  // could still carry.
  if ((std::uint64_t(product >> 64) & 0x1FF) == 0x1FF) product += Uint128(w) * power.low >> 64;
  const std::uint64_t high = std::uint64_t(product >> 64), low = std::uint64_t(product);
  const int top = int(high >> 63);
  std::uint64_t mantissa = high >> (top + 9);
  // floor(log2(10^q)) = floor(217706·q / 2^16) on the table's range
  const std::int64_t exponent = (217706 * q >> 16) + 63 + top - zeros + 1023;
  if (exponent <= 0) return -1;
  // A tie goes to even; 5^q times a 64-bit integer can only be a tie where q is this small.
  if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << (top + 9) == high) mantissa -= 1;
  mantissa = (mantissa + (mantissa & 1)) >> 1;  // may reach 2^53, which then carries into the exponent as it should
  const std::uint64_t bits = (std::uint64_t(exponent - 1) << 52) + mantissa;
  return bits < 0x7FF0000000000000 ? std::bit_cast<double>(bits) : -1;
}

template <auto ends, char mark, bool keeps_digits>
const char* read_real(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  std::uint64_t w = 0;
  const char* const digits = p;
  while (is_digit(*p)) w = 10 * w + std::uint64_t(*p++ - '0');
  std::int64_t count = p - digits, q = 0;
  const bool has_mark = *p == mark;
  if (has_mark) {
    const char* const fraction = ++p;
    p = read_digits(p, w);
    q = fraction - p;
    count -= q;
  }
  if (count == 0) return nullptr;
  bool plain = count <= 19;  // w did not overflow
  const char letter = char(*p | 0x20);
  const bool has_letter = letter == 'e' || letter == 'd';
  if (has_letter || (has_mark && (*p == '-' || *p == '+'))) {
    p += has_letter;
    const bool below = *p == '-';
    p += below || *p == '+';
    const char* const exponent = p;
    std::int64_t e = 0;
    for (; is_digit(*p); ++p) {
      e = 10 * e + (*p - '0');
      if (e < 10000) continue;
      plain = false;
      e = 0;
    }
    constexpr std::ptrdiff_t digits_without_letter = 3;
    if (has_letter ? p == exponent : p - exponent != digits_without_letter) return nullptr;
    q += below ? -e : e;
  }
  if (!ends(*p)) return nullptr;
  if (plain && w == 0) {
    value = 0.0;
  } else if (double x; plain && (x = nearest_double(w, q)) >= 0) {
    value = x;
  } else {
    value = detail::slow_real(digits, p);
    if (value > 1.7976931348623157e308) return nullptr;
    if (keeps_digits && value < Underflows::least_normal && detail::is_not_zero(digits, p)) return nullptr;
  }
  if (negative) value = -value;
  return p;
}

}  // namespace lasolve::io
