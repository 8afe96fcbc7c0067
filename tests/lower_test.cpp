// Plans that were lowered for a device: the same is true of them as of those that schedules make, and they compute the same.
#include "solvers/lower.hpp"

#include <fmt/format.h>

#include <set>

#include "cards.hpp"
#include "core/tuning.hpp"
#include "lasolve/names.hpp"
#include "plans.hpp"
#include "solvers/kernel_limits.hpp"

namespace lasolve::test {
namespace {

Capabilities capabilities_for(const char* card, Precision precision) {
  const DeviceProperties device = pretend(h200(), card);
  return capabilities_of(device, tuning_for(device).values, precision, 8192);
}

/// The same for a matrix that is so many times smaller.
Capabilities shrunk(Capabilities can, std::int64_t by) {
  can.panel /= by, can.panel_in_place /= by, can.lookahead_update /= by, can.combined /= by, can.far_columns /= by;
  return can;
}

/// check(a plan, the same lowered) for each schedule of each method, for an H200 and an A100, as for an n of 8192, but
/// 128 times smaller.
template <class Check>
void for_each_lowered(Check check) {
  for (const char* card : {"", "a100"})
    for (const Precision precision : {Precision::fp64, Precision::fp32})
      for (const Schedule schedule : all_schedules())
        for (const Method method : {Method::lu, Method::cholesky})
          for (const auto& [n, block_size, step, m] : {std::array{64, 6, 1, 64},
                                                       {65, 12, 3, 65},
                                                       {64, 16, 4, 64},
                                                       {45, 10, 8, 45},
                                                       {40, 8, 0, 40},
                                                       {5, 8, 2, 5},
                                                       {30, 8, 2, 64},
                                                       {64, 8, 2, 30}}) {
            if (m != n && record_of(method).is_symmetric) continue;
            if (!is_offered(method, schedule)) continue;
            SCOPED_TRACE(std::string(name_of(schedule)) + (method == Method::lu ? ", LU, " : ", Cholesky, ") + card +
                         ", n = " + std::to_string(n) + ", steps of " + std::to_string(step));
            const Plan plan = plan_of(
                method, schedule, {.n = n, .widths = {.panel = block_size, .step = step}, .lanes = four_lanes, .m = m});
            Capabilities can = shrunk(capabilities_for(card, precision), 128);
            can.panel = can.panel_in_place = can.lookahead_update = 4;  // more than a step of some
            can.combined = 64;
            can.cholesky_leaf = 3;  // and rows go apart at some columns, where products bind or a leaf has too many
            can.cholesky = {.leaf_rows = 40, .product_binds = 900, .rows_apart = 30, .work_apart = 800};
            can.diagonal_update = 8;
            can.symmetric_update = 7;
            can.cholesky_timed_from = 64;
            if (*card == '\0') can.panel_partition = {.multiprocessors = 40, .rows = 60, .beyond = 20};
            check(plan, lower(plan, can));
          }
}

/// Each number follows from the shared memory, the multiprocessors and the clusters on the card's data sheet.
TEST(CapabilitiesOf, a_card_are_what_its_kernels_take) {
  struct Expected {
    const char* card;
    std::int64_t panel_fp64, panel_fp32, leaf, rows_of_panel;
    bool late;
  };
  for (const auto& [card, panel_fp64, panel_fp32, leaf, rows_of_panel, late] :
       {Expected{"h200", 128, 128, 128, 1024 * 128, true}, Expected{"a100", 128, 128, 64, 1024 * 105, false},
        Expected{"rtx4090", 64, 128, 64, 1024 * 124, false}, Expected{"rtx5090", 64, 128, 64, 1024 * 128, false},
        Expected{"mig-1g", 128, 128, 128, 1024 * 15, false}})
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      SCOPED_TRACE(std::string(card) + ", " + name_of(precision));
      const bool fp64 = precision == Precision::fp64;
      const DeviceProperties device = lasolve::card(card);
      Tuning tuning = tuning_for(device).values;
      const Capabilities can = capabilities_of(device, tuning, precision, 8192);
      EXPECT_EQ(can.panel, fp64 ? panel_fp64 : panel_fp32);
      EXPECT_EQ(can.panel_in_place, can.panel);
      EXPECT_EQ(can.tall_panel, 32);
      EXPECT_EQ(can.rows_of_panel, rows_of_panel);
      EXPECT_EQ(can.lookahead_update, 128);
      EXPECT_EQ(can.combined, 1024);
      EXPECT_EQ(can.cholesky_leaf, leaf);
      EXPECT_EQ(can.solves.order, 128);
      EXPECT_EQ(can.rows_of_L_at_the_end, late);
      EXPECT_EQ(can.far_columns, late && fp64 ? 2048 : 0);
      tuning.lu_interchange_L_late_from =
          0;  // whatever a tuning wants, clusters of 16 blocks hold a column of 16 · 16384 rows
      EXPECT_EQ(capabilities_of(device, tuning, precision, 16 * 16384).rows_of_L_at_the_end, late);
      EXPECT_FALSE(capabilities_of(device, tuning, precision, 16 * 16384 + 1).rows_of_L_at_the_end);
    }
}

/// Whose blocks have little shared memory, runs narrower panels and leaves: so its plans have them.
TEST(LoweredPlan, has_no_panel_nor_triangle_that_a_kernel_of_the_card_would_not_take) {
  for (const std::string& name : card_names())
    for (const Precision precision : {Precision::fp64, Precision::fp32})
      for (const Schedule schedule : all_schedules())
        for (const Method method : {Method::lu, Method::cholesky}) {
          if (!is_offered(method, schedule)) continue;
          SCOPED_TRACE(name + ", " + name_of(precision) + ", " + name_of(schedule));
          const DeviceProperties device = card(name);
          const Tuning tuning = tuning_for(device).values;
          const Blocking by = blocking_for(method, schedule, 6000, 768, tuning, precision);
          const Capabilities can = capabilities_of(device, tuning, precision, by.n);
          const Plan plan = lower(plan_of(method, schedule, by), can);
          std::int64_t widest = 0;
          for (const Task& task : plan.tasks) {
            if (is(task, "solve"))
              EXPECT_TRUE(task.L.n <= can.solves.order || std::min(task.C.m, task.C.n) <= can.solves.few_rhs);
            const bool is_panel = is(task, "panel") || is(task, "panel_in_place");
            const bool is_leaf = method == Method::cholesky && is_panel && task.C.i + task.C.m < by.n;
            if (method == Method::lu ? is_panel : is_leaf) widest = std::max(widest, task.C.n);
          }
          if (method == Method::lu) {
            EXPECT_EQ(widest, widest_panel(device, precision));
          } else if (schedule == Schedule::left_looking) {
            EXPECT_EQ(widest, cholesky_leaf_steps(device, precision) * cholesky_step);
          }
        }
}

std::size_t count_of(const Plan& plan, const char* name) {
  return std::size_t(
      std::count_if(plan.tasks.begin(), plan.tasks.end(), [&](const Task& task) { return is(task, name); }));
}

TEST(LoweredPlan, orders_each_pair_of_tasks_that_touch_the_same_block) {
  for_each_lowered([](const Plan&, const Plan& lowered) {
    EXPECT_TRUE(keeps_order(conflicts_in(lowered), order_by(lowered, lists_of(lowered))));
  });
}

TEST(LoweredPlan, has_no_wait_that_could_be_left_out) {
  for_each_lowered([](const Plan&, const Plan& lowered) {
    const std::vector<Set> conflicts = conflicts_in(lowered);
    WaitLists waits = lists_of(lowered);
    for (std::size_t i = 0; i < waits.size(); ++i)
      for (std::size_t w = 0; w < waits[i].size(); ++w) {
        const std::size_t k = waits[i][w];
        waits[i].erase(waits[i].begin() + std::ptrdiff_t(w));
        EXPECT_FALSE(keeps_order(conflicts, order_by(lowered, waits), i)) << "task " << i << " waits for " << k;
        waits[i].insert(waits[i].begin() + std::ptrdiff_t(w), k);
      }
  });
}

TEST(LoweredPlan, has_the_flops_of_the_textbook) {
  for_each_lowered([](const Plan&, const Plan& lowered) {
    std::int64_t sum = 0;
    for (const Task& task : lowered.tasks) sum += thirds(task.flops());
    EXPECT_EQ(sum, thirds_of_textbook(lowered));
  });
}

TEST(LoweredPlan, computes_the_same_bits_in_any_order_that_the_waits_allow) {
  std::mt19937_64 bits(3);
  for_each_lowered([&](const Plan& plan, const Plan& lowered) {
    const Matrix<double> A = matrix_for(plan);
    const WaitLists waits = lists_of(lowered);
    const std::vector<double> expected = in_program_order(lowered, A);
    for (int round = 0; round < 4; ++round) ASSERT_TRUE(same_bits(in_random_order(lowered, waits, A, bits), expected));
    const std::vector<double> before = in_program_order(plan, A);
    for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(expected[i], before[i], 1e-10);
  });
}

TEST(LoweredPlan, keeps_the_order_of_the_rows_of_A) {
  for_each_lowered([&](const Plan& plan, const Plan& lowered) {
    if (plan.method == Method::cholesky) return;
    const Matrix<double> A = matrix_for(plan);
    Reference reference(A, lowered);
    for (const Task& task : lowered.tasks) reference.run(task);
    EXPECT_EQ(reference.order(), reference.order_of_pivots());
  });
}

TEST(LoweredPlan, has_interchanges_and_panels_of_one_kernel_each) {
  for_each_lowered([&](const Plan& plan, const Plan& lowered) {
    if (plan.method == Method::cholesky) return;
    std::vector<Block> made;
    for (const Task& task : lowered.tasks) {
      if (is(task, "panel") || is(task, "panel_in_place")) {
        EXPECT_LE(task.C.n, 4);
        made.push_back(task.interchanges);
      }
      if (is(task, "combine")) made.push_back(task.C);
      const bool reads = is(task, "interchange") || is(task, "prepend");
      if (!reads || task.interchanges.of == Resource::later) continue;
      EXPECT_NE(std::find(made.begin(), made.end(), task.interchanges), made.end());
    }
  });
}

TEST(LoweredPlan, computes_the_same_bits_as_before_where_no_product_has_another_k) {
  for_each_lowered([&](const Plan& plan, const Plan&) {
    const Capabilities can{
        .panel_in_place = 4, .lookahead_update = 4, .combined = 64, .rows_of_L_at_the_end = true, .far_columns = 16};
    const Matrix<double> A = matrix_for(plan);
    ASSERT_TRUE(same_bits(in_program_order(lower(plan, can), A), in_program_order(plan, A)));
  });
}

/// Of what an LU of 8192 columns is on a device.
Plan for_card(const char* card) {
  const Plan plan = plan_of(Method::lu, Schedule::right_looking,
                            {.n = 8192, .widths = {.panel = 768, .step = 128}, .lanes = four_lanes});
  return lower(plan, capabilities_for(card, Precision::fp64));
}

TEST(LoweredPlan, has_what_each_card_is_better_at) {
  const std::size_t panels = (8192 + 767) / 768, steps = 64;
  for (const char* card : {"", "a100"}) {
    const Plan plan = for_card(card);
    EXPECT_EQ(count_of(plan, "panel_in_place"), steps - 1);  // behind the last are no columns
    EXPECT_EQ(count_of(plan, "lookahead_update"), steps - 1);
    EXPECT_EQ(count_of(plan, "combine"), panels);
    EXPECT_EQ(count_of(plan, "begin_later"), *card == '\0' ? 2u : 0u);  // rows of L, at two times
    EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
    const bool has_far = lanes_of(plan).back() == four_lanes.far;
    EXPECT_EQ(has_far, *card == '\0');
  }
}

/// A panel that products hide has multiprocessors of its own, and the bulk beside it has the others.
TEST(LoweredPlan, shares_out_multiprocessors_while_products_hide_panels) {
  const Widths widths{.panel = 1024, .bottleneck = {.left = 8192, .first = 768, .panel = 768, .step = 128}};
  const Plan plan = plan_of(Method::lu, Schedule::right_looking, {.n = 20000, .widths = widths, .lanes = four_lanes});
  const Plan lowered = lower(plan, {.panel = 128,
                                    .rows_of_panel = 20000,
                                    .panel_partition = {.multiprocessors = 40, .rows = 16000, .beyond = 8192},
                                    .timed_beyond = 8192});
  bool are_partitioned = false;
  for (const Task& task : lowered.tasks)
    if (is(task, "panel")) {
      are_partitioned = task.C.m <= 16000 && task.C.m > 8192;
      EXPECT_EQ(task.lane.multiprocessors, are_partitioned ? 40 : 0);
      EXPECT_FALSE(are_partitioned && task.timed);  // the chain counts its time
    } else {
      EXPECT_EQ(task.lane.multiprocessors, are_partitioned && task.lane.rank == four_lanes.bulk.rank ? -40 : 0);
    }
}

TEST(LoweredPlan, of_two_steps_has_fewer_tasks_that_are_soon) {
  const auto soon = [](const Plan& plan) {
    return std::count_if(plan.tasks.begin(), plan.tasks.end(),
                         [](const Task& task) { return task.lane == four_lanes.soon && is(task, "update"); });
  };
  const Plan plan = plan_of(Method::lu, Schedule::right_looking,
                            {.n = 8192, .widths = {.panel = 768, .step = 128}, .lanes = four_lanes});
  EXPECT_LT(soon(lower(plan, {.two_steps = true})), soon(plan) - 15);
}

TEST(LoweredPlan, of_a_right_looking_LU_has_a_phase_for_each_step_of_the_chain_until_panels_are_the_bottleneck) {
  for (const std::int64_t n : {4096, 20000, 30000}) {
    const Tuning tuning = tuning_for(h200()).values;
    const std::int64_t nb = tuning.lu(n), most_left = tuning.lu_panels_are_the_bottleneck;
    const Blocking by = blocking_for(Method::lu, Schedule::right_looking, n, nb, tuning);
    Capabilities can = capabilities_of(h200(), tuning, Precision::fp64, n);
    EXPECT_TRUE(can.solves_in_one_phase);
    can.solves = {};
    const Plan plan = lower(plan_of(Method::lu, Schedule::right_looking, by), can);
    std::set<std::int64_t> timed;  // where steps begin
    bool first = true;
    for (const Task& task : plan.tasks) {
      if (task.lane.rank <= plan.lanes.bulk.rank) {
        EXPECT_TRUE(task.timed);
        continue;
      }
      EXPECT_EQ(task.phase(), is(task, "combine") ? Phase::swap : Phase::panel);
      if (task.timed && !first) {
        EXPECT_EQ(task.lane, plan.lanes.chain);
        EXPECT_EQ(task.role, Role::elimination);
        timed.insert(task.C.j);
      }
      EXPECT_TRUE(!first || task.timed);
      first = false;
    }
    std::set<std::int64_t> expected;
    for (std::int64_t j = 0; n - j > most_left;) expected.insert(j = by.step_at(j, by.panel_at(j)).end);
    EXPECT_EQ(timed, expected) << n;
  }
}

TEST(LoweredPlan, of_one_panel_is_in_one_lane_and_one_phase) {
  const auto lanes = [](Method method, std::int64_t n) {
    const DeviceProperties device = pretend(h200(), "");
    const Tuning tuning = tuning_for(device).values;
    const Schedule schedule = method == Method::lu ? Schedule::right_looking : Schedule::left_looking;
    const Blocking by = blocking_for(method, schedule, n, method == Method::lu ? 128 : 256, tuning);
    const Plan plan = lower(plan_of(method, schedule, by), capabilities_of(device, tuning, Precision::fp64, n));
    const auto timed = [](const Task& task) { return task.timed; };
    if (plan.lanes.single()) {
      EXPECT_EQ(waits_of(plan).count(), 0u);
      EXPECT_EQ(std::count_if(plan.tasks.begin(), plan.tasks.end(), timed), 1);
    }
    return lanes_of(plan).size();
  };
  for (const std::int64_t n : {1, 64, 128}) EXPECT_EQ(lanes(Method::lu, n), 1u);
  for (const std::int64_t n : {1, 64, 256}) EXPECT_EQ(lanes(Method::cholesky, n), 1u);
  EXPECT_GT(lanes(Method::lu, 129), 1u);
  EXPECT_GT(lanes(Method::cholesky, 600), 1u);
}

/// A solve with a triangle of order 10 is two with its halves of order 5 and a product between them, and so on.
/// Those that begin, in their order.
std::vector<Phase> phases_of(const Plan& plan) {
  std::vector<Phase> phases;
  for (const Task& task : plan.tasks)
    if (task.timed) phases.push_back(task.phase());
  return phases;
}

TEST(LoweredPlan, has_the_products_of_triangular_solves) {
  const Capabilities can{.solves = {.few_rhs = 2, .order = 3}};
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const Schedule schedule : all_schedules())
      for (const Method method : {Method::lu, Method::cholesky, Method::lu_nopivot}) {
        if (!is_offered(method, schedule)) continue;
        SCOPED_TRACE(std::string(name_of(schedule)) + ", " + record_of(method).name);
        const Plan plan = plan_of(method, schedule, {.n = 50, .widths = {.panel = 10}, .lanes = lanes});
        const Plan lowered = lower(plan, can);
        std::int64_t sum = 0, solves = 0;
        Capabilities in_one_phase = can;
        in_one_phase.solves_in_one_phase = true;
        EXPECT_EQ(phases_of(lower(plan, in_one_phase)), phases_of(lower(plan, {})));
        for (const Task& task : lowered.tasks) {
          sum += thirds(task.flops());
          if (!is(task, "solve")) continue;
          ++solves;
          const bool is_left = task.C.rows() == task.L.rows();
          EXPECT_TRUE(is_left || task.C.columns() == task.L.columns());
          EXPECT_TRUE(task.L.n <= 3 || (is_left ? task.C.n : task.C.m) <= 2);
        }
        EXPECT_EQ(sum, thirds_of_textbook(lowered));
        EXPECT_EQ(lowered.tasks.size() > plan.tasks.size(), solves > 0);
        EXPECT_TRUE(keeps_order(conflicts_in(lowered), order_by(lowered, lists_of(lowered))));
        const Matrix<double> A = matrix_for(plan);
        const std::vector<double> before = in_program_order(plan, A), after = in_program_order(lowered, A);
        for (std::size_t i = 0; i < before.size(); ++i) ASSERT_NEAR(after[i], before[i], 1e-10);
      }
  const Plan plan = plan_of(Method::lu, Schedule::right_looking, {.n = 20, .widths = {.panel = 10}});
  std::string text;
  for (const Task& task : lower(plan, {.solves = {.few_rhs = 2, .order = 5}}).tasks)
    text += fmt::format("{} A[{}:{}, {}:{}]\n", task.type->name, task.C.i, task.C.i + task.C.m, task.C.j,
                        task.C.j + task.C.n);
  EXPECT_EQ(text,
            "panel A[0:20, 0:10]\n"
            "interchange A[0:20, 10:20]\n"
            "solve A[0:5, 10:20]\n"
            "update A[5:10, 10:20]\n"
            "solve A[5:10, 10:20]\n"
            "update A[10:20, 10:20]\n"
            "panel A[10:20, 10:20]\n"
            "interchange A[10:20, 0:10]\n");
}

TEST(LoweredPlan, of_one_lane_or_with_no_capabilities_is_what_it_was) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes}) {
    const Plan plan =
        plan_of(Method::lu, Schedule::right_looking, {.n = 40, .widths = {.panel = 8, .step = 2}, .lanes = lanes});
    EXPECT_EQ(lower(plan, {}).tasks.size(), plan.tasks.size());
    const std::size_t tasks = lower(plan, {.panel_in_place = 8, .lookahead_update = 8, .combined = 8}).tasks.size();
    EXPECT_EQ(tasks == plan.tasks.size(), lanes.single());
  }
}

}  // namespace
}  // namespace lasolve::test
