// Plans of Cholesky that were lowered for a device: what they have that plans of LU have not.
#include <gtest/gtest.h>

#include <vector>

#include "cards.hpp"
#include "core/tuning.hpp"
#include "lasolve/names.hpp"
#include "plans.hpp"
#include "solvers/kernel_limits.hpp"
#include "solvers/lower.hpp"

namespace lasolve::test {
namespace {

/// Of a left-looking Cholesky of n columns on an H200.
Plan left_looking_cholesky_of(std::int64_t n, Precision precision) {
  const DeviceProperties device = pretend(h200(), "");
  const Tuning tuning = tuning_for(device).values;
  const Blocking by = blocking_for(Method::cholesky, Schedule::left_looking, n, 256, tuning, precision);
  return lower(plan_of(Method::cholesky, Schedule::left_looking, by), capabilities_of(device, tuning, precision, n));
}

TEST(LoweredPlan, of_a_left_looking_Cholesky_has_products_in_turns) {
  std::vector<Lane> lanes;
  for (const Task& task : left_looking_cholesky_of(2048, Precision::fp64).tasks)
    if (is(task, "update")) lanes.push_back(task.lane);
  ASSERT_EQ(lanes.size(), 6u);  // all block columns but the first two
  for (std::size_t i = 0; i < lanes.size(); ++i) EXPECT_EQ(lanes[i], (Lane{0, int(i + 1) % 2 == 1 ? 0 : 1}));
}

/// Others say that it computes the same. Diagonal blocks are small enough, products are not small, and two lanes of one rank take turns.
TEST(LoweredPlan, of_another_Cholesky_has_symmetric_updates_by_halves_in_turns) {
  for (const Schedule schedule : {Schedule::right_looking, Schedule::recursive}) {
    const Plan plan =
        plan_of(Method::cholesky, schedule, {.n = 9000, .widths = {.panel = 1024, .step = 0}, .lanes = four_lanes});
    Capabilities can = capabilities_of(h200(), tuning_for(h200()).values, Precision::fp64, 8192);
    can.solves = {};  // which have products, too
    const Plan lowered = lower(plan, can);
    int parts = 0;
    for (const Task& part : lowered.tasks) {
      if (is(part, "update_lower")) {
        EXPECT_LE(part.C.n, 2048);
      }
      if (is(part, "product")) {
        EXPECT_GE(part.C.n, 512);
      }
      parts += is(part, "update_lower") || is(part, "product");
    }
    EXPECT_GT(parts, 10);
    const Lane second = lanes_of(lowered)[schedule == Schedule::recursive ? 1 : 2];
    EXPECT_STREQ(lowered.lanes.name_of(second), schedule == Schedule::recursive ? "chain 2" : "bulk 2");
  }
}

/// Each step has three: of the columns that are wanted soon, of the rows below these, and of the rest.
TEST(LoweredPlan, of_another_Cholesky_has_one_symmetric_product_where_the_backend_has_that) {
  const Plan plan = plan_of(Method::cholesky, Schedule::right_looking,
                            {.n = 9000, .widths = {.panel = 1024, .step = 0}, .lanes = four_lanes});
  Capabilities can = capabilities_of(h200(), tuning_for(h200()).values, Precision::fp32, 9000);
  can.one_symmetric_product = true;
  std::vector<std::int64_t> columns;
  for (const Task& part : lower(plan, can).tasks)
    if (is(part, "update_lower") && part.L.j == 0) columns.push_back(part.C.n);
  EXPECT_EQ(columns, (std::vector<std::int64_t>{1024, 9000 - 3 * 1024}));
}

TEST(LoweredPlan, of_a_left_looking_Cholesky_factors_rows_apart_where_a_leaf_would_not_solve_them) {
  constexpr std::int64_t n = 8192, leaf_rows = 32 * (132 + 4);
  const CholeskyLimits limits = cholesky_limits(tuning_for(h200()).values, Precision::fp64, 132);
  for (const Task& task : left_looking_cholesky_of(n, Precision::fp64).tasks) {
    const bool is_leaf = is(task, "panel");
    if (!is_leaf) continue;
    const std::int64_t column = task.C.j / 256 * 256;
    const bool apart = column + 256 < n && limits.rows_go_apart(column, n);
    EXPECT_EQ(task.C.i + task.C.m, apart ? column + 256 : n);
    EXPECT_EQ(task.C.n, apart ? 128 : 256);
    if (n - column > leaf_rows) {
      EXPECT_TRUE(apart);
    }
  }
}

TEST(LoweredPlan,
     of_a_left_looking_Cholesky_begins_no_product_before_the_panel_beside_it_is_up_to_date_where_panels_bind) {
  const Plan plan = left_looking_cholesky_of(2048, Precision::fp64);  // j (n - j) is at most 2^20
  const WaitLists waits = lists_of(plan);
  std::vector<std::size_t> updates;  // of panels
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    if (is(plan.tasks[i], "narrow_update")) updates.push_back(i);
    if (!is(plan.tasks[i], "update")) continue;
    EXPECT_NE(std::find(waits[i].begin(), waits[i].end(), updates.back()), waits[i].end()) << "task " << i;
  }
}

TEST(LoweredPlan, of_a_left_looking_Cholesky_has_a_phase_a_lane_or_a_step) {
  const auto timed = [](const Plan& plan, Lane lane) {
    return std::count_if(plan.tasks.begin(), plan.tasks.end(),
                         [&](const Task& task) { return task.lane == lane && task.flops() > 0 && task.timed; });
  };
  const Plan small = left_looking_cholesky_of(2048, Precision::fp64),
             large = left_looking_cholesky_of(16384, Precision::fp64);
  EXPECT_EQ(timed(small, four_lanes.chain), 1);
  EXPECT_EQ(timed(small, four_lanes.bulk), 1);
  EXPECT_EQ(timed(large, four_lanes.chain), 64);
  EXPECT_EQ(timed(large, four_lanes.near), 0);
}

}  // namespace
}  // namespace lasolve::test
