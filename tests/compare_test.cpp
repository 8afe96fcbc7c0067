// What `lasolve compare` makes of measured rows: remarks and tables.
#include <gtest/gtest.h>

#include <algorithm>

#include "compare/attribution.hpp"
#include "compare/beside.hpp"
#include "compare/remarks.hpp"
#include "compare/tables.hpp"
#include "compare/verdict.hpp"
#include "compare/whole_matrix.hpp"
#include "made_up_rows.hpp"

namespace lasolve::compare {
namespace {

TEST(Remarks, say_which_sizes_are_too_small_and_which_would_do) {
  const auto remarks = remarks_on(comparison());
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_EQ(remarks[0], "n = 100 is too small to tell kernels apart: at most 20 % of a solve is GEMM; n = 1000 does");
  Comparison smaller_does = comparison();
  smaller_does.sizes.insert(smaller_does.sizes.begin(), {50, "uniform:n=50", "0f0f"});
  smaller_does.rows.push_back(row("slow", 50, 4, 3)), smaller_does.rows.push_back(row("fast", 50, 2, 1.2));
  EXPECT_EQ(remarks_on(smaller_does), remarks) << "one that does is larger";
  Comparison small = comparison();
  small.sizes.pop_back(), small.rows.resize(2);
  ASSERT_EQ(remarks_on(small).size(), 1u);
  EXPECT_NE(remarks_on(small)[0].find("n = 512 may do"), std::string::npos) << remarks_on(small)[0];
  for (Row& r : small.rows) r.phases = {}, r.tasks = {}, r.block_size = 100;
  EXPECT_NE(remarks_on(small)[0].find("one panel holds the matrix; n = 1024 may do"), std::string::npos)
      << remarks_on(small)[0];
  small.rows.resize(1);
  EXPECT_TRUE(remarks_on(small).empty()) << "there is nothing to tell apart";
  small.rows[0].seconds = {1, 2};
  ASSERT_EQ(remarks_on(small).size(), 1u);
  EXPECT_NE(remarks_on(small)[0].find("fewer runs than the 6 that a verdict takes: slow;"), std::string::npos);
  small.rows[0].seconds.resize(10, 1), small.sizes[0].other_processors = 1.5;
  ASSERT_EQ(remarks_on(small).size(), 1u);
  EXPECT_NE(remarks_on(small)[0].find("other programs kept 1.5 processors busy"), std::string::npos);
  small.sizes[0].other_processors = 0, small.rows[0].slowed = 0.009;
  EXPECT_TRUE(remarks_on(small).empty()) << "1 % is nothing";
  small.rows[0].slowed = 0.25;
  EXPECT_EQ(remarks_on(small),
            std::vector<std::string>{
                "n = 100: heat or a limit of power held the clock down: slow in fp64 (25 % of its time)"});
  Comparison few = comparison();  // too few for the test, and yet not to be mistaken
  for (Row& r : few.rows) r.seconds.resize(3);
  few.sizes.erase(few.sizes.begin()), few.rows.erase(few.rows.begin(), few.rows.begin() + 2);
  ASSERT_EQ(remarks_on(few).size(), 1u);
  EXPECT_EQ(remarks_on(few)[0].find("too small"), std::string::npos);
}

TEST(Remarks, do_not_take_few_runs_for_a_small_size) {
  Comparison all = comparison();
  all.sizes.erase(all.sizes.begin()), all.rows.erase(all.rows.begin(), all.rows.begin() + 2);
  std::vector<double>&slow = all.rows[0].seconds, &fast = all.rows[1].seconds;
  slow = {1.3, 3.9, 2.6, 5.2}, fast = {0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1, 0.3};  // noisy, and ten times as fast
  EXPECT_EQ(remarks_on(all).at(0).find("too small"), std::string::npos) << remarks_on(all)[0];
  EXPECT_EQ(remarks_on(all)[0].find("apart"), std::string::npos) << "they are: " << remarks_on(all)[0];
  fast[0] = 1.6;
  EXPECT_NE(remarks_on(all).at(0).find("too few runs to tell " + all.rows[1].key.gemm + " and "), std::string::npos)
      << remarks_on(all)[0];
  EXPECT_EQ(remarks_on(all)[0].find("too small"), std::string::npos) << remarks_on(all)[0];
}

TEST(Remarks, take_noise_for_noise_and_not_for_a_small_size) {
  Comparison all = comparison();
  all.sizes.erase(all.sizes.begin()), all.rows.erase(all.rows.begin(), all.rows.begin() + 2);
  all.rows[1].seconds = all.rows[0].seconds = {4, 9, 4, 8, 3, 9, 4, 7, 5, 9};
  std::swap(all.rows[1].seconds[0], all.rows[1].seconds[1]), std::swap(all.rows[1].seconds[4], all.rows[1].seconds[5]);
  for (const double gemm : {1.0, 6.0}) {  // a small part of a solve, or most of it
    for (Row& r : all.rows) r.gemm_seconds_of_runs.assign(10, gemm);
    const auto remarks = remarks_on(all);
    ASSERT_EQ(remarks.size(), 1u) << remarks[0];
    EXPECT_NE(remarks[0].find("noise hides what "), std::string::npos) << remarks[0];
  }
  all.rows[1].seconds = all.rows[0].seconds;
  EXPECT_TRUE(remarks_on(all).empty()) << "kernels may be as fast as another where most of a solve is theirs";
}

TEST(Remarks, warn_of_a_kernel_once_for_all_sizes) {
  Comparison all = comparison();
  for (Row& r : all.rows) r.warnings = {"loses digits"};
  const auto remarks = remarks_on(all);
  EXPECT_EQ(std::count(remarks.begin(), remarks.end(), "warning: slow in fp64 loses digits"), 1);
  EXPECT_NE(as_text(table_of(all, false)).find("PASS, with a warning"), std::string::npos);
  EXPECT_NE(as_csv(all).find(",\"loses digits\""), std::string::npos) << as_csv(all);
}

TEST(Beside, is_told_with_an_interval_by_visits_that_are_pairs) {
  Row a = row("a", 100, 1, 0.5), b = row("b", 100, 1, 0.5);
  a.seconds.clear(), b.seconds.clear();
  for (int v = 0; v < 12; ++v) {  // visits differ by much, and both by the same
    const double visit = v % 3 == 0 ? 7 : 1 + 0.1 * v;
    a.seconds.push_back(visit), b.seconds.push_back(visit * (1.2 + 0.002 * (v * 5 % 12)));
  }
  a.visits = b.visits = std::vector<int>(12, 1);
  const bench::Change slower = beside(b, a);
  EXPECT_EQ(slower.kind, bench::Change::slower);
  EXPECT_NEAR(slower.shift, 0.211, 0.003);
  EXPECT_GT(slower.low, 0.19);
  EXPECT_LT(slower.high, 0.23);
  EXPECT_EQ(beside(a, b).kind, bench::Change::faster);
  EXPECT_EQ(speed_up_in_words(slower).substr(0, 8), "0.83 x (") << speed_up_in_words(slower);
  EXPECT_EQ(speed_up_in_words(beside(a, a)), "1.00 x (1.00 .. 1.00), the same");
  std::swap(b.seconds[0], b.seconds[1]), std::swap(b.seconds[3], b.seconds[5]);  // now they differ
  EXPECT_NE(speed_up_in_words(beside(b, a)).find(", not told apart"), std::string::npos);
}

TEST(Beside, of_few_runs_is_told_by_the_ratios_of_any_two) {
  Row a = row("a", 100, 1, 0.5), b = a;
  a.seconds = {1, 1.1, 0.9}, b.seconds = {25, 30, 28};
  EXPECT_EQ(speed_up_in_words(beside(a, b)), "28.00 x (22.73 .. 33.33)");
  b.seconds = {0.95, 4, 1.2};
  EXPECT_EQ(speed_up_in_words(beside(a, b)), "1.20 x (0.86 .. 4.44), not told apart");
  a.seconds = {1}, b.seconds = {2};
  EXPECT_EQ(speed_up_in_words(beside(a, b)), "2.00 x, one run");
}

TEST(Order, says_which_neighbours_are_told_apart) {
  Comparison all = comparison();
  all.rows.insert(all.rows.begin() + 2, row("slowest", 100, 3, 0.2));
  EXPECT_EQ(orders_of(all), std::vector<std::string>{"n = 100: fast = slow < slowest"});
}

TEST(Rows, are_called_by_what_differs_between_them) {
  Comparison all = by_recipes();
  EXPECT_EQ(all.differing_options(), std::vector<std::string>{"schedule"}) << "and not the factorization";
  EXPECT_EQ(all.label_of(all.rows[2]), "slow (crout)");
  EXPECT_EQ(all.label_of(all.rows[4]), "eigen (solver)");
  all.rows[1].key.options["block-size"] = "64";
  EXPECT_EQ(all.differing_options(), (std::vector<std::string>{"schedule", "block-size"})) << "slow changes first";
  EXPECT_EQ(all.label_of(all.rows[1]), "fast (right-looking, block-size 64)");
  EXPECT_EQ(all.label_of(all.rows[3]), "fast (crout, block-size auto)") << "the default";
  all.rows = {all.rows[0], all.rows[2]};
  EXPECT_EQ(all.label_of(all.rows[1]), "crout") << "of one backend";
  EXPECT_EQ(in_words(all.rows[1].key), "slow (lu, crout) in fp64");
  EXPECT_EQ(comparison().label_of(comparison().rows[0]), "slow");
}

TEST(Rows, by_several_recipes_have_columns_for_them) {
  const Comparison all = by_recipes();
  for (const Table& table : {table_of(all, false), phase_table(all), update_table(all)}) {
    EXPECT_EQ(table.columns[3].title, "schedule");
    for (const auto& line : table.lines) EXPECT_EQ(line.size(), table.columns.size());
  }
  const Table table = table_of(all, false);
  EXPECT_EQ(table.lines[3][3], "crout");
  EXPECT_EQ(table.lines[4][3], "-") << "a baseline solver has none";
  EXPECT_NE(as_csv(all).find(",\"--factorization lu --schedule crout\"\n"), std::string::npos) << as_csv(all);
  EXPECT_NE(orders_of(all).at(0).find("slow (crout)"), std::string::npos) << orders_of(all)[0];
}

TEST(ComponentwiseError, sees_what_norms_hide) {
  const double of_A[] = {1e12, 1, 1, 2}, of_b[] = {1e12 + 1, 3};  // by columns
  const MatrixView<const double> A(of_A, 2, 2, 2), b(of_b, 2, 1, 2);
  const Queue<Cpu> q(1);
  const auto error = [&](std::vector<double> x) {
    ComponentwiseError e(std::move(x), b);
    e.add(q, 0, A.columns(0, 1)), e.add(q, 1, A.columns(1, 1));
    return e.largest();
  };
  EXPECT_EQ(error({1, 1}), 0);
  EXPECT_NEAR(error({1, 1.5}), 1.0 / 7, 1e-12)
      << "|3 - 1 - 3| / (1 + 3 + 3), of a residual that is 1e-12 of the largest b";
  EXPECT_TRUE(std::isnan(error({1, std::nan("")})));
}

TEST(Tables, have_a_line_for_each_row_and_verdicts) {
  Comparison all = comparison();
  all.rows[2].failure = "a | b";
  all.rows[3].against_baseline = bench::Change{bench::Change::slower, 0.031, 0.025, 0.038};
  all.rows[3].slowed = 0.25;
  EXPECT_EQ(in_words({bench::Change::slower, 0.031, 0.025, 0.038, 0.02, 0.012}),
            "SLOWER +3.1 % (+2.5 .. +3.8) beside +1.2 % of all rows");
  const std::string text = as_text(table_of(all, true)), markdown = as_markdown(table_of(all, true)), csv = as_csv(all);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  EXPECT_EQ(std::count(markdown.begin(), markdown.end(), '\n'), 6);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_NE(text.find("SLOWER +3.1 % (+2.5 .. +3.8)"), std::string::npos) << text;
  EXPECT_NE(text.find("FAIL: a | b"), std::string::npos);
  EXPECT_NE(markdown.find("a \\| b"), std::string::npos) << "a bar ends a cell";
  EXPECT_NE(csv.find(",slower,0.031,"), std::string::npos) << csv;
  const std::string with_environment = as_csv(all, {{"processor", "a \"fast\" one"}, {"threads", 2}});
  EXPECT_NE(with_environment.find("warnings,options,processor,threads,matrix_hash\n"), std::string::npos);
  EXPECT_NE(with_environment.find(",\"a \"\"fast\"\" one\",\"2\","), std::string::npos) << with_environment;
  EXPECT_NE(csv.find(",slower,0.031,,0.25,,"), std::string::npos) << csv;
  const std::string updates = as_text(update_table(all));
  EXPECT_NE(updates.find(" 192 "), std::string::npos) << updates;
  EXPECT_EQ(updates.find(" 128 "), std::string::npos) << "it is of similar shape: " << updates;
}

TEST(Tables, have_times_with_copies_where_they_are_asked_for) {
  Comparison all = comparison();
  all.rows[1].seconds_from_host = {3, 1, 2.5};
  EXPECT_EQ(as_text(table_of(all, false)).find("from host"), std::string::npos);
  EXPECT_EQ(legend_of(all, false).find("from host"), std::string::npos);
  all.setting.copies = true;
  const Table table = table_of(all, true);
  ASSERT_EQ(table.columns.size(), table.lines[0].size());
  EXPECT_EQ(table.columns[4].title, "from host");
  EXPECT_EQ(table.lines[1][4], "2.50 s");
  EXPECT_EQ(table.lines[0][4], "-");
  EXPECT_EQ(table.columns[5].title, "runs");
  EXPECT_EQ(table.lines[1][5], "10");
  EXPECT_NE(legend_of(all, false).find("from host"), std::string::npos);
  EXPECT_NE(as_csv(all).find(",,2.5,"), std::string::npos) << as_csv(all);
}

}  // namespace
}  // namespace lasolve::compare