// Plans: every order that matters is kept by the waits, none of the waits is idle, and whatever order they leave open computes
// the same factors. All of it for each line of the table of schedules, by a reference that knows no queue.
#include "solvers/plan.hpp"

#include <bitset>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <queue>
#include <set>
#include <string>
#include <thread>

#include "lasolve/names.hpp"
#include "matrices.hpp"
#include "places.hpp"
#include "solvers/execute.hpp"
#include "solvers/schedules.hpp"

namespace lasolve::test {
namespace {

constexpr std::size_t most_tasks = 2048;
using Set = std::bitset<most_tasks>;
using WaitLists = std::vector<std::vector<std::size_t>>;

/// check(plan) for each schedule of each method.
template <class Check>
void for_each_schedule(Walk walk, Check check) {
  for (const ScheduleEntry& entry : schedules())
    for (const Method method : {Method::lu, Method::cholesky}) {
      if (!entry.offered_for(method)) continue;
      SCOPED_TRACE(std::string(name_of(entry.schedule)) + (method == Method::lu ? ", LU" : ", Cholesky") +
                   ", n = " + std::to_string(walk.n) + ", panels of " + std::to_string(walk.block_size) +
                   ", steps of " + std::to_string(walk.step) + (walk.arrives ? ", arriving" : "") +
                   (walk.lanes.single() ? ", one lane" : ", four lanes"));
      check(plan_of(method, entry.schedule, walk));
    }
}

/// The same for many sizes, with one lane or four.
template <class Check>
void for_many_walks(const Lanes& lanes, Check check) {
  for (const std::int64_t n : {0, 1, 2, 5, 16, 33, 40, 97})
    for (const std::int64_t block_size : {1, 3, 8, 12, 50}) {
      if (n > 24 * block_size) continue;
      for (const std::int64_t step : {0, 4})
        for (const bool arrives : {false, true})
          for_each_schedule({.n = n,
                             .block_size = block_size,
                             .step = step,
                             .least_panel = arrives ? (block_size + 7) / 8 : 0,
                             .arrives = arrives,
                             .lanes = lanes},
                            check);
    }
}

WaitLists lists_of(const Plan& plan) {
  const Waits waits = waits_of(plan);
  WaitLists lists(plan.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) lists[i].assign(waits.of(i).begin(), waits.of(i).end());
  return lists;
}

/// Bit k of element i: task i comes after task k, because of the waits and of the order within each lane.
std::vector<Set> order_by(const Plan& plan, const WaitLists& waits) {
  std::vector<Set> before(plan.tasks.size());
  std::map<Lane, std::size_t> last;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const auto comes_after = [&](std::size_t k) { before[i] |= before[k], before[i].set(k); };
    for (const std::size_t k : waits[i]) comes_after(k);
    if (const auto k = last.find(plan.tasks[i].lane); k != last.end()) comes_after(k->second);
    last[plan.tasks[i].lane] = i;
  }
  return before;
}

/// Those before each task that are in conflict with it. Found element by element of its blocks' bounds, not by overlap().
std::vector<Set> conflicts_in(const Plan& plan) {
  const auto touches = [](const BlockList& a, const BlockList& b) {
    for (const Block& x : a)
      for (const Block& y : b)
        if (x.of == y.of && std::max(x.i, y.i) < std::min(x.i + x.m, y.i + y.m) &&
            std::max(x.j, y.j) < std::min(x.j + x.n, y.j + y.n))
          return true;
    return false;
  };
  std::vector<Set> conflicts(plan.tasks.size());
  for (std::size_t i = 0; i < plan.tasks.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const BlockList r1 = reads_of(plan.tasks[k]), w1 = writes_of(plan.tasks[k]), r2 = reads_of(plan.tasks[i]),
                      w2 = writes_of(plan.tasks[i]);
      conflicts[i][k] = touches(w1, r2) || touches(w1, w2) || touches(r1, w2);
    }
  return conflicts;
}

/// Whether each task comes after all those that it is in conflict with; `first` is looked at first.
bool keeps_order(const std::vector<Set>& conflicts, const std::vector<Set>& before, std::size_t first = 0) {
  for (std::size_t j = 0; j < conflicts.size(); ++j) {
    const std::size_t i = (first + j) % conflicts.size();
    if ((conflicts[i] & ~before[i]).any()) return false;
  }
  return true;
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

/// Three times its flops, which are thirds of whole numbers.
std::int64_t thirds(double flops) { return std::llround(3 * flops); }

TEST(Plan, has_the_flops_of_the_textbook) {
  for (const Lanes& lanes : {Lanes::one(), four_lanes})
    for_many_walks(lanes, [](const Plan& plan) {
      std::int64_t sum = 0;
      for (const Task& task : plan.tasks) {
        sum += thirds(task.flops);
        EXPECT_GE(task.flops, 0);
      }
      const std::int64_t n = plan.n, cube = n * n * n;
      EXPECT_EQ(sum, plan.method == Method::lu ? 2 * cube : cube);
    });
}

TEST(Plan, brings_each_column_once_and_from_the_left_to_the_right) {
  for_many_walks(four_lanes, [](const Plan& plan) {
    std::int64_t there = 0;
    for (const Task& task : plan.tasks) {
      if (task.kind != TaskKind::arrive) continue;
      EXPECT_EQ(task.C.j, there);
      there += task.C.n;
    }
    EXPECT_TRUE(there == 0 || there == plan.n);
  });
}

/// Does what tasks say, in the plainest way.
class Reference {
 public:
  Reference(const Matrix<double>& A, const Plan& plan)
      : source_(A), method_(plan.method), A_(A.rows(), A.cols()), pivots_(std::size_t(A.rows()), 0) {
    const bool arrives = std::any_of(plan.tasks.begin(), plan.tasks.end(),
                                     [](const Task& task) { return task.kind == TaskKind::arrive; });
    for (std::int64_t j = 0; j < A.cols(); ++j)
      for (std::int64_t i = 0; i < A.rows(); ++i)
        A_(i, j) = arrives ? std::numeric_limits<double>::quiet_NaN() : A(i, j);
  }

  void run(const Task& task) {
    switch (task.kind) {
      case TaskKind::arrive:
        return copy(task.C);
      case TaskKind::panel:
        return method_ == Method::lu ? panel_of_lu(task.C) : panel_of_cholesky(task.C);
      case TaskKind::exchange:
        return exchange(task.exchanges.rows(), task.C.columns());
      case TaskKind::solve:
        return method_ == Method::lu ? solve_left(task.L, task.C) : solve_right(task.L, task.C);
      case TaskKind::update:
      case TaskKind::update_lower:
        return method_ == Method::lu ? subtract(task.L, task.U, task.C) : subtract_lower(task);
      case TaskKind::stop_if_failed:
        return;
    }
  }

  /// L and U, or the lower triangle; and the pivots.
  std::vector<double> values() const {
    std::vector<double> all(pivots_.begin(), pivots_.end());
    for (std::int64_t j = 0; j < A_.cols(); ++j)
      for (std::int64_t i = method_ == Method::lu ? 0 : j; i < A_.rows(); ++i) all.push_back(A_(i, j));
    return all;
  }
  const Matrix<double>& factors() const { return A_; }

 private:
  void copy(const Block& C) {
    for (std::int64_t j = C.j; j < C.j + C.n; ++j)
      for (std::int64_t i = C.i; i < C.i + C.m; ++i) A_(i, j) = source_(i, j);
  }
  void exchange(Range steps, Range columns) {
    for (std::int64_t k = steps.begin; k < steps.end; ++k)
      for (std::int64_t j = columns.begin; j < columns.end; ++j)
        std::swap(A_(k, j), A_(std::int64_t(pivots_[std::size_t(k)]), j));
  }
  void panel_of_lu(const Block& C) {
    const std::int64_t end = C.j + C.n;
    for (std::int64_t k = C.j; k < end; ++k) {
      std::int64_t p = k;
      for (std::int64_t i = k + 1; i < C.i + C.m; ++i)
        if (std::abs(A_(i, k)) > std::abs(A_(p, k))) p = i;
      pivots_[std::size_t(k)] = double(p);
      exchange({k, k + 1}, C.columns());
      for (std::int64_t i = k + 1; i < C.i + C.m; ++i) {
        A_(i, k) /= A_(k, k);
        for (std::int64_t j = k + 1; j < end; ++j) A_(i, j) -= A_(i, k) * A_(k, j);
      }
    }
  }
  void panel_of_cholesky(const Block& C) {
    const std::int64_t end = C.j + C.n;
    for (std::int64_t k = C.j; k < end; ++k) {
      A_(k, k) = std::sqrt(A_(k, k));
      for (std::int64_t i = k + 1; i < C.i + C.m; ++i) A_(i, k) /= A_(k, k);
      for (std::int64_t j = k + 1; j < end; ++j)
        for (std::int64_t i = j; i < C.i + C.m; ++i) A_(i, j) -= A_(i, k) * A_(j, k);
    }
  }
  void solve_left(const Block& L, const Block& C) {
    for (std::int64_t j = C.j; j < C.j + C.n; ++j)
      for (std::int64_t k = 0; k < L.n; ++k)
        for (std::int64_t i = k + 1; i < L.m; ++i) A_(C.i + i, j) -= A_(L.i + i, L.j + k) * A_(C.i + k, j);
  }
  void solve_right(const Block& L, const Block& C) {
    for (std::int64_t i = C.i; i < C.i + C.m; ++i)
      for (std::int64_t k = 0; k < L.n; ++k) {
        A_(i, C.j + k) /= A_(L.i + k, L.j + k);
        for (std::int64_t j = k + 1; j < L.n; ++j) A_(i, C.j + j) -= A_(i, C.j + k) * A_(L.i + j, L.j + k);
      }
  }
  void subtract(const Block& L, const Block& U, const Block& C) {
    for (std::int64_t j = 0; j < C.n; ++j)
      for (std::int64_t i = 0; i < C.m; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < L.n; ++k) sum += A_(L.i + i, L.j + k) * A_(U.i + k, U.j + j);
        A_(C.i + i, C.j + j) -= sum;
      }
  }
  void subtract_lower(const Task& task) {
    const Block &L = task.L, &C = task.C;
    for (std::int64_t j = 0; j < C.n; ++j)
      for (std::int64_t i = j; i < C.m; ++i) {
        double sum = 0;
        for (std::int64_t k = 0; k < L.n; ++k) sum += A_(L.i + i, L.j + k) * A_(L.i + j, L.j + k);
        A_(C.i + i, C.j + j) -= sum;
      }
  }

  const Matrix<double>& source_;
  const Method method_;
  Matrix<double> A_;
  std::vector<double> pivots_;
};

/// For LU any, for Cholesky one that is positive definite.
Matrix<double> matrix_for(const Plan& plan) {
  const std::int64_t n = plan.n;
  if (plan.method == Method::lu) return random_matrix(n, n, 7);
  Random random(7);
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) A(i, j) = A(j, i) = i == j ? 2.0 * double(n) : random();
  return A;
}

