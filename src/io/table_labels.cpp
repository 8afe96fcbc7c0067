#include "io/table_labels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "io/foreign.hpp"
#include "io/in_rounds.hpp"
#include "io/table_row.hpp"

namespace lasolve::io {
namespace {

/// Whether number(k) is k, or k + 1, for all k below `count`.
template <class Number>
bool counts(std::int64_t count, Number number) {
  const double first = number(0);
  if (first != 0 && first != 1) return false;
  for (std::int64_t k = 1; k < count; ++k)
    if (number(k) != first + double(k)) return false;
  return true;
}

/// What leaves out the first field of each of these rows, and leaves comments as they are. By bytes, since names may be Latin-1.
std::string filter_of_column(char separator, std::string_view rows) {
  if (separator == ' ') return "LC_ALL=C sed -E 's/^[[:blank:]]*[^#[:blank:]]+//'";
  if (rows.find_first_of("\"#%") != rows.npos)
    return fmt::format(R"(LC_ALL=C sed -E '/^[[:blank:]]*[#%]/!s/^("[^"]*"|[^{0}])*[{0}]//')",
                       separator == '\t' ? "\\t" : std::string(1, separator));
  return separator == '\t' ? "cut -f2-" : fmt::format("cut -d{} -f2-", shell_quoted({separator}));
}

/// Whether a row begins with a name. Where all of it is in quotes, these say nothing.
bool begins_with_name(std::string_view row) {
  row = row.substr(0, row.find_last_not_of(" \t\r") + 1);
  return !row.empty() && begins_name(row.front()) && !(row.front() == '"' && row.ends_with('"'));
}

}  // namespace

std::string command_without(const Labels& labels, const InputFile& file, const Layout& layout) {
  std::vector<std::string> filters;
  if (file.is_compressed()) filters.emplace_back("gzip -dc");
  if (labels.header)
    filters.push_back(fmt::format("tail -n +{}", 2 + std::count(file.begin(), layout.first_row, '\n')));
  if (labels.index) filters.push_back(filter_of_column(layout.separator, {layout.first_row, file.end()}));
  filters.front().append(1, ' ').append(shell_word(path_of(file)));
  return fmt::format("{}", fmt::join(filters, " | "));
}

bool begins_name(char first) {
  const auto c = static_cast<unsigned char>(first);
  // Of UTF-8, C2 and E2 begin blanks, dashes and the like.
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '"' || c == '_' || (c >= 0xC3 && c != 0xE2);
}

bool has_index_below_first(const InputFile& file, const Layout& layout) {
  if (layout.cols < 2) return false;
  const char separator = layout.separator;
  std::vector<double> numbers;
  std::int64_t rows = 0, names = 0;
  for (const char* p = line_end(layout.first_row, file.end()); p != file.end(); p = line_end(p, file.end()), ++rows) {
    p = next_row(p + 1, file.end(), separator);
    if (p == file.end()) break;
    while (is_padding(*p, separator)) ++p;
    double number;
    if (begins_with_name({p, row_end(p, file.end(), separator)}))
      ++names;
    else if (read_field(p, layout.mark, number))
      numbers.push_back(number);
  }
  const auto numbered = std::int64_t(numbers.size());
  const auto number = [&](std::int64_t k) { return numbers[std::size_t(k)]; };
  if (rows == 0 || (names < rows && numbered < rows)) return false;
  return names == rows || (rows > 1 && rows != layout.cols && counts(rows, number));
}

void ask_about_labels(const InputFile& file, const Layout& layout, MatrixFile& result) {
  const MatrixView<const double> A = result.matrix;
  const auto question = [&](const char* what, const char* is, const Labels& labels) {
    return fmt::format("the first {} is {}, …: is it {}? {} leaves it out", what, A(0, 0) == 0 ? "0, 1" : "1, 2", is,
                       command_without(labels, file, layout));
  };
  if (A.cols() > 1 && A.rows() > 1 && counts(A.rows(), [&](std::int64_t i) { return A(i, 0); }))
    result.question_of_index = question("column", "an index", {.index = true});
  if (A.rows() > 1 && counts(A.cols(), [&](std::int64_t j) { return A(0, j); }))
    result.question_of_header = question("row", "a header", {.header = true});
}

}  // namespace lasolve::io
