// A comparison as tables: for people, as Markdown, as CSV.
#pragma once

#include <string>
#include <vector>

#include "compare/record.hpp"

namespace lasolve::compare {

/// Text in columns, the first of each line flush left where `left` says so.
struct Table {
  struct Column {
    std::string title;
    bool left = false;
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> lines = {};
};
/// With three digits and a unit.
std::string short_seconds(double);
std::string as_text(const Table&);
std::string as_markdown(const Table&);

/// A line for each row; speed-ups are over the first of each size. With a baseline, its verdicts too.
Table table_of(const Comparison&, bool with_baseline);
/// What its columns mean, in a few lines.
std::string legend_of(const Comparison&, bool with_baseline);

/// Of each row, the time of each phase, and what would be left were GEMM free.
Table phase_table(const Comparison&);
/// Of each row, its updates: those of similar shape in one line, the largest first.
Table update_table(const Comparison&);

/// What it was measured with, and each matrix.
Table environment_table(const Comparison&, const Json& environment);

/// Numbers in full; a line for each row, with the environment in its last columns.
std::string as_csv(const Comparison&, const Json& environment = Json::object());

/// "SAME", "SLOWER +3.1 % (2.5 .. 3.8)".
std::string in_words(const bench::Change&);
/// How many times as fast a row is as another, of which it takes so much more time: "1.18 x (1.12 .. 1.25)", "1.18 x (0.90 .. 1.40), not
/// told apart".
std::string speed_up_in_words(const bench::Change& beside);
/// Of each size the rows in their order, the fastest first: which of two neighbours is faster, and which are not told apart.
std::vector<std::string> orders_of(const Comparison&);

}  // namespace lasolve::compare