std::vector<double> in_program_order(const Plan& plan, const Matrix<double>& A) {
  Reference reference(A, plan);
  for (const Task& task : plan.tasks) reference.run(task);
  return reference.values();
}

/// At each point a random one of the lanes goes on whose next task has nothing left to wait for.
std::vector<double> in_random_order(const Plan& plan, const WaitLists& waits, const Matrix<double>& A,
                                    std::mt19937_64& bits) {
  std::map<Lane, std::queue<std::size_t>> lines;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) lines[plan.tasks[i].lane].push(i);
  std::vector<bool> done(plan.tasks.size());
  Reference reference(A, plan);
  for (std::size_t count = 0; count < plan.tasks.size(); ++count) {
    std::vector<std::queue<std::size_t>*> ready;
    for (auto& [lane, line] : lines)
      if (!line.empty() &&
          std::all_of(waits[line.front()].begin(), waits[line.front()].end(), [&](std::size_t k) { return done[k]; }))
        ready.push_back(&line);
    if (ready.empty()) {
      ADD_FAILURE() << "all lanes wait";
      break;
    }
    auto& line = *ready[bits() % ready.size()];
    reference.run(plan.tasks[line.front()]);
    done[line.front()] = true;
    line.pop();
  }
  return reference.values();
}

/// Compares bits: NaN is no excuse.
bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

