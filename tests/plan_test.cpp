// Plans: every order that matters is kept by the waits, none of the waits is idle, and whatever order they leave open computes
// the same factors. All of it for each line of the table of schedules, by a reference that knows no queue.
#include "solvers/plan.hpp"

#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <string>
#include <thread>

#include "lasolve/names.hpp"
#include "plans.hpp"
#include "solvers/execute.hpp"

namespace lasolve::test {
namespace {

constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

/// check(plan) for each schedule of each method.
template <class Check>
void for_each_schedule(Blocking by, Check check) {
  for (const Schedule schedule : all_schedules())
    for (const Method method : methods) {
      if (!is_offered(method, schedule)) continue;
      SCOPED_TRACE(std::string(name_of(schedule)) + ", " + name_of(method) + ", n = " + std::to_string(by.n) +
                   ", panels of " + std::to_string(by.widths.panel) + ", steps of " + std::to_string(by.widths.step) +
                   (by.arrives ? ", arriving" : "") + (by.lanes.single() ? ", one lane" : ", four lanes"));
      check(plan_of(method, schedule, by));
    }
}

/// Where A arrives, the first panels are narrower.
Widths in_steps(std::int64_t columns, std::int64_t step, bool arrives) {
  Widths widths{.panel = columns, .step = step};
  if (arrives) widths.least = widths.unit = (columns + 7) / 8, widths.of_before = 0.5;
  return widths;
}

/// The same for many sizes, with one lane or four.
template <class Check>
void for_many_walks(const Lanes& lanes, Check check) {
  for (const std::int64_t n : {0, 1, 2, 5, 16, 33, 40, 97})
    for (const std::int64_t block_size : {1, 3, 8, 12, 50}) {
      if (n > 24 * block_size) continue;
      for (const std::int64_t step : {0, 4})
        for (const bool arrives : {false, true})
          for_each_schedule({.n = n, .widths = in_steps(block_size, step, arrives), .arrives = arrives, .lanes = lanes},
                            check);
    }
}

TEST(Plan, orders_each_pair_of_tasks_that_touch_the_same_block) {
  for_many_walks(four_lanes, [](const Plan& plan) {
    ASSERT_LT(plan.tasks.size(), most_tasks);
    EXPECT_TRUE(keeps_order(conflicts_in(plan), order_by(plan, lists_of(plan))));
  });
}

TEST(Plan, has_no_wait_that_could_be_left_out) {
  std::size_t tried = 0;
  for_many_walks(four_lanes, [&](const Plan& plan) {
    const std::vector<Set> conflicts = conflicts_in(plan);
    WaitLists waits = lists_of(plan);
    for (std::size_t i = 0; i < waits.size(); ++i)
      for (std::size_t w = 0; w < waits[i].size(); ++w, ++tried) {
        const std::size_t k = waits[i][w];
        waits[i].erase(waits[i].begin() + std::ptrdiff_t(w));
        EXPECT_FALSE(keeps_order(conflicts, order_by(plan, waits), i)) << "task " << i << " waits for " << k;
        waits[i].insert(waits[i].begin() + std::ptrdiff_t(w), k);
      }
  });
  EXPECT_GT(tried, 1000u);
}

TEST(Plan, of_one_lane_waits_for_nothing) {
  for_many_walks(Lanes::one(), [](const Plan& plan) {
    EXPECT_EQ(waits_of(plan).count(), 0u);
    EXPECT_LE(lanes_of(plan).size(), 1u);
  });
}

TEST(Plan, waits_for_at_most_one_task_of_each_other_lane) {
  for_many_walks(four_lanes, [](const Plan& plan) {
    const Waits waits = waits_of(plan);
    for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
      std::set<Lane> lanes{plan.tasks[i].lane};
      for (const std::int32_t k : waits.of(i)) {
        EXPECT_TRUE(lanes.insert(plan.tasks[std::size_t(k)].lane).second);
        EXPECT_TRUE(waits.is_awaited(std::size_t(k)));
      }
    }
  });
}

TEST(Plan, has_the_flops_of_the_textbook) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for_many_walks(lanes, [](const Plan& plan) {
      std::int64_t sum = 0;
      for (const Task& task : plan.tasks) {
        sum += thirds(task.flops());
        EXPECT_GE(task.flops(), 0);
      }
      EXPECT_EQ(sum, thirds_of_textbook(plan));
    });
}

