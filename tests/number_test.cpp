#include "io/number.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <random>

namespace lasolve::io {
namespace {

const std::string zeros(readable_bytes_behind, '\0');

/// What read_real makes of the text, or a signalling pattern that no test expects when it refuses it or stops early.
std::uint64_t bits_of(const std::string& text, const char* (*read)(const char*, double&) = read_real) {
  constexpr std::uint64_t refused = 0x7FF4DEADDEADDEAD;
  const std::string padded = text + zeros;
  double value = 0;
  return read(padded.data(), value) == padded.data() + text.size() ? std::bit_cast<std::uint64_t>(value) : refused;
}

bool refused(const std::string& text, const char* (*read)(const char*, double&) = read_real) {
  double value = 0;
  return read((text + zeros).data(), value) == nullptr;
}

std::uint64_t expected_bits(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return std::bit_cast<std::uint64_t>(value);
}

TEST(Number, ReadsEveryForm) {
  const struct {
    const char* text;
    double value;
  } cases[] = {
      {"0", 0.0},
      {"-0", -0.0},
      {"+1.0", 1.0},
      {"1.", 1.0},
      {".5", 0.5},
      {"-.5e1", -5.0},
      {"1.0D+02", 100.0},
      {"1d2", 100.0},
      {"1.0-103", 1e-103},
      {"-.25+100", -2.5e99},
      {"1.-005", 1e-5},
      {"12345678901234567890123.5-003", 12345678901234567890.1235},
      {"1E-2", 0.01},
      {"1e00000000000000000002", 100.0},
      {"0e99999999999999999999", 0.0},
      {"000000000000000000000000000001.5", 1.5},
      {"0.00000000000000000000000000000000000000001e+41", 1.0},
      {"1000000000000000000000000000000000000000000e-42", 1.0},
      {"9007199254740993", 9007199254740992.0},
      {"9007199254740993.0000000000000000000000000000000001", 9007199254740994.0},
      {"18446744073709551615", 18446744073709551616.0},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"1.7976931348623158e308", 1.7976931348623157e308},
      {"2.2250738585072014e-308", 2.2250738585072014e-308},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"4.9e-324", 4.9406564584124654e-324},
      {"2e-324", 0.0},
      {"-1e-400", -0.0},
      {"1e-99999999999999999999", 0.0},
      {"1D-99999", 0.0},
  };
  for (const auto& c : cases) EXPECT_EQ(bits_of(c.text), std::bit_cast<std::uint64_t>(c.value)) << c.text;
}

TEST(Number, RefusesWhatIsNone) {
  for (const char* text : {"",
                           "+",
                           "-",
                           ".",
                           "-.",
                           "e5",
                           "1e",
                           "1e+",
                           "--1",
                           "+-1",
                           "1.2.3",
                           "1..",
                           "1,5",
                           "0x10",
                           "1.0abc",
                           "1.0+10",
                           "1+100",
                           "1.0-1034",
                           "nan",
                           "inf",
                           "1_000",
                           "1f",
                           "1e5.0",
                           "1e999",
                           "-1e309",
                           "1.7976931348623159e308",
                           "1e99999999999999999999",
                           "%",
                           "1%",
                           "\xE2\x88\x92"
                           "1",
                           "1\x01",
                           "1;"})
    EXPECT_TRUE(refused(text)) << text;
}

TEST(Number, ReadsIntegersThatAreExact) {
  EXPECT_EQ(bits_of("-12", read_integer), std::bit_cast<std::uint64_t>(-12.0));
  EXPECT_EQ(bits_of("+0000000000000000000000007", read_integer), std::bit_cast<std::uint64_t>(7.0));
  EXPECT_EQ(bits_of("9007199254740992", read_integer), std::bit_cast<std::uint64_t>(9007199254740992.0));
  EXPECT_EQ(bits_of("9007199254740994", read_integer), std::bit_cast<std::uint64_t>(9007199254740994.0));
  EXPECT_EQ(bits_of("9223372036854775808", read_integer), std::bit_cast<std::uint64_t>(9223372036854775808.0));
  for (const char* text : {"9007199254740993", "18446744073709551615", "18446744073709551616",
                           "99999999999999999999999", "1.5", "1.0", "1e3", "", "-", "x", "1x"})
    EXPECT_TRUE(refused(text, read_integer)) << text;
}

TEST(Number, ReadsNonfinite) {
  for (const char* text : {"nan", "NaN", "-NAN", "+nan"}) {
    double value = 0;
    EXPECT_NE(read_nonfinite((text + zeros).data(), value), nullptr);
    EXPECT_TRUE(std::isnan(value)) << text;
  }
  for (const char* text : {"inf", "Infinity", "+INF"})
    EXPECT_EQ(bits_of(text, read_nonfinite), std::bit_cast<std::uint64_t>(double(INFINITY))) << text;
  EXPECT_EQ(bits_of("-inf", read_nonfinite), std::bit_cast<std::uint64_t>(-double(INFINITY)));
  for (const char* text : {"na", "infi", "nano", "1", ""}) EXPECT_TRUE(refused(text, read_nonfinite)) << text;
}

