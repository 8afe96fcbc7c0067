// That nobody who watches a solve changes it.
#include "solvers/watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "devices.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// All of a task, but for when it ran.
std::string whole(const Task& task) {
  std::string text =
      fmt::format("{} {} from {}, {} flops, lane {} {} {} {},", task.type->name, int(task.phase()), task.from,
                  task.flops(), task.lane.rank, task.lane.line, task.lane.card, task.lane.multiprocessors);
  for (const Block& b : {task.C, task.L, task.U, task.interchanges, task.device})
    text += fmt::format(" {}: {} x {} at {}, {} of {};", int(b.of), b.m, b.n, b.i, b.j, b.card);
  return text;
}

class Watched : public OnTarget {
 protected:
  void expect_the_same_tasks_as_unwatched(const Matrix<double>& A) const {
    const std::int64_t n = A.rows();
    const Matrix<double> B = right_hand_sides<double>({A.view(), Op::none}, 1);
    const auto tasks_of = [&](const Options& o, Matrix<double>& X) {
      std::vector<std::string> tasks;
      const TaskWatch watch({.on_task = [&](const Task& task, double, double) { tasks.push_back(whole(task)); },
                             .on_begin = [&] { tasks.clear(); }});
      auto solved = solve_for(A, B, o);
      expect_solved(solved);
      X = std::move(solved.X);
      std::sort(tasks.begin(), tasks.end());  // those of different queues end in any order
      tasks.push_back(lasolve::name_of(solved.report.method));
      return tasks;
    };
    Options plain = options(), watched = options();
    watched.progress = [](double) {};
    Matrix<double> X, Y;
    const auto seen = tasks_of(plain, X);
    EXPECT_GE(seen.size(), 2u);
    EXPECT_EQ(seen, tasks_of(watched, Y));
    EXPECT_TRUE(std::equal(X.data(), X.data() + n, Y.data()));
    const Matrix<double> Z = solve_for(A, B, plain).X;  // nobody hears of tasks
    EXPECT_TRUE(std::equal(X.data(), X.data() + n, Z.data()));
  }
};

/// What the tool and an embedder have done, at sizes of every executor: the same tasks, the same bits.
TEST_P(Watched, does_the_same_tasks_as_unwatched) {
  for (const std::int64_t n : {1, 4, 31, 64, 100, 257, 600, 4096})
    for (const bool positive : {false, true}) {
      if (n > 1000 && positive) continue;  // to take no longer
      SCOPED_TRACE(testing::Message() << "n = " << n << (positive ? ", positive definite" : ""));
      expect_the_same_tasks_as_unwatched(positive ? random_with_condition(n, 10, true) : random_matrix(n, n));
    }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Watched, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, Watched, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
