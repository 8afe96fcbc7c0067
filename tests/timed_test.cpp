// What `lasolve compare` measures with: solves that are timed and heard, hashes and launches.
#include <gtest/gtest.h>

#include <memory>

#include "compare/launches.hpp"
#include "compare/timed.hpp"
#include "compare/whole_matrix.hpp"
#include "core/cuda_devices.hpp"
#include "io/generators.hpp"
#include "solvers/methods.hpp"
#include "solvers/watch.hpp"

namespace lasolve::compare {
namespace {

TEST(TaskRecorder, tells_of_the_last_factorization_from_its_first_task_on) {
  const auto hear = [](double begin, double end) {
    Task task{&cholesky_task::update, four_lanes.near};
    task.C = {{0, 2}, {0, 2}}, task.L = {{0, 2}, {0, 1}};
    task_watcher()->on_task(task, begin, end);
  };
  TaskRecorder listener;
  hear(1, 2);
  task_watcher()->on_begin();
  hear(6, 7), hear(5, 8);  // in the order of their ends
  const std::vector<TaskTime> tasks = listener.take();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].begin, 1);
  EXPECT_EQ(tasks[1].begin, 0);
  EXPECT_EQ(tasks[1].lane, "near");
  EXPECT_TRUE(listener.take().empty());
}

TEST(Recording, leaves_a_run_as_a_program_makes_it) {
  TimedSolve panel, products;
  panel.tasks = {{"panel", "A[0:64, 0:64]", Phase::panel, 0, 0.25, 1e6}};
  products.tasks = {{"update", "A[64:256, 64:256]", Phase::gemm, 0.25, 1.5, 6e8, 192, 192, 64}};
  Recording none(Recording::none), updates(Recording::updates), all(Recording::all);
  for (Recording* h : {&none, &updates, &all}) {
    EXPECT_TRUE(h->progress(false)) << "nobody knows how long it takes";
    EXPECT_FALSE(h->progress(true));
    EXPECT_EQ(h->tasks(), h != &none);
    h->learn(products);
    EXPECT_FALSE(h->progress(false));
    EXPECT_EQ(h->tasks(), h != &none);
    panel.report.total_seconds = 2;
    h->learn(panel);
    EXPECT_TRUE(h->progress(true)) << "it is long";
    EXPECT_EQ(h->tasks(), h == &all) << "there are no updates";
    h->learn({});
    EXPECT_EQ(h->tasks(), h == &all);
  }
}

TEST(Timed, solve_has_tasks_where_they_are_wanted) {
  const io::Generator generator("uniform:n=200");
  Queue<Cpu> q(2);
  Matrix<double> A(200, 200);
  io::generate(q, generator, A);
  Options options;
  options.device.kind = Device::cpu, options.block_size = 50;
  const auto factor = [&] { return Factorization<double>(A.view(), options).report(); };
  EXPECT_TRUE(timed(false, factor).tasks.empty());
  const TimedSolve received = timed(true, factor);
  EXPECT_GT(received.tasks.size(), 4u);
  EXPECT_EQ(received.report.n, 200);
}

TEST(Watch, hears_of_all_tasks_of_a_factorization) {
  const io::Generator generator("uniform:n=200");
  Queue<Cpu> q(2);
  Matrix<double> A(200, 200);
  io::generate(q, generator, A);
  double flops = 0, last = 0;
  int updates = 0;
  int begun = 0;
  const auto hear = [&](const Task& task, double begin, double end) {
    EXPECT_LE(last, begin);
    EXPECT_LE(begin, end);
    last = end, flops += task.flops();
    updates += task.is(lu_task::update);
  };
  auto watch = std::make_unique<TaskWatch>(TaskWatcher{.on_task = hear, .on_begin = [&] { ++begun; }});
  Options options;
  options.device.kind = Device::cpu, options.block_size = 50;
  const Factorization<double> watched(A.view(), options);
  watch.reset();
  EXPECT_EQ(begun, 1);
  EXPECT_GT(updates, 0);
  EXPECT_NEAR(flops / (2.0 / 3 * 200 * 200 * 200), 1, 0.05);
  const double before = last;
  const Factorization<double> alone(A.view(), options);
  EXPECT_EQ(last, before) << "nobody watches";
}

TEST(Hash, is_of_the_elements_alone) {
  Queue<Cpu> q(2);
  Matrix<double> A(5, 4, 5), B(5, 4, 9);
  for (std::int64_t j = 0; j < 4; ++j)
    for (std::int64_t i = 0; i < 5; ++i) A(i, j) = B(i, j) = double(10 * i + j);
  const auto hash = [&](const Matrix<double>& M, std::int64_t at_once) {
    MatrixHash h(5, 4);
    for (std::int64_t j = 0; j < 4; j += at_once) h.add(q, M.view().columns(j, at_once));
    return h.text();
  };
  EXPECT_EQ(hash(A, 4), hash(B, 4));
  EXPECT_EQ(hash(A, 4), hash(A, 1));
  EXPECT_EQ(hash(A, 4).size(), 16u);
  const std::string before = hash(A, 4);
  A(4, 3) = -A(4, 3);
  EXPECT_NE(hash(A, 4), before);
  std::swap(A(4, 3), B(0, 0));
  EXPECT_NE(hash(A, 4), before);
}

TEST(LaunchesOfCuda, take_some_time) {
  if (!why_no_cuda_device(0).empty()) GTEST_SKIP() << why_no_cuda_device(0);
  const auto chain = make_chain_of_launches(0);
  ASSERT_TRUE(chain);
  for (int i = 0; i < 3; ++i) {
    const double seconds = chain();
    EXPECT_GT(seconds, launches_of_a_chain * 5e-7);
    EXPECT_LT(seconds, 0.1);
  }
  EXPECT_THROW(make_chain_of_launches(int(cuda_devices().names.size())), MachineError);
}

}  // namespace
}  // namespace lasolve::compare
