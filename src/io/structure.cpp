#include "io/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lasolve::io {

std::optional<std::int64_t> Structure::column_without_pivot() const {
  if (empty_row && empty_column) return std::min(*empty_column, n - empty_rows);
  if (empty_row) return n - empty_rows;
  return empty_column;
}

std::string Structure::what_is_empty() const {
  if (empty_column) return fmt::format("column {} (counted from 0) is zero", *empty_column);
  return fmt::format("row {} (counted from 0) is zero", empty_row.value_or(0));
}

std::string Structure::advice() const {
  constexpr std::int64_t least_n = 1000, one_in = 100, narrow = 20;
  if (n < least_n || entries == 0) return "";
  const double share = 100 * double(entries) / double(n) / double(n);
  if (const std::int64_t width = below + above + 1; width * narrow <= n)
    return fmt::format(
        "all entries are within {} diagonal{} of {}: LAPACK's gbsv solves banded systems in a small part of the time "
        "and memory",
        width, width == 1 ? "" : "s", 2 * n - 1);
  if (entries > n * n / one_in) return "";
  return fmt::format(
      "{:.2g} % of the entries are not zero: sparse solvers (SuiteSparse's UMFPACK, SuperLU, MUMPS) are likely to take "
      "a small part of the time and memory",
      share);
}

void StructureGathered::add(std::int64_t i, std::int64_t j) {
  ++structure_.entries;
  structure_.below = std::max(structure_.below, i - j);
  structure_.above = std::max(structure_.above, j - i);
  row_has_entry_[std::size_t(i)] = column_has_entry_[std::size_t(j)] = true;
}

Structure StructureGathered::structure() const {
  Structure result = structure_;
  const auto first_without = [](const std::vector<bool>& has) -> std::optional<std::int64_t> {
    const auto at = std::find(has.begin(), has.end(), false);
    return at == has.end() ? std::nullopt : std::optional<std::int64_t>(at - has.begin());
  };
  result.empty_row = first_without(row_has_entry_);
  result.empty_column = first_without(column_has_entry_);
  result.empty_rows = std::count(row_has_entry_.begin(), row_has_entry_.end(), false);
  return result;
}

Structure structure_of(MatrixView<const double> A) {
  const std::int64_t n = A.cols();
  Structure result{.n = n};
  std::vector<std::int64_t> empty(static_cast<std::size_t>(n));  // rows so far
  std::iota(empty.begin(), empty.end(), 0);
  for (std::int64_t j = 0; j < n; ++j) {
    const double *const begin = A.data() + j * A.ld(), *const end = begin + n;
    const auto entries = n - std::count(begin, end, 0.0);
    result.entries += entries;
    if (entries == 0) {
      if (!result.empty_column) result.empty_column = j;
      continue;
    }
    const auto is_entry = [](double x) { return x != 0; };
    const double *first = std::find_if(begin, end, is_entry), *last = end - 1;
    while (*last == 0) --last;
    result.above = std::max(result.above, j - (first - begin));
    result.below = std::max(result.below, (last - begin) - j);
    std::erase_if(empty, [&](std::int64_t i) { return begin[i] != 0; });
  }
  result.empty_rows = std::int64_t(empty.size());
  if (!empty.empty()) result.empty_row = empty.front();
  return result;
}

}  // namespace lasolve::io
