// Several cards, in the memory of the host: each has columns of A, and NaN where the others have theirs, so that nothing but what is sent can
// come to it. Factors have the bits that one card computes.
#include "virtual_cards.hpp"
//
#include <map>
#include <set>

#include "core/device_properties.hpp"
#include "core/tuning.hpp"
#include "plans.hpp"
#include "solvers/lower.hpp"

namespace lasolve::test::cards_test {
using namespace virtual_cards;
namespace {

/// check(plan, deal, plan of the cards) for many sizes, block columns and steps, and one to five cards.
template <class Check>
void for_many_deals(Check check) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const auto& [n, columns, step] :
         {std::array{1, 4, 0}, {2, 1, 0}, {5, 8, 2}, {16, 4, 0}, {33, 8, 4}, {40, 12, 5}, {29, 4, 0}})
      for (const Way& way : ways)
        for (int cards = 1; cards <= 5; ++cards) {
          const Blocking by{.n = n, .widths = {.panel = columns, .step = step}, .lanes = lanes, .ahead = cards};
          SCOPED_TRACE(text_of(way, by, cards));
          const Plan plan = plan_of(way.method, way.schedule, by);
          const Deal deal(by, cards);
          check(plan, deal, lower_cards(plan, deal));
        }
}

TEST(Cards, of_one_leave_a_plan_what_it_is) {
  for_many_deals([](const Plan& plan, const Deal& deal, const Plan& dealt) {
    if (deal.cards() > 1) return;
    ASSERT_EQ(plan.tasks.size(), dealt.tasks.size());
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) EXPECT_EQ(plan.tasks[i].C, dealt.tasks[i].C);
    EXPECT_EQ(lists_of(plan), lists_of(dealt));
  });
}

TEST(Cards, do_what_they_have_the_columns_for_and_send_nothing_twice) {
  for_many_deals([](const Plan& plan, const Deal& deal, const Plan& dealt) {
    std::int64_t flops = 0;
    std::set<std::pair<int, std::int64_t>> sent;
    for (const Task& task : dealt.tasks) {
      flops += thirds(task.flops());
      if (is(task, "send")) {
        EXPECT_NE(task.from, task.lane.card);
        for (std::int64_t j = task.C.j; j < task.C.j + task.C.n; ++j) {
          EXPECT_EQ(deal.card_of(j), task.from);
          EXPECT_TRUE(sent.emplace(task.lane.card, j).second) << "column " << j << " again";
        }
      } else if (task.C.of == Resource::matrix && !is(task, "interchange")) {
        EXPECT_EQ(deal.card_of(task.C.j), task.lane.card);
        EXPECT_EQ(deal.card_of(task.C.j + task.C.n - 1), task.lane.card);
      }
    }
    EXPECT_NEAR(double(flops), double(thirds_of_textbook(plan)), double(dealt.tasks.size()));
  });
}

TEST(Cards, wait_for_each_other_where_order_counts) {
  for_many_deals([](const Plan&, const Deal&, const Plan& dealt) {
    ASSERT_LT(dealt.tasks.size(), most_tasks);
    EXPECT_TRUE(keeps_order(conflicts_in(dealt), order_by(dealt, lists_of(dealt))));
  });
}