TEST(Plan, has_parts_of_tasks_with_the_flops_of_the_whole) {
  for_many_walks(four_lanes, [](const Plan& plan) {
    for (const Task& task : plan.tasks) {
      if (!task.type->in_columns) continue;
      const Range all = task.C.columns(), first{all.begin, all.begin + (task.C.n + 1) / 2}, rest{first.end, all.end};
      const Task part = task.type->in_columns(task, first);
      const double others = rest.empty() ? 0 : task.type->in_columns(task, rest).flops();
      EXPECT_EQ(part.flops() + others, task.flops()) << task.type->name;
    }
  });
}

TEST(Plan, has_updates_beside_a_panel_leave_room_for_it) {
  for (const Lane lane : {four_lanes.soon, four_lanes.near, four_lanes.chain, four_lanes.far})
    EXPECT_FALSE(four_lanes.leaves_room(lane));
  EXPECT_TRUE(four_lanes.leaves_room(four_lanes.bulk));
  EXPECT_FALSE(Lanes::one().leaves_room(Lanes::one().bulk)) << "nothing runs beside it";
}

TEST(Plan, brings_each_column_once_and_from_the_left_to_the_right) {
  for_many_walks(four_lanes, [](const Plan& plan) {
    std::int64_t there = 0;
    for (const Task& task : plan.tasks) {
      if (!is(task, "arrive")) continue;
      EXPECT_EQ(task.C.j, there);
      there += task.C.n;
    }
    EXPECT_TRUE(there == 0 || there == plan.n);
  });
}

TEST(Plan, computes_the_same_bits_in_any_order_that_the_waits_allow) {
  std::mt19937_64 bits(3);
  for (const bool arrives : {false, true})
    for (const auto& [n, block_size, step] : {std::array{40, 12, 4}, {33, 8, 0}, {29, 5, 2}, {20, 20, 6}})
      for_each_schedule(
          {.n = n, .widths = {.panel = block_size, .step = step}, .arrives = arrives, .lanes = four_lanes},
          [&](const Plan& plan) {
            const Matrix<double> A = matrix_for(plan);
            const WaitLists waits = lists_of(plan);
            const std::vector<double> expected = in_program_order(plan, A);
            for (int round = 0; round < 20; ++round)
              ASSERT_TRUE(same_bits(in_random_order(plan, waits, A, bits), expected));
          });
}

TEST(Plan, factors_the_matrix) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const auto& [n, block_size, step] : {std::array{40, 12, 4}, {33, 8, 0}, {7, 1, 0}, {20, 64, 6}})
      for_each_schedule({.n = n, .widths = {.panel = block_size, .step = step}, .lanes = lanes}, [&](const Plan& plan) {
        const Matrix<double> A = matrix_for(plan);
        Reference reference(A, plan);
        for (const Task& task : plan.tasks) reference.run(task);
        const Matrix<double>& F = reference.factors();
        if (plan.method != Method::cholesky) {  // of what is dominant by columns the pivots are on the diagonal
          const auto expected = reference_lu(rounded<double>(A.view()));
          for (std::int64_t j = 0; j < A.cols(); ++j)
            for (std::int64_t i = 0; i < A.rows(); ++i) EXPECT_NEAR(F(i, j), expected.values(i, j), 1e-11);
        } else {
          for (std::int64_t j = 0; j < A.cols(); ++j)
            for (std::int64_t i = j; i < A.rows(); ++i) {
              double sum = 0;
              for (std::int64_t k = 0; k <= j; ++k) sum += F(i, k) * F(j, k);
              EXPECT_NEAR(sum, A(i, j), 1e-11);
            }
        }
      });
}

std::vector<std::pair<Method, Schedule>> ways_of_LU() {
  std::vector<std::pair<Method, Schedule>> all;
  for (const Method method : {Method::lu, Method::lu_nopivot})
    for (const Schedule schedule : all_schedules())
      if (is_offered(method, schedule)) all.emplace_back(method, schedule);
  return all;
}

