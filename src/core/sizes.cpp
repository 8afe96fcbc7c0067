#include "core/sizes.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace lasolve {
namespace {

/// The whole of a text as a number.
template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, e] = std::from_chars(text.data(), end, value);
  return e == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

std::optional<std::int64_t> times(std::optional<std::int64_t> a, std::int64_t b) {
  std::int64_t product;
  if (!a || __builtin_mul_overflow(*a, b, &product)) return std::nullopt;
  return product;
}

std::optional<std::int64_t> power(std::string_view base, std::string_view exponent) {
  const auto b = number<std::int64_t>(base), e = number<std::int64_t>(exponent);
  if (!b || !e || *e < 0 || *e > 63) return std::nullopt;
  std::optional<std::int64_t> value = 1;
  for (std::int64_t k = 0; k < *e; ++k) value = times(value, *b);
  return value;
}

}  // namespace

std::optional<std::int64_t> whole_number(std::string_view text) {
  if (text.find_first_of("0123456789") == text.npos) return std::nullopt;  // such as inf
  if (const std::size_t caret = text.find('^'); caret != text.npos)
    return power(text.substr(0, caret), text.substr(caret + 1));
  constexpr std::string_view units = "kmg";
  if (const auto unit = units.find(char(text.back() | 0x20)); unit != units.npos)
    return times(number<std::int64_t>(text.substr(0, text.size() - 1)), std::int64_t(1024) << 10 * unit);
  if (text.find_first_of("eE") == text.npos) return number<std::int64_t>(text);
  const auto value = number<double>(text);
  constexpr double beyond = 0x1p53;  // where doubles are no longer all of the whole numbers
  if (!value || std::abs(*value) > beyond || *value != std::floor(*value)) return std::nullopt;
  return std::int64_t(*value);
}

std::string in_bytes(double bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{:.0f} bytes", bytes);
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1023.95 && unit + 1 < units.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.1f} {}", bytes, units[unit]);
}

}  // namespace lasolve