/// At each point a random one of the lanes of all cards goes on whose next task has nothing left to wait for.
TEST(Cards, compute_the_bits_of_one_in_any_order_that_the_waits_allow) {
  std::mt19937_64 bits(5);
  for_many_deals([&](const Plan& plan, const Deal& deal, const Plan& dealt) {
    const Matrix<double> A = matrix_for(plan);
    std::vector<Reference> cards;
    std::vector<Matrix<double>> own;
    for (int card = 0; card < deal.cards(); ++card)
      own.push_back(matrix_of<double>(A.rows(), A.cols(), [&](auto i, auto j) {
        return deal.card_of(j) == card ? A(i, j) : std::numeric_limits<double>::quiet_NaN();
      }));
    for (const Matrix<double>& its : own) cards.emplace_back(its, plan);
    const WaitLists waits = lists_of(dealt);
    std::map<Lane, std::queue<std::size_t>> lines;
    for (std::size_t i = 0; i < dealt.tasks.size(); ++i) lines[dealt.tasks[i].lane].push(i);
    std::vector<bool> done(dealt.tasks.size());
    for (std::size_t count = 0; count < done.size(); ++count) {
      std::vector<std::queue<std::size_t>*> ready;
      for (auto& [lane, line] : lines)
        if (!line.empty() &&
            std::all_of(waits[line.front()].begin(), waits[line.front()].end(), [&](std::size_t k) { return done[k]; }))
          ready.push_back(&line);
      ASSERT_FALSE(ready.empty()) << "all lanes wait";
      auto& line = *ready[bits() % ready.size()];
      const Task& task = dealt.tasks[line.front()];
      Reference& card = cards[std::size_t(task.lane.card)];
      is(task, "send") ? card.take(task, cards[std::size_t(task.from)]) : card.run(task);
      done[line.front()] = true;
      line.pop();
    }
    Reference one(A, plan);
    for (const Task& task : plan.tasks) one.run(task);
    for (std::int64_t j = 0; j < A.cols(); ++j) {
      const Reference& its = cards[std::size_t(deal.card_of(j))];
      EXPECT_EQ(its.pivots()[std::size_t(j)], one.pivots()[std::size_t(j)]);
      for (std::int64_t i = plan.method == Method::cholesky ? j : 0; i < A.rows(); ++i)
        ASSERT_EQ(its.factors()(i, j), one.factors()(i, j)) << i << ", " << j;
    }
  });
}

template <class T>
void expect_bits_of_one(const char* gemm_name) {
  const Gemm<T, Cpu> gemm(*backend(gemm_name));
  for (const auto& [n, columns] : {std::array{1, 16}, {7, 16}, {64, 16}, {100, 32}, {193, 24}, {257, 48}, {300, 300}})
    for (const Way& way : ways) {
      const Blocking by{.n = n, .widths = {.panel = columns}, .ahead = 3};
      const Matrix<T> A = way.method == Method::lu ? random_matrix<T>(n, n) : dominant_matrix<T>(n);
      const auto one = factored<T>(way, by, 1, A, gemm);
      EXPECT_EQ(one.failed_at, -1);
      for (int cards = 2; cards <= 5; ++cards) {
        SCOPED_TRACE(text_of(way, by, cards) + " with " + gemm_name);
        const auto several = factored<T>(way, by, cards, A, gemm);
        EXPECT_TRUE(same_bits(several.factors, one.factors));
        EXPECT_EQ(several.pivots, one.pivots);
        EXPECT_EQ(several.failed_at, -1);
      }
    }
}
TEST(Cards, factor_with_the_bits_of_one_in_fp64) { expect_bits_of_one<double>("naive"); }
TEST(Cards, factor_with_the_bits_of_one_in_fp32) { expect_bits_of_one<float>("naive"); }
TEST(Cards, factor_with_the_bits_of_one_by_packed_products) { expect_bits_of_one<double>("packed"); }

TEST(Cards, find_where_it_fails) {
  const Gemm<double, Cpu> gemm(*backend("naive"));
  const Blocking by{.n = 90, .widths = {.panel = 16}};
  for (const Way& way : ways)
    for (const std::int64_t at : {0, 40, 89})
      for (int cards = 1; cards <= 4; ++cards) {
        SCOPED_TRACE(text_of(way, by, cards));
        Matrix<double> A = dominant_matrix<double>(90);
        const bool is_lu = way.method != Method::cholesky;
        if (is_lu)
          A = with_zero_columns(std::move(A), at, 1);
        else
          A(at, at) = -1;
        EXPECT_EQ(factored<double>(way, by, cards, A, gemm).failed_at, is_lu ? at : at + 1);
      }
}

/// What one card throws ends the others, which wait for it.
TEST(Cards, end_together_when_one_throws) {
  Plan plan = plan_of(Method::lu, Schedule::right_looking, {.n = 64, .widths = {.panel = 16}});
  const Blocking by{.n = 64, .widths = {.panel = 16}};
  const Deal deal(by, 3);
  plan = lower_cards(plan, deal);
  static constexpr TaskType unknown{.name = "unknown"};
  for (Task& task : plan.tasks)
    if (is(task, "panel") && task.C.j == 16) task.type = &unknown;
  const Gemm<double, Cpu> gemm(*backend("naive"));
  const Matrix<double> A = random_matrix(64, 64);
  plan = in_memory_of_cards(plan, deal);
  std::vector<std::unique_ptr<Virtual<double>>> all;
  for (int card = 0; card < 3; ++card) all.push_back(std::make_unique<Virtual<double>>(plan, deal, A, card, true));
  EXPECT_THROW(execute<double>({plan, waits_of(plan)}, all, gemm), std::logic_error);
}

/// Each in the memory of its card, and what is sent from there: nothing is written that somebody has still to read.
TEST(Cards, keep_order_in_memory_that_block_columns_share) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const Method method : methods)
      for (int cards = 2; cards <= 5; ++cards) {
        const Blocking by{.n = 61, .widths = {.panel = 4, .step = 2}, .lanes = lanes};
        SCOPED_TRACE(text_of({method, Schedule::right_looking}, by, cards));
        const Deal deal(by, cards);
        const Plan plan = in_memory_of_cards(lower_cards(plan_of(method, Schedule::right_looking, by), deal), deal);
        ASSERT_LT(plan.tasks.size(), most_tasks);
        EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
        for (const Task& task : plan.tasks)
          if (task.C.of == Resource::matrix) EXPECT_LE(task.C.j + task.C.n, CardMemory(deal, task.lane.card).columns());
      }
}

/// A wide left-looking Cholesky, whose first and last panels are narrow: all that a card does to columns is in order, and while a panel is
/// factored the cards that have others bring these up to date.
TEST(Cards, bring_block_columns_up_to_date_ahead) {
  const DeviceProperties device = card("h200");
  const Tuning tuning = tuning_for(device).values;
  for (const std::int64_t n : {9000, 26000})
    for (int cards = 2; cards <= 3; ++cards) {
      Blocking by = blocking_for(Method::cholesky, Schedule::left_looking, n, 1536, tuning, Precision::fp64, cards);
      by.ahead = cards;
      const Deal deal(by, cards);
      const Plan plan = lower_cards(lower(plan_of(Method::cholesky, Schedule::left_looking, by),
                                          capabilities_of(device, tuning, Precision::fp64, n)),
                                    deal);
      SCOPED_TRACE(testing::Message() << "n = " << n << ", " << cards << " cards, " << plan.tasks.size() << " tasks");
      if (plan.tasks.size() < most_tasks) EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
      std::map<std::int64_t, std::int64_t> done;  // columns of L that have come to a panel, by its first column
      for (const Task& task : plan.tasks)
        if (is(task, "update") && !task.in_panel) {
          EXPECT_EQ(task.L.j, done[task.C.j]) << "columns " << task.C.j;
          done[task.C.j] = task.L.j + task.L.n;
        }
      for (const auto& [j, columns] : done) EXPECT_LE(columns, j);
    }
}

/// What is lowered for kernels, too: what a panel leaves to the next task is sent with it.
TEST(Cards, share_plans_that_are_lowered_for_a_device) {
  const DeviceProperties device = card("h200");
  const Tuning tuning = tuning_for(device).values;
  for (const Method method : methods)
    for (const std::int64_t n : {300, 1300, 9000})
      for (int cards = 2; cards <= 4; ++cards) {
        Blocking by = blocking_for(method, Schedule::right_looking, n, 0, tuning, Precision::fp64, cards);
        if (n == 1300) by.widths = {.panel = 256, .step = 128};
        SCOPED_TRACE(text_of({method, Schedule::right_looking}, by, cards));
        const Deal deal(by, cards);
        const Plan lowered =
            lower(plan_of(method, Schedule::right_looking, by), capabilities_of(device, tuning, Precision::fp64, n));
        const Plan plan = in_memory_of_cards(lower_cards(lowered, deal), deal);
        std::vector<bool> has_packed(std::size_t(cards), false);
        for (const Task& task : plan.tasks) {
          const std::size_t its = std::size_t(task.lane.card);
          if (is(task, "panel_in_place")) has_packed.assign(has_packed.size(), false), has_packed[its] = true;
          if (is(task, "send") && !task.U.empty()) {
            EXPECT_TRUE(has_packed[std::size_t(task.from)]);
            has_packed[its] = true;
          }
          if (is(task, "lookahead_update")) EXPECT_TRUE(has_packed[its]);
        }
        if (plan.tasks.size() < most_tasks)
          EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
      }
}