/// P A = L U of matrices that are tall or wide, from the definition.
TEST(Plan, of_LU_factors_matrices_that_are_not_square) {
  std::mt19937_64 bits(5);
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for (const bool arrives : {false, true})
      for (const auto& [m, n] : {std::array{40, 17}, {17, 40}, {33, 8}, {8, 33}, {1, 5}, {5, 1}, {0, 3}, {3, 0}})
        for (const auto& [method, schedule] : ways_of_LU()) {
          SCOPED_TRACE(std::string(name_of(method)) + ", " + name_of(schedule) + ", " + std::to_string(m) + " x " +
                       std::to_string(n));
          const Plan plan =
              plan_of(method, schedule,
                      {.n = n, .widths = {.panel = 6, .step = 2}, .arrives = arrives, .lanes = lanes, .m = m});
          const Matrix<double> A = matrix_for(plan);
          Reference reference(A, plan);
          std::int64_t flops = 0;
          for (const Task& task : plan.tasks) reference.run(task), flops += thirds(task.flops());
          EXPECT_EQ(flops, thirds_of_textbook(plan));
          const Matrix<double>& F = reference.factors();
          const std::vector<double> rows = reference.order_of_pivots();
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < m; ++i) {
              double sum = i <= j ? F(i, j) : 0;
              for (std::int64_t k = 0; k < std::min({i, j + 1, std::int64_t(std::min(m, n))}); ++k)
                sum += F(i, k) * F(k, j);
              ASSERT_NEAR(sum, A(std::int64_t(rows[std::size_t(i)]), j), 1e-12) << i << ", " << j;
            }
          const std::vector<double> expected = reference.values();
          for (int round = 0; round < 5; ++round)
            ASSERT_TRUE(same_bits(in_random_order(plan, lists_of(plan), A, bits), expected));
        }
}

TEST(Plan, of_a_symmetric_method_is_refused_for_matrices_that_are_not_square) {
  EXPECT_THROW(plan_of(Method::cholesky, Schedule::left_looking, {.n = 4, .m = 5}), std::invalid_argument);
}

/// A lane that is a thread: it does what it is given in order.
class ThreadLine {
 public:
  ThreadLine() : thread_([this] { work(); }) {}
  ~ThreadLine() {
    give({});
    thread_.join();
  }
  /// An empty function is the last.
  void give(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push(std::move(task));
    something_.notify_one();
  }

 private:
  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      something_.wait(lock, [&] { return !tasks_.empty(); });
      const auto task = std::move(tasks_.front());
      tasks_.pop();
      lock.unlock();
      if (!task) return;
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable something_;
  std::queue<std::function<void()>> tasks_;
  std::thread thread_;
};

/// What give_in_order wants of a device, with threads as queues and promises as events.
class ThreadLines {
 public:
  ThreadLines(const Plan& plan, Reference& reference) : ends_(plan.tasks.size()), reference_(reference) {
    for (auto& end : ends_) comes_.push_back(end.get_future().share());
    for (const Lane lane : lanes_of(plan)) lines_[lane];
  }
  void wait(const Task& task, std::size_t k) {
    lines_[task.lane].give([end = comes_[k]] { end.wait(); });
  }
  bool give(const Task& task, std::size_t) {
    lines_[task.lane].give([this, &task] { reference_.run(task); });
    return true;
  }
  void mark(const Task& task, std::size_t i) {
    lines_[task.lane].give([this, i] { ends_[i].set_value(); });
  }

 private:
  std::vector<std::promise<void>> ends_;
  std::vector<std::shared_future<void>> comes_;
  Reference& reference_;
  std::map<Lane, ThreadLine> lines_;  // end first
};

TEST(Plan, computes_the_same_bits_where_lanes_are_threads) {
  for (int round = 0; round < 5; ++round)
    for_each_schedule({.n = 96, .widths = {.panel = 24, .step = 8}, .arrives = round % 2 == 1, .lanes = four_lanes},
                      [&](const Plan& plan) {
                        const Matrix<double> A = matrix_for(plan);
                        Reference reference(A, plan);
                        { give_in_order(plan, waits_of(plan), ThreadLines(plan, reference)); }
                        ASSERT_TRUE(same_bits(reference.values(), in_program_order(plan, A)));
                      });
}