TEST(Number, KnowsWhatUnderflows) {
  const auto keeps_digits = [](const std::string& text) { return !refused(text, read_real<ends_number, '.', true>); };
  Underflows seen;
  const auto underflows = [&](const std::string& text) {
    const std::string padded = text + zeros;
    const std::int64_t before = seen.numbers;
    double value = 0;
    const char* const end = read_real(padded.data(), value);
    seen.look_at(padded.data(), end, value);
    return seen.numbers > before;
  };
  for (const char* text : {"1e-320", "-1e-400", "1.0-310", "0.01d-307", "-0.000000000000000000000001e-300"})
    EXPECT_TRUE(!keeps_digits(text) && underflows(text)) << text;
  EXPECT_EQ(seen.numbers, 5);
  EXPECT_EQ(seen.zeros, 2);
  for (const char* text : {"0", "-0.0", "0e-400", "0.0-310", "0.0000000000000000000000", "2.3e-308", "-1e308", "10"})
    EXPECT_TRUE(keeps_digits(text) && !underflows(text)) << text;
}

TEST(Number, ReadsDoublesBackInEveryFormat) {
  std::mt19937_64 random(1);
  for (int k = 0; k < 300000; ++k) {
    const double x = std::bit_cast<double>(random());
    if (!std::isfinite(x)) continue;
    for (const std::string& text : {fmt::format("{}", x), fmt::format("{:.16e}", x), fmt::format("{:.17e}", x)})
      ASSERT_EQ(bits_of(text), std::bit_cast<std::uint64_t>(x)) << text;
    const std::string rounded = fmt::format("{:.{}e}", x, random() % 25);
    if (std::abs(x) > 1e308) continue;  // may be rounded to what overflows
    ASSERT_EQ(bits_of(rounded), expected_bits(rounded)) << rounded;
  }
  std::uniform_real_distribution<double> entry(-1, 1);
  for (int k = 0; k < 300000; ++k) {
    const double x = entry(random) * std::pow(10.0, double(k % 12) - 6);
    for (const std::string& text : {fmt::format("{}", x), fmt::format("{:.15f}", x), fmt::format("{:.6g}", x)})
      ASSERT_EQ(bits_of(text), expected_bits(text)) << text;
  }
}

TEST(Number, RoundsAsFromCharsDoes) {
  std::mt19937_64 random(2);
  for (int k = 0; k < 1000000; ++k) {
    std::string text = std::to_string(random() >> random() % 64);
    if (random() % 2) text.insert(text.begin() + std::ptrdiff_t(random() % (text.size() + 1)), '.');
    if (random() % 4) text += fmt::format("e{}", int(random() % 640) - 340);
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) continue;
    ASSERT_EQ(bits_of(text), std::bit_cast<std::uint64_t>(value)) << text;
  }
}

TEST(Number, RoundsTiesToEven) {
  std::mt19937_64 random(3);
  for (int k = 0; k < 200000; ++k) {
    // Halfway between two doubles of 53 bits: integers, and quarters and eighths written out; and their neighbours.
    const std::uint64_t odd = (random() >> 11 | 1ull << 52) * 2 + 1;
    for (const std::uint64_t w : {odd - 1, odd, odd + 1, odd << 3, (odd << 3) + 1, (odd << 3) - 1})
      for (const std::string& text : {std::to_string(w), fmt::format("{}.5", w), fmt::format("{}e1", w),
                                      fmt::format("{}e22", w), fmt::format("{}e-3", w * 5), fmt::format("{}e-1", w)})
        ASSERT_EQ(bits_of(text), expected_bits(text)) << text;
  }
  // The largest double, halfway to what would be the next: overflow is decided by the same rounding.
  EXPECT_EQ(bits_of("1.797693134862315807e308"), std::bit_cast<std::uint64_t>(1.7976931348623157e308));
  EXPECT_TRUE(refused("1.797693134862315808e308"));
}

TEST(Number, ExplainsWhatIsWrong) {
  const struct {
    const char *token, *message;
  } reals[] = {
      {"1e999", R"(expected a number in the range of a double, found "1e999")"},
      {"NaN", R"(expected a finite number, found "NaN")"},
      {"-1.#IND", R"(expected a finite number, found "-1.#IND")"},
      {"1,5", R"(expected a number, found "1,5"; a comma is neither a decimal mark nor a separator)"},
      {"0x1p3", R"(expected a number, found "0x1p3"; hexadecimal is not supported)"},
      {"1.0+10", R"(expected a number, found "1.0+10"; an exponent needs its letter, as in 1.0e+100)"},
      {"1+100", R"(expected a number, found "1+100"; an exponent needs its letter, as in 1.0e+100)"},
      {"1.0+999", R"(expected a number in the range of a double, found "1.0+999")"},
      {"-4,000.5", R"(expected a number, found "-4,000.5"; numbers have no marks between thousands)"},
      {"1,000,000", R"(expected a number, found "1,000,000"; numbers have no marks between thousands)"},
      {"1,000", R"(expected a number, found "1,000"; a comma is neither a decimal mark nor a separator)"},
      {"1e", R"(expected a number, found "1e"; its exponent has no digits)"},
      {"1.0abc", R"(expected a number, found "1.0abc")"},
      {"\x01", R"(expected a number, found "\x01")"},
  };
  for (const auto& c : reals) EXPECT_EQ(explain_bad_real(c.token), c.message);
  EXPECT_EQ(explain_bad_integer("1.5"), R"(expected an integer, as the banner says, found "1.5")");
  EXPECT_EQ(explain_bad_integer("9007199254740993"),
            R"(expected an integer that a double holds exactly, found "9007199254740993")");
  EXPECT_EQ(explain_bad_integer("x"), R"(expected a number, found "x")");
  EXPECT_NO_THROW(explain_bad_real(std::string(10'000'000, '7')));
}

}  // namespace
}  // namespace lasolve::io
