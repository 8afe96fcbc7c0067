#include "io/matrix_market_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "io/input_error.hpp"
#include "io/matrix_file.hpp"
#include "io/number.hpp"

namespace lasolve::io {
namespace {

constexpr std::int64_t most = 999'999'999'999'999'999;

bool same_word(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return x == y || (x >= 'A' && x <= 'Z' && (x | 0x20) == y); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

std::string listed(std::span<const std::string_view> words) {
  std::string list(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) list.append(i + 1 < words.size() ? ", " : " or ").append(words[i]);
  return list;
}

/// Reads one of `words`, in any case, and returns which. A word of the standard that we do not read is named as such.
std::size_t read_word(Scanner& scanner, std::span<const std::string_view> words, std::string_view unsupported) {
  const std::string_view token = scanner.token();
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!same_word(token, words[i])) continue;
    scanner.place += token.size();
    scanner.skip_blanks_in_line();
    return i;
  }
  if (same_word(token, unsupported))
    scanner.refuse(
        fmt::format("expected {}, found {}: {} is not supported", listed(words), quoted(token), unsupported));
  scanner.refuse_other_than(listed(words));
}

void expect_line_end(const Scanner& scanner) {
  if (!scanner.at_line_end()) scanner.refuse_other_than("the end of the line");
}

/// What stands before the banner may be blank, and it may have one % only.
void read_banner(Scanner& scanner, MatrixMarketHeader& header) {
  constexpr std::string_view banner[] = {"%%matrixmarket", "%matrixmarket"}, objects[] = {"matrix"},
                             formats[] = {"array", "coordinate"}, fields[] = {"real", "integer", "pattern"},
                             symmetries[] = {"general", "symmetric", "skew-symmetric"};
  while (is_blank(*scanner.place)) ++scanner.place;
  if (!same_word(scanner.token(), banner[0]) && !same_word(scanner.token(), banner[1]))
    scanner.refuse_other_than("the banner %%MatrixMarket matrix array|coordinate ..., or a .npy file");
  read_word(scanner, banner, "");
  read_word(scanner, objects, "vector");
  header.format = Format(read_word(scanner, formats, ""));

  const Scanner field = scanner;
  header.field = Field(read_word(scanner, fields, "complex"));
  if (header.field == Field::pattern && header.format == Format::array)
    field.refuse("expected real or integer, found \"pattern\": only a coordinate file can be a pattern");

  const Scanner symmetry = scanner;
  header.symmetry = Symmetry(read_word(scanner, symmetries, "hermitian"));
  if (header.symmetry == Symmetry::skew_symmetric && header.field == Field::pattern)
    symmetry.refuse("expected general or symmetric, found \"skew-symmetric\": a pattern has no signs");
  expect_line_end(scanner);
}

/// Goes behind a number. Refuses what is none, but at the end of the file, which may cut one off.
void skip_number(Scanner& scanner) {
  const std::string_view token = scanner.token();
  double ignored;
  const bool is_last = token.data() + token.size() == scanner.file.end();
  if (!is_last && !read_real(scanner.place, ignored) && !read_nonfinite(scanner.place, ignored))
    scanner.refuse(explain_bad_real(token));
  scanner.place += token.size();
}

/// Refuses a file that ends too early, before memory is allocated for it; or its first word where a number belongs. A value
/// takes two bytes at least, with what separates it from the next, and an entry two more for each index.
void refuse_what_is_too_short(Scanner scanner, const MatrixMarketHeader& header) {
  const std::int64_t least = header.format == Format::array ? 2 : header.field == Field::pattern ? 4 : 6;
  const auto left = scanner.file.end() - scanner.place;
  if (header.stored <= (left + 1) / least) return;
  std::int64_t found = 0;
  for (scanner.skip_to_data(); !scanner.at_end(); scanner.skip_to_data(), ++found) {
    do skip_number(scanner), scanner.skip_blanks_in_line();
    while (header.format == Format::coordinate && !scanner.at_line_end());
  }
  refuse_missing(scanner, header, found);
}

}  // namespace

std::string counted(std::int64_t count, Format format) {
  const char* const things = format == Format::array ? "values" : "entries";
  const char* const thing = format == Format::array ? "value" : "entry";
  return fmt::format("{} {}", count, count == 1 ? thing : things);
}

void refuse_missing(const Scanner& end, const MatrixMarketHeader& header, std::int64_t found) {
  const std::string expected = counted(header.stored, header.format);
  end.refuse(fmt::format("expected {}, found the end of the file after {}", expected, found));
}

MatrixMarketHeader read_header(Scanner& scanner) {
  MatrixMarketHeader header{};
  read_banner(scanner, header);
  scanner.skip_to_data();
  const Scanner sizes = scanner;
  header.rows = scanner.read_count(0, most, "a number of rows");
  const Scanner cols = scanner;
  header.cols = scanner.read_count(0, most, "a number of columns");
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    cols.refuse(fmt::format("expected {} columns, as a symmetric matrix has as many as rows, found {}", header.rows,
                            header.cols));
  if (const auto why = why_not_addressable(header.rows, header.cols); !why.empty()) sizes.refuse(why);

  if (header.format == Format::coordinate)
    header.stored = scanner.read_count(0, most, "a number of entries");
  else if (header.symmetry == Symmetry::general)
    header.stored = header.rows * header.cols;
  else
    header.stored = header.rows * (header.rows + (header.symmetry == Symmetry::symmetric ? 1 : -1)) / 2;
  expect_line_end(scanner);
  refuse_what_is_too_short(scanner, header);
  header.place = sizes.place;
  return header;
}

}  // namespace lasolve::io