TEST(Plan, that_looks_ahead_factors_the_next_panel_beside_the_bulk) {
  for (const Method method : methods) {
    const Plan plan =
        plan_of(method, Schedule::right_looking, {.n = 96, .widths = {.panel = 24, .step = 8}, .lanes = four_lanes});
    const std::vector<Set> before = order_by(plan, lists_of(plan));
    std::size_t beside = 0;
    for (std::size_t i = 0; i < plan.tasks.size(); ++i)
      for (std::size_t k = 0; k < plan.tasks.size(); ++k) {
        const Task &panel = plan.tasks[i], &update = plan.tasks[k];
        const bool is_bulk = update.lane == four_lanes.bulk && (is(update, "update") || is(update, "update_lower"));
        if (is(panel, "panel") && is_bulk && panel.C.j == 24 && update.L.j == 0)
          beside += !before[i][k] && !before[k][i];
      }
    EXPECT_EQ(beside, 1u);
  }
}

TEST(Plan, of_one_lane_updates_all_columns_at_once) {
  const Plan plan = plan_of(Method::lu, Schedule::right_looking, {.n = 100, .widths = {.panel = 10}});
  std::size_t updates = 0;
  for (const Task& task : plan.tasks) {
    if (!is(task, "update")) continue;
    ++updates;
    EXPECT_EQ(task.C.j + task.C.n, 100);
    EXPECT_EQ(task.C.j, task.L.j + 10);
  }
  EXPECT_EQ(updates, 9u);
}

TEST(Plan, begins_with_narrow_panels_where_it_is_asked_to) {
  const Blocking by{.n = 1000, .widths = {.panel = 128, .least = 16, .unit = 16, .of_before = 0.5}};
  EXPECT_EQ(by.panel_at(0), (Range{0, 16}));
  EXPECT_EQ(by.panel_at(64), (Range{64, 96}));
  EXPECT_EQ(by.panel_at(600), (Range{600, 728}));
  EXPECT_EQ(by.panel_at(950), (Range{950, 1000}));
}

TEST(Plan, is_refused_where_it_makes_no_sense) {
  EXPECT_THROW(plan_of(Method::lu, Schedule::automatic, {.n = 4}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::automatic, Schedule::recursive, {.n = 4}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::lu, Schedule::recursive, {.n = 4, .widths = {.panel = 0}}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::lu, Schedule::recursive, {.n = -1}), std::invalid_argument);
}

TEST(Plan, has_no_task_that_touches_more_blocks_than_are_listed) {
  BlockList blocks;
  for (std::int64_t i = 0; i < std::int64_t(blocks.all.size()); ++i) blocks.add({{i, i + 1}, {0, 1}});
  blocks.add({});  // an empty one takes no room
  EXPECT_EQ(blocks.count, blocks.all.size());
  EXPECT_THROW(blocks.add({{9, 10}, {0, 1}}), std::logic_error);
}

TEST(Plan, is_offered_for_a_method_at_least) {
  for (const Schedule schedule : all_schedules()) {
    SCOPED_TRACE(name_of(schedule));
    EXPECT_TRUE(is_offered(Method::lu, schedule) || is_offered(Method::cholesky, schedule));
    for (const Method method : methods) {
      if (is_offered(method, schedule)) continue;
      EXPECT_THROW(plan_of(method, schedule, {.n = 4}), std::invalid_argument);
    }
  }
}

/// The CPU, through the public interface: a schedule of the table is one that can be asked for.
TEST(Plan, of_each_schedule_solves_on_the_cpu) {
  for (const Schedule schedule : all_schedules())
    for (const Method method : methods) {
      SCOPED_TRACE(name_of(schedule));
      const Plan plan{.method = method, .m = 120, .n = 120};
      const Matrix<double> A = matrix_for(plan), B = random_matrix(120, 2);
      Matrix<double> X(120, 2);
      Options options;
      options.device.kind = Device::cpu;
      options.factorization = method;
      options.schedule = schedule;
      options.block_size = 32;
      if (!is_offered(method, schedule)) {
        EXPECT_THROW(solve(A, B, X, options), std::invalid_argument);
        continue;
      }
      const Report report = solve(A, B, X, options);
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      EXPECT_EQ(report.schedule, schedule);
      EXPECT_LT(*report.hpl_residual, hpl_threshold);
    }
}

}  // namespace
}  // namespace lasolve::test
