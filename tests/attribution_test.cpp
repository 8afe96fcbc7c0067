// Where the time of measured rows goes: by phases, by tasks, as a trace.
#include <gtest/gtest.h>

#include <map>

#include "compare/attribution.hpp"
#include "compare/record.hpp"
#include "compare/tables.hpp"
#include "made_up_rows.hpp"

namespace lasolve::compare {
namespace {

TEST(Attribution, says_what_free_products_would_leave) {
  Row alone = row("x", 100, 4, 3);
  alone.tasks.clear();
  EXPECT_DOUBLE_EQ(free_updates(alone).seconds.value(), 1);
  EXPECT_TRUE(free_updates(alone).exact);
  alone.phases.seconds_of(Phase::check) = 100;  // no part of the total
  EXPECT_TRUE(free_updates(alone).exact);
  alone.phases.seconds_of(Phase::trsm) = 2;
  EXPECT_FALSE(free_updates(alone).exact);
  EXPECT_FALSE(free_updates(alone).seconds) << "phases overlap, and nobody knows how";
}

TEST(Attribution, counts_time_in_which_several_updates_run_once) {
  Row overlapping = row("x", 100, 4, 3);  // updates from 0.25 to 1.75 and from 0.75 to 2.25
  overlapping.phases.seconds_of(Phase::trsm) = 2;
  overlapping.tasks[2].phase = Phase::panel;  // within a panel
  EXPECT_DOUBLE_EQ(seconds_of_updates(overlapping.tasks), 2);
  EXPECT_DOUBLE_EQ(flops_of_updates(overlapping.tasks), 1e9);
  EXPECT_DOUBLE_EQ(free_updates(overlapping).seconds.value(), 2);
  EXPECT_FALSE(free_updates(overlapping).exact);
  EXPECT_DOUBLE_EQ(seconds_at_roof(overlapping, {1e15, 1e15}).value(), 2)
      << "no less than with updates that take no time";
  overlapping.tasks[2].begin = 2.25;  // a pause before it
  EXPECT_DOUBLE_EQ(seconds_of_updates(overlapping.tasks), 3);
  overlapping.tasks[2].begin = 0.5, overlapping.tasks[2].seconds = 0.25;  // while the other runs
  EXPECT_DOUBLE_EQ(seconds_of_updates(overlapping.tasks), 1.5);
}

TEST(Attribution, counts_each_instant_for_one_phase) {
  Row r = row("x", 100, 4, 3);  // a panel from 0 to 0.25, updates from 0.25 to 1.75 and from 0.75 to 2.25
  EXPECT_EQ(exclusive_seconds(r).value(), r.phases.seconds) << "phases that do not overlap are as they are";
  r.phases.seconds_of(Phase::panel) = 3, r.phases.seconds_of(Phase::solve) = 0.5;
  r.tasks[0].seconds = 2.5;         // beside both updates, and 0.25 s longer
  r.tasks[2].phase = Phase::panel;  // an update within a panel
  r.tasks.push_back({"solve", "A[0:64, 64:256]", Phase::trsm, 2, 1, 1e6});
  const auto seconds = exclusive_seconds(r).value();
  EXPECT_DOUBLE_EQ(seconds[std::size_t(Phase::gemm)], 2);
  EXPECT_DOUBLE_EQ(seconds[std::size_t(Phase::panel)], 0.5);
  EXPECT_DOUBLE_EQ(seconds[std::size_t(Phase::trsm)], 0.5);
  EXPECT_DOUBLE_EQ(seconds[std::size_t(Phase::solve)], 0.5) << "what is no task of the factorization runs alone";
  Comparison all;
  all.rows = {r};
  const Table table = phase_table(all);
  EXPECT_EQ(table.columns[3].title, "were updates free") << "what one looks for stands first";
  EXPECT_EQ(table.lines[0][6], "12.5 %") << "of the panel";
  r.total_seconds = 1.75;
  double sum = 0;
  const auto shared_out = exclusive_seconds(r).value();
  for (const double s : shared_out) sum += s;
  EXPECT_DOUBLE_EQ(sum, 1.75) << "clocks may differ, shares do not exceed 100 %";
  r.tasks.clear();
  EXPECT_FALSE(exclusive_seconds(r)) << "phases overlap, and nobody knows how";
}

TEST(Attribution, has_updates_by_their_usual_time) {
  std::vector<std::vector<TaskTime>> runs;
  for (const double seconds : {1.0, 2.0, 3.0, 4.0, 50.0}) {
    runs.push_back(row("x", 100, 4, 3).tasks);
    runs.back()[1].seconds = seconds;
    runs.back().push_back(runs.back()[2]);  // the same once more, in another time
    runs.back()[3].seconds = 10;
    std::swap(runs.back()[1], runs.back()[seconds > 2 ? 2 : 1]);  // lanes end in another order
  }
  std::vector<TaskTime> tasks = runs[4];
  add_quartiles(tasks, {&runs[0], &runs[1], &runs[2], &runs[3], &runs[4]});
  EXPECT_EQ(tasks[2].quartiles, (std::array<double, 3>{2, 3, 4}));
  EXPECT_EQ(tasks[3].quartiles, (std::array<double, 3>{10, 10, 10}));
  EXPECT_EQ(tasks[0].quartiles, (std::array<double, 3>{})) << "a panel";
  EXPECT_DOUBLE_EQ(tasks[2].gflops(), 0.2) << "one slow run of many is not the rate of a kernel";
  Comparison all = comparison();
  all.rows[0].tasks = tasks;
  EXPECT_EQ(comparison_of(as_json(all, nullptr).dump(), "x.json").rows[0].tasks[2].quartiles, tasks[2].quartiles);
}

TEST(Attribution, keeps_the_best_of_several_limits) {
  std::vector<Limit> limits;
  keep_best(limits, {{"cpu", "fp64", {1e9, 4e9}}});
  keep_best(limits, {{"cpu", "fp64", {2e9, 3e9}}, {"cpu", "fp32", {5e9, 5e9}}});
  ASSERT_EQ(limits.size(), 2u);
  EXPECT_EQ(limits[0].roof.flops_per_second, 2e9);
  EXPECT_EQ(limits[0].roof.bytes_per_second, 4e9);
}

TEST(Attribution, says_what_updates_at_the_roofline_would_leave) {
  const Row timed = row("x", 100, 4, 3);  // updates of 6e8 and 4e8 operations, 1.5 s each
  const bench::Roof of_rate{1e9, 1e12}, of_bandwidth{1e15, 1e6};
  EXPECT_DOUBLE_EQ(floor_seconds(timed.tasks[1], "fp64", of_rate), 0.6);
  const double m = 192, k = 64, elements_of_C = 6e8 / (2 * k);
  EXPECT_DOUBLE_EQ(floor_seconds(timed.tasks[1], "fp64", of_bandwidth), 8e-6 * (2 * m * k + 2 * elements_of_C));
  EXPECT_DOUBLE_EQ(floor_seconds(timed.tasks[1], "tf32", of_bandwidth), 4e-6 * (2 * m * k + 2 * elements_of_C));
  EXPECT_DOUBLE_EQ(seconds_at_roof(timed, of_rate).value(), 4 - (1.5 - 0.6) - (1.5 - 0.4));
  EXPECT_DOUBLE_EQ(seconds_at_roof(timed, {1e3, 1e12}).value(), 4) << "nothing is gained where updates are faster";
  EXPECT_FALSE(seconds_at_roof(row("x", 100, 4, 0), of_rate)) << "there are no updates";
  Row overlapping = timed;
  overlapping.total_seconds = 1.75;
  EXPECT_DOUBLE_EQ(seconds_at_roof(overlapping, of_rate).value(), 0.6 + 0.4) << "one update after the other";

  Comparison all = comparison();
  EXPECT_FALSE(all.roof_of(all.rows[0]));
  all.limits = {{"cpu", "fp64", {1e9, 2e9}}, {"cpu", "fp32", {7e9, 2e9}}};
  EXPECT_DOUBLE_EQ(all.roof_of(all.rows[0])->flops_per_second, 6e8 / 0.095) << "the fastest update, of another row";
  EXPECT_DOUBLE_EQ(all.roof_of(all.rows[0])->bytes_per_second, 2e9);
}

TEST(Trace, has_an_event_for_each_task) {
  const Json trace = Json::parse(as_trace(comparison()));
  int tasks = 0;
  for (const Json& event : trace["traceEvents"]) {
    if (event["ph"] != "X") continue;
    ++tasks;
    EXPECT_GE(event["dur"].get<double>(), 0);
    if (event["name"] == "update") {
      EXPECT_EQ(event["args"]["k"], 64);
    }
  }
  EXPECT_EQ(tasks, 12);
}

TEST(Trace, has_a_thread_for_each_lane_where_tasks_overlap) {
  Comparison all = comparison();
  all.rows = {row("x", 1000, 4, 3)};
  for (TaskTime& t : all.rows[0].tasks) t.lane = t.phase == Phase::gemm ? "bulk" : "chain";
  all = comparison_of(as_json(all, nullptr).dump(), "x.json");
  std::map<int, std::string> threads;
  std::map<std::string, int> thread_of;
  const Json trace = Json::parse(as_trace(all));
  for (const Json& event : trace["traceEvents"])
    if (event["name"] == "thread_name")
      threads[event["tid"]] = event["args"]["name"];
    else if (event["ph"] == "X")
      thread_of[event["name"]] = event["tid"];
  EXPECT_EQ(threads, (std::map<int, std::string>{{0, "bulk"}, {1, "chain"}}));
  EXPECT_EQ(thread_of, (std::map<std::string, int>{{"update", 0}, {"panel", 1}}));
}

}  // namespace
}  // namespace lasolve::compare
