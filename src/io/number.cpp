#include "io/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "io/input_error.hpp"

namespace lasolve::io {
namespace {

/// An integer of 32·N bits, least limb first; just enough of one to make the table of powers.
template <std::size_t N>
using BigInteger = std::array<std::uint32_t, N>;

template <std::size_t N>
consteval void multiply_by_5(BigInteger<N>& limbs) {
  std::uint64_t carry = 0;
  for (std::uint32_t& limb : limbs) {
    carry += std::uint64_t(limb) * 5;
    limb = std::uint32_t(carry);
    carry >>= 32;
  }
}
template <std::size_t N>
consteval void divide_by_5(BigInteger<N>& limbs) {
  std::uint64_t rest = 0;
  for (std::size_t i = N; i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = std::uint32_t(rest / 5);
    rest %= 5;
  }
}
template <std::size_t N>
consteval detail::PowerOfFive leading_128_bits(const BigInteger<N>& limbs) {
  std::size_t top = N - 1;
  while (limbs[top] == 0) --top;
  std::array<std::uint64_t, 5> l{};
  for (std::size_t i = 0; i < 5 && i <= top; ++i) l[i] = limbs[top - i];
  const int shift = std::countl_zero(std::uint32_t(l[0]));
  const auto limb = [&](std::size_t i) { return (l[i] << 32 | l[i + 1]) << shift >> 32 & 0xFFFFFFFF; };
  return {limb(0) << 32 | limb(1), limb(2) << 32 | limb(3)};
}

/// Positive powers are cut to 128 bits, negative ones are cut, or rounded up where the cut decides ties (q ≥ -27).
consteval auto make_powers_of_five() {
  std::array<detail::PowerOfFive, detail::greatest_power - detail::least_power + 1> powers{};
  const auto zero = std::size_t(-detail::least_power);
  BigInteger<26> power{1};  // 5^308 has 716 bits
  for (std::size_t q = 0; q <= std::size_t(detail::greatest_power); ++q, multiply_by_5(power))
    powers[zero + q] = leading_128_bits(power);
  BigInteger<32> reciprocal{};  // floor(2^1023 / 5^342) has 229 bits
  reciprocal[31] = 1u << 31;
  for (std::size_t q = 1; q <= zero; ++q) {
    divide_by_5(reciprocal);
    powers[zero - q] = leading_128_bits(reciprocal);
    if (q <= 27 && ++powers[zero - q].low == 0) ++powers[zero - q].high;
  }
  return powers;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c | 0x20) : c; }

/// The end of `word` at p, in any case, or null.
const char* skip_word(const char* p, std::string_view word) {
  for (const char c : word)
    if (lower(*p++) != c) return nullptr;
  return p;
}

const char* skip_zeros(const char* p) {
  while (*p == '0') ++p;
  return p;
}

/// The end of a NaN at p, without its sign, or null.
const char* skip_nan(const char* p) {
  for (const char* older : {"1.#ind", "1.#qnan", "1.#snan"})
    if (const char* const end = skip_word(p, older)) return skip_zeros(end);
  const char* const end = skip_word(p, "nan");
  if (!end || *end != '(') return end;
  const char* q = end + 1;  // what is in it says which NaN it is
  while (is_digit(*q) || (lower(*q) >= 'a' && lower(*q) <= 'z') || *q == '_') ++q;
  return *q == ')' ? q + 1 : end;
}

/// Whether a number out of range is too large for a double, rather than too small.
bool is_large(const std::string& number) {
  const std::size_t letter = std::min(number.find('e'), number.size());
  const std::size_t point = std::min(number.find('.'), letter);
  const std::size_t lead = number.find_first_of("123456789");
  const char* exponent = number.data() + letter + (letter < number.size());
  std::int64_t e = 0;
  if (std::from_chars(exponent, number.data() + number.size(), e).ec == std::errc::result_out_of_range)
    return *exponent != '-';
  return e > std::int64_t(lead) - std::int64_t(point);
}

std::string_view skip_digits(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
}

std::string_view skip_sign(std::string_view text) {
  return text.substr(text.starts_with('-') || text.starts_with('+'));
}

/// What a token looks like, whether or not it is read.
enum class Form { real, nonfinite, hexadecimal, comma, thousands, no_letter, no_exponent, other };

Form form_of(std::string token, char mark) {
  const bool has_thousands = thousands_of(token).has_value();
  for (char& c : token) c = c == mark ? '.' : mark != '.' && c == '.' ? ',' : lower(c);
  const std::string_view body = skip_sign(token);
  if (body == "nan" || body == "inf" || body == "infinity" || body.starts_with("nan(") || body.starts_with("1.#"))
    return Form::nonfinite;
  if (body.starts_with("0x")) return Form::hexadecimal;
  std::string_view rest = skip_digits(body);
  const bool digits_before = rest.size() < body.size();
  const bool has_point = rest.starts_with('.');
  if (has_point) rest = skip_digits(rest.substr(1));
  if (!digits_before && body.size() - rest.size() < 2) return Form::other;
  if (rest.empty()) return Form::real;
  if (has_thousands) return Form::thousands;
  if (rest.starts_with(',')) return Form::comma;
  const bool letter = rest.starts_with('e') || rest.starts_with('d');
  const std::string_view exponent = skip_sign(rest.substr(letter));
  if (exponent.empty()) return letter ? Form::no_exponent : Form::other;
  if (!skip_digits(exponent).empty()) return Form::other;
  return letter || (has_point && exponent.size() == 3) ? Form::real : Form::no_letter;
}

}  // namespace