/// One product for all columns of a card, not one for each of its block columns.
TEST(Cards, do_at_once_what_lies_side_by_side) {
  for (const Method method : {Method::lu, Method::lu_nopivot})
    for (int cards = 2; cards <= 4; ++cards) {
      const Blocking by{.n = 200, .widths = {.panel = 16}};
      const Deal deal(by, cards);
      const Plan plan = plan_of(method, Schedule::right_looking, by);
      std::size_t wanted = 0, are = 0;
      for (const Task& task : plan.tasks) {
        if (!is(task, "update")) continue;
        std::set<int> of;
        for (std::int64_t j = task.C.j; j < task.C.j + task.C.n; ++j) of.insert(deal.card_of(j));
        wanted += of.size();
      }
      for (const Task& task : in_memory_of_cards(lower_cards(plan, deal), deal).tasks) are += is(task, "update");
      EXPECT_EQ(are, wanted) << text_of({method, Schedule::right_looking}, by, cards);
    }
}

/// Where panels have multiprocessors of their own, but for some: these come before the products of their card. In steps, the first one does.
TEST(Cards, factor_panels_before_the_products_that_would_hold_them_up) {
  const Blocking by{.n = 400, .widths = {.panel = 32, .step = 16}, .lanes = four_lanes};
  constexpr std::int64_t most_rows = 200;
  const Plan lowered = lower(plan_of(Method::lu, Schedule::right_looking, by),
                             {.panel_partition = {.multiprocessors = 40, .rows = most_rows}});
  for (int cards = 2; cards <= 3; ++cards) {
    const Deal deal(by, cards);
    const Plan plan = in_memory_of_cards(lower_cards(lowered, deal), deal);
    std::map<std::int64_t, const Task*> panels;  // that something comes after, by block column
    std::set<std::int64_t> come_first;
    for (const Task& task : plan.tasks) {
      if (task.device.empty()) continue;
      const std::int64_t block = task.device.i;
      EXPECT_EQ(task.lane.card, block % cards);
      if (is(task, "panel")) {
        panels[block] = &task;
        EXPECT_GT(task.C.m, most_rows);
        EXPECT_EQ(come_first.count(block), 0u) << "it would wait for the product";
      } else if (panels.count(block) > 0) {
        EXPECT_TRUE(conflict(*panels[block], task));
        come_first.insert(block);
      }
    }
    EXPECT_GE(come_first.size(), 5u) << cards;
    EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
  }
}

/// A card has narrow panels side by side, as many as have the columns of a wide one.
TEST(Cards, of_larger_number_have_narrower_panels_of_LU) {
  const Tuning tuning = tuning_for(card("h200")).values;
  const auto widest = [&](std::int64_t n, Precision storage, int cards) {
    return blocking_for(Method::lu, Schedule::right_looking, n, 0, tuning, storage, cards).widths.panel;
  };
  EXPECT_EQ(widest(32768, Precision::fp64, 1), 2048);
  EXPECT_EQ(widest(32768, Precision::fp64, 2), 1024);
  EXPECT_EQ(widest(32768, Precision::fp64, 4), 512);
  EXPECT_EQ(widest(131072, Precision::fp64, 4), 2048);
  EXPECT_EQ(widest(65536, Precision::fp32, 2), 2048);
  EXPECT_EQ(widest(32768, Precision::fp32, 2), 1024);
  EXPECT_EQ(widest(32768, Precision::fp32, 4), 1024);
}

TEST(Cards, have_narrow_panels_side_by_side) {
  const Tuning tuning = tuning_for(card("h200")).values;
  const Blocking by = blocking_for(Method::lu, Schedule::right_looking, 32768, 0, tuning);
  std::size_t panels = 0;
  for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end)) ++panels;
  const Deal deal(by, 2);
  EXPECT_LT(deal.blocks(), panels);
  for (std::size_t b = 0; b < deal.blocks(); ++b) EXPECT_LE(deal.columns_of(b).count(), by.widths.panel);
  for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end))
    EXPECT_EQ(deal.block_of(p.begin), deal.block_of(p.end - 1)) << "a panel is on one card";
}

TEST(Cards, cannot_share_the_solves_of_a_Cholesky_by_halves) {
  const Blocking by{.n = 64, .widths = {.panel = 8}};
  EXPECT_THROW(lower_cards(plan_of(Method::cholesky, Schedule::recursive, by), Deal(by, 2)), std::logic_error);
  EXPECT_THROW(Deal(by, 0), std::invalid_argument);
}

}  // namespace
}  // namespace lasolve::test::cards_test
