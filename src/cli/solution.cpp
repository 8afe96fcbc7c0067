#include "cli/solution.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace lasolve::cli {

namespace {

constexpr std::int64_t most_rows = 24, most_cols = 6;  // that a terminal shows at a glance

/// The first and the last few of [0, length), with −1 for those between them.
std::vector<std::int64_t> head_and_tail(std::int64_t length, std::int64_t most) {
  std::vector<std::int64_t> all;
  const std::int64_t each = length <= most ? length : most / 2 - 1;
  for (std::int64_t k = 0; k < each; ++k) all.push_back(k);
  if (length <= most) return all;
  all.push_back(-1);
  for (std::int64_t k = length - each; k < length; ++k) all.push_back(k);
  return all;
}

void print_head_and_tail(MatrixView<const double> X) {
  const auto rows = head_and_tail(X.rows(), most_rows), cols = head_and_tail(X.cols(), most_cols);
  for (const std::int64_t i : rows) {
    if (i < 0) {
      fmt::print("... {} more rows; --output FILE writes all\n", X.rows() - std::int64_t(rows.size()) + 1);
      continue;
    }
    std::string line;
    for (const std::int64_t j : cols)
      line += (line.empty() ? "" : " ") + (j < 0 ? std::string("...") : fmt::format("{}", X(i, j)));
    fmt::print("{}\n", line);
  }
}

}  // namespace

void print_solution(MatrixView<const double> X, const io::WriteOptions& options) {
  const bool as_text = options.format == io::FileFormat::automatic;
  const bool is_long = X.rows() > most_rows || X.cols() > most_cols;
  if (as_text && is_long && isatty(STDOUT_FILENO) != 0) return print_head_and_tail(X);
  std::fflush(stdout);
  io::WriteOptions to = options;
  if (as_text) to.format = io::FileFormat::txt;
  io::write_matrix("-", X, {}, to);
}

}  // namespace lasolve::cli