namespace detail {

constinit const std::array<PowerOfFive, greatest_power - least_power + 1> powers_of_five = make_powers_of_five();

double slow_real(const char* begin, const char* end) {
  std::string number(begin, end);
  for (char& c : number) c = lower(c) == 'd' || c == 'E' ? 'e' : c == ',' ? '.' : c;
  const std::size_t sign = number.find_first_of("+-");
  if (sign != number.npos && number[sign - 1] != 'e') number.insert(sign, 1, 'e');
  const std::size_t plus = number.find("e+");  // std::from_chars reads it, but let nothing depend on that
  if (plus != number.npos) number.erase(plus + 1, 1);
  double value = 0;
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc::result_out_of_range) return value;
  return is_large(number) ? std::numeric_limits<double>::infinity() : 0.0;
}

bool is_not_zero(const char* begin, const char* end) {
  const std::string_view number(begin, end);
  return number.substr(0, number.find_first_of("eEdD+-")).find_first_of("123456789") != number.npos;
}

}  // namespace detail

void Underflows::count(const char* begin, const char* end, double value) {
  if (!detail::is_not_zero(begin + (*begin == '-' || *begin == '+'), end)) return;
  if (numbers++ == 0) first = begin;
  zeros += value == 0;
}

const char* read_integer(const char* p, double& value) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* const digits = p;
  std::uint64_t w = 0;
  p = read_digits(p, w);
  if (p == digits || !ends_number(*p)) return nullptr;
  if (p - digits > 19 && std::from_chars(digits, p, w).ec != std::errc()) return nullptr;
  value = double(w);
  if (value >= 18446744073709551616.0 || std::uint64_t(value) != w) return nullptr;
  if (negative) value = -value;
  return p;
}

const char* read_nonfinite(const char* p, double& value) { return read_nonfinite(p, value, ends_number); }

const char* read_nonfinite(const char* p, double& value, bool (*ends)(char)) {
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* end = nullptr;
  double magnitude = std::numeric_limits<double>::infinity();
  if (!(end = skip_word(p, "infinity")) && !(end = skip_word(p, "inf"))) {
    end = skip_nan(p);
    magnitude = std::numeric_limits<double>::quiet_NaN();
  }
  if (const char* const older = skip_word(p, "1.#inf")) {
    end = skip_zeros(older);
    magnitude = std::numeric_limits<double>::infinity();
  }
  if (!end || !ends(*end)) return nullptr;
  value = negative ? -magnitude : magnitude;
  return end;
}

std::optional<Thousands> thousands_of(std::string_view token) {
  const std::string_view body = skip_sign(token);
  std::string_view rest = skip_digits(body);
  const auto first = body.size() - rest.size();
  if (first < 1 || first > 3 || rest.empty()) return {};
  constexpr std::string_view marks[] = {",", ".", "'", "_", " ", "\u00a0", "\u202f", "\u2019"};
  const auto* const between =
      std::find_if(std::begin(marks), std::end(marks), [&](auto m) { return rest.starts_with(m); });
  if (between == std::end(marks)) return {};
  int groups = 0;
  for (; rest.starts_with(*between); ++groups) {
    const std::string_view digits = rest.substr(between->size()), behind = skip_digits(digits);
    if (digits.size() - behind.size() != 3) return {};
    rest = behind;
  }
  const char decimal = rest.starts_with('.') || rest.starts_with(',') ? rest.front() : '\0';
  const bool may_be_decimal = *between == "," || *between == ".";
  if (may_be_decimal && groups == 1 && decimal == '\0') return {};
  if (!skip_digits(rest.substr(decimal != '\0')).empty()) return {};
  return Thousands{decimal};
}

std::string explain_bad_real(std::string_view token, char mark) {
  const char* expected = "a number";
  const char* hint = "";
  switch (form_of(std::string(token), mark)) {
    case Form::real:
      expected = "a number in the range of a double";
      break;
    case Form::nonfinite:
      expected = "a finite number";
      break;
    case Form::hexadecimal:
      hint = "; hexadecimal is not supported";
      break;
    case Form::comma:
      hint = mark == '.' ? "; a comma is neither a decimal mark nor a separator"
                         : "; with --decimal-comma a point is no decimal mark";
      break;
    case Form::thousands:
      hint = "; numbers have no marks between thousands";
      break;
    case Form::no_letter:
      hint = "; an exponent needs its letter, as in 1.0e+100";
      break;
    case Form::no_exponent:
      hint = "; its exponent has no digits";
      break;
    case Form::other:
      break;
  }
  return fmt::format("expected {}, found {}{}", expected, quoted(token), hint);
}

std::string explain_bad_integer(std::string_view token) {
  if (form_of(std::string(token), '.') != Form::real) return explain_bad_real(token);
  const bool integer = skip_digits(skip_sign(token)).empty();
  return fmt::format("expected {}, found {}",
                     integer ? "an integer that a double holds exactly" : "an integer, as the banner says",
                     quoted(token));
}

}  // namespace lasolve::io