TEST(Plan, computes_the_same_bits_in_any_order_that_the_waits_allow) {
  std::mt19937_64 bits(3);
  for (const bool arrives : {false, true})
    for (const auto& [n, block_size, step] : {std::array{40, 12, 4}, {33, 8, 0}, {29, 5, 2}, {20, 20, 6}})
      for_each_schedule({.n = n, .block_size = block_size, .step = step, .arrives = arrives, .lanes = four_lanes},
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
      for_each_schedule({.n = n, .block_size = block_size, .step = step, .lanes = lanes}, [&](const Plan& plan) {
        const Matrix<double> A = matrix_for(plan);
        Reference reference(A, plan);
        for (const Task& task : plan.tasks) reference.run(task);
        const Matrix<double>& F = reference.factors();
        if (plan.method == Method::lu) {
          const auto expected = reference_lu(rounded<double>(A.view()));
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(F(i, j), expected.values(i, j), 1e-11);
        } else {
          for (std::int64_t j = 0; j < n; ++j)
            for (std::int64_t i = j; i < n; ++i) {
              double sum = 0;
              for (std::int64_t k = 0; k <= j; ++k) sum += F(i, k) * F(j, k);
              EXPECT_NEAR(sum, A(i, j), 1e-11);
            }
        }
      });
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

/// What give_in_order wants of a place, with threads as queues and promises as events.
class ThreadLines {
 public:
  ThreadLines(const Plan& plan, Reference& reference) : ends_(plan.tasks.size()), reference_(reference) {
    for (auto& end : ends_) comes_.push_back(end.get_future().share());
    for (const Lane lane : lanes_of(plan)) lines_[lane];
  }
  void wait(Lane lane, std::size_t k) {
    lines_[lane].give([end = comes_[k]] { end.wait(); });
  }
  bool give(Lane lane, std::size_t, const Task& task) {
    lines_[lane].give([this, &task] { reference_.run(task); });
    return true;
  }
  void mark(Lane lane, std::size_t i) {
    lines_[lane].give([this, i] { ends_[i].set_value(); });
  }

 private:
  std::vector<std::promise<void>> ends_;
  std::vector<std::shared_future<void>> comes_;
  Reference& reference_;
  std::map<Lane, ThreadLine> lines_;  // end first
};

TEST(Plan, computes_the_same_bits_where_lanes_are_threads) {
  for (int round = 0; round < 5; ++round)
    for_each_schedule({.n = 96, .block_size = 24, .step = 8, .arrives = round % 2 == 1, .lanes = four_lanes},
                      [&](const Plan& plan) {
                        const Matrix<double> A = matrix_for(plan);
                        Reference reference(A, plan);
                        { give_in_order(plan, waits_of(plan), ThreadLines(plan, reference)); }
                        ASSERT_TRUE(same_bits(reference.values(), in_program_order(plan, A)));
                      });
}

TEST(Plan, that_looks_ahead_factors_the_next_panel_beside_the_bulk) {
  for (const Method method : {Method::lu, Method::cholesky}) {
    const Plan plan =
        plan_of(method, Schedule::right_looking, {.n = 96, .block_size = 24, .step = 8, .lanes = four_lanes});
    const std::vector<Set> before = order_by(plan, lists_of(plan));
    std::size_t beside = 0;
    for (std::size_t i = 0; i < plan.tasks.size(); ++i)
      for (std::size_t k = 0; k < plan.tasks.size(); ++k) {
        const Task &panel = plan.tasks[i], &update = plan.tasks[k];
        const bool is_bulk = update.lane == four_lanes.bulk &&
                             (update.kind == TaskKind::update || update.kind == TaskKind::update_lower);
        if (panel.kind == TaskKind::panel && is_bulk && panel.C.j == 24 && update.L.j == 0)
          beside += !before[i][k] && !before[k][i];
      }
    EXPECT_EQ(beside, 1u);
  }
}

TEST(Plan, of_one_lane_updates_all_columns_at_once) {
  const Plan plan = plan_of(Method::lu, Schedule::right_looking, {.n = 100, .block_size = 10});
  std::size_t updates = 0;
  for (const Task& task : plan.tasks) {
    if (task.kind != TaskKind::update) continue;
    ++updates;
    EXPECT_EQ(task.C.j + task.C.n, 100);
    EXPECT_EQ(task.C.j, task.L.j + 10);
  }
  EXPECT_EQ(updates, 9u);
}

TEST(Plan, begins_with_narrow_panels_where_it_is_asked_to) {
  const Walk walk{.n = 1000, .block_size = 128, .least_panel = 16};
  EXPECT_EQ(walk.panel_at(0), (Range{0, 16}));
  EXPECT_EQ(walk.panel_at(64), (Range{64, 96}));
  EXPECT_EQ(walk.panel_at(600), (Range{600, 728}));
  EXPECT_EQ(walk.panel_at(950), (Range{950, 1000}));
}

TEST(Plan, is_refused_where_it_makes_no_sense) {
  EXPECT_THROW(plan_of(Method::lu, Schedule::automatic, {.n = 4}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::automatic, Schedule::recursive, {.n = 4}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::lu, Schedule::recursive, {.n = 4, .block_size = 0}), std::invalid_argument);
  EXPECT_THROW(plan_of(Method::lu, Schedule::recursive, {.n = -1}), std::invalid_argument);
}

TEST(Plan, is_offered_for_a_method_at_least) {
  for (const ScheduleEntry& entry : schedules()) {
    SCOPED_TRACE(name_of(entry.schedule));
    EXPECT_TRUE(entry.offered_for(Method::lu) || entry.offered_for(Method::cholesky));
    for (const Method method : {Method::lu, Method::cholesky}) {
      EXPECT_EQ(is_offered(method, entry.schedule), entry.offered_for(method));
      if (entry.offered_for(method)) continue;
      EXPECT_THROW(plan_of(method, entry.schedule, {.n = 4}), std::invalid_argument);
    }
  }
}

/// The CPU, through the public interface: a schedule of the table is one that can be asked for.
TEST(Plan, of_each_schedule_solves_on_the_cpu) {
  for (const ScheduleEntry& entry : schedules())
    for (const Method method : {Method::lu, Method::cholesky}) {
      SCOPED_TRACE(name_of(entry.schedule));
      const Plan plan{.method = method, .n = 120, .lanes = Lanes::one()};
      const Matrix<double> A = matrix_for(plan), B = random_matrix(120, 2);
      Matrix<double> X(120, 2);
      Options options;
      options.device.kind = Device::cpu;
      options.factorization = method;
      options.schedule = entry.schedule;
      options.block_size = 32;
      if (!entry.offered_for(method)) {
        EXPECT_THROW(solve(A, B, X, options), std::invalid_argument);
        continue;
      }
      const Report report = solve(A, B, X, options);
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      EXPECT_EQ(report.schedule, entry.schedule);
      EXPECT_LT(*report.hpl_residual, hpl_threshold);
    }
}

}  // namespace
}  // namespace lasolve::test
