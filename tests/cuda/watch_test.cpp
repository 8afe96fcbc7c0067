// When tasks of a plan ran on a CUDA device, as a watcher hears it; and that nobody else pays for that.
#include <cuda_runtime.h>

#include <chrono>
#include <map>
#include <optional>
#include <thread>

#include "core/cuda/count_for_tests.hpp"
#include "devices.hpp"
#include "solvers/devices/cuda/task_clock.hpp"
#include "solvers/lu/tasks.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

struct WatchedTask {
  Task task;
  double begin, end;
};

/// What somebody heard.
struct Received {
  std::vector<WatchedTask> tasks;
  int factorizations = 0;

  TaskWatcher watcher() {
    return {.on_task =
                [this](const Task& task, double begin, double end) {
                  tasks.push_back({task, begin, end});
                },
            .on_begin = [this] { ++factorizations; }};
  }
  double flops() const {
    double sum = 0;
    for (const WatchedTask& t : tasks) sum += t.task.flops();
    return sum;
  }
};

constexpr double tolerance = 5e-3;  // between the clocks of host and device, where the host is busy

Options in_blocks(Method method) {
  Options o;
  o.device = {Device::cuda, 0};
  o.factorization = method;
  o.block_size = 128;  // so that there is a bulk
  o.check = false;
  return o;
}

class WatchOnCuda : public testing::TestWithParam<Method> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    Queue<Cuda> q(0);
    A = upload(q, dominant_matrix(n));
    B = upload(q, random_matrix(n, 1, 3)), X = upload(q, random_matrix(n, 1, 3));
  }
  Factorization<double> factors(const Options& options) {
    return Factorization<double>(std::as_const(A).view(), options);
  }
  Matrix<double> solution(Factorization<double> factors) {
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_TRUE(factors.solve(std::as_const(B).view(), X.view()).outcome.ok());
    Queue<Cuda> q(0);
    return download(q, X);
  }
  Matrix<double> watched_solution(const Options& options, Received& received) {
    const TaskWatch watch(received.watcher());
    return solution(factors(options));
  }

  static constexpr std::int64_t n = 1000;
  Matrix<double, Cuda> A, B, X;
};

INSTANTIATE_TEST_SUITE_P(Plans, WatchOnCuda, testing::Values(Method::lu, Method::cholesky),
                         [](const auto& info) { return info.param == Method::lu ? "lu" : "cholesky"; });

TEST_P(WatchOnCuda, tells_each_task_once_with_its_flops) {
  Received received;
  const TaskWatch watch(received.watcher());
  factors(in_blocks(GetParam()));
  EXPECT_EQ(received.factorizations, 1);
  for (std::size_t i = 0; i < received.tasks.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const Task &a = received.tasks[i].task, &b = received.tasks[k].task;
      EXPECT_FALSE(a.flops() > 0 && a.type == b.type && a.C == b.C && a.L == b.L && a.U == b.U) << i << " is " << k;
    }
  const double cube = double(n) * double(n) * double(n), textbook = (GetParam() == Method::lu ? 2 : 1) * cube / 3;
  EXPECT_NEAR(received.flops() / textbook, 1, 1e-9);
}

TEST_P(WatchOnCuda, tells_times_that_can_be_true) {
  factors(in_blocks(GetParam()));  // loads kernels
  Received received;
  const double before = steady_seconds();
  const TaskWatch watch(received.watcher());
  const Report report = factors(in_blocks(GetParam())).report();
  const double after = steady_seconds();
  double last_end = before - tolerance, products = 0;
  std::map<Lane, double> ends;                             // of the last task of each lane
  std::map<std::pair<Lane, const TaskType*>, Task> order;  // and of the last of each kind
  for (const auto& [task, begin, end] : received.tasks) {
    EXPECT_LE(begin, end);
    EXPECT_GE(begin, before - tolerance);
    EXPECT_LE(end, after + tolerance);
    EXPECT_GE(end, last_end) << "not in the order of their ends";
    last_end = end;
    const auto lane = ends.try_emplace(task.lane, begin).first;
    EXPECT_GE(begin, lane->second) << "tasks of a lane overlap";
    lane->second = end;
    if (task.phase() == Phase::gemm) products += end - begin;
    if (!task.type->is_product && task.type->picture != TaskType::panel) continue;
    const auto [same, is_first] = order.try_emplace({task.lane, task.type}, task);
    EXPECT_GE(task.C.j, same->second.C.j) << "not in program order: " << task.type->name;
    same->second = task;
  }
  EXPECT_GT(ends.size(), 1u);
  EXPECT_GT(products, 0);
  EXPECT_LE(products, report.factor_seconds * double(ends.size()));
}

TEST_P(WatchOnCuda, changes_no_bit) {
  Received received;
  const Matrix<double> alone = solution(factors(in_blocks(GetParam())));
  EXPECT_TRUE(received.tasks.empty());
  EXPECT_TRUE(same_bits(watched_solution(in_blocks(GetParam()), received), alone));
  const std::size_t tasks = received.tasks.size();
  EXPECT_GT(tasks, 0u);
  EXPECT_TRUE(same_bits(solution(factors(in_blocks(GetParam()))), alone));
  EXPECT_EQ(received.tasks.size(), tasks) << "nobody watches";
}

TEST_P(WatchOnCuda, hears_nothing_of_what_ended_with_an_exception) {
  struct Stopped {};
  Received received, stopped;
  Options options = in_blocks(GetParam());
  options.progress = [](double) { throw Stopped(); };
  {
    const TaskWatch watch(stopped.watcher());
    EXPECT_THROW(factors(options), Stopped);
  }
  EXPECT_TRUE(stopped.tasks.empty());
  watched_solution(in_blocks(GetParam()), received);
  watched_solution(in_blocks(GetParam()), stopped);
  EXPECT_GT(received.tasks.size(), 0u);
  EXPECT_EQ(stopped.tasks.size(), received.tasks.size());
}

TEST_P(WatchOnCuda, hears_of_a_factorization_that_failed) {
  Queue<Cuda> q(0);
  A = upload(q, matrix_of<double>(n, n, [](auto, auto) { return 0; }));
  Received received;
  const TaskWatch watch(received.watcher());
  EXPECT_FALSE(factors(in_blocks(GetParam())).report().outcome.ok());
  EXPECT_EQ(received.factorizations, 1);
  EXPECT_GT(received.flops(), 0);
}

/// A plan of more tasks than those of the other tests, as the events of these may still be there.
TEST(EventsOnCuda, are_made_for_a_watcher_alone_and_once) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  if (!made_until_now()) GTEST_SKIP() << "a build with LASOLVE_TEST_HOOKS counts";
  Queue<Cuda> q(0);
  const Matrix<double, Cuda> A = upload(q, random_matrix(1500, 1500));
  Received received;
  const auto made_by = [&](bool is_watched) {
    const long before = *made_until_now();
    std::optional<TaskWatch> watch;
    if (is_watched) watch.emplace(received.watcher());
    EXPECT_TRUE(Factorization<double>(A.view(), in_blocks(Method::lu)).report().outcome.ok());
    return *made_until_now() - before;
  };
  made_by(false);
  EXPECT_EQ(made_by(false), 0);
  const long first = made_by(true);
  EXPECT_GT(first, 0);
  EXPECT_LE(first, 2 * long(received.tasks.size()) + 1);
  EXPECT_EQ(made_by(true), 0);
  EXPECT_EQ(made_by(false), 0);
}

constexpr double slow_seconds = 0.2;  // so that other programs on the device are no longer

void CUDART_CB be_slow(void*) { std::this_thread::sleep_for(std::chrono::duration<double>(slow_seconds)); }

TEST(TaskClockOnCuda, tells_tasks_in_the_order_of_their_ends_by_the_clock_of_the_host) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  Queue<Cuda> q(0);
  Received received;
  const TaskWatcher watcher = received.watcher();
  TaskClock<Cuda> clock(q, watcher);
  EXPECT_EQ(received.factorizations, 1);
  const Task slow{.type = &lu_task::update, .lane = {}}, quick{.type = &lu_task::panel, .lane = {1, 0}};
  const double before = steady_seconds();
  EXPECT_TRUE(clock.time(q, slow, [&] {
    CUDA_CHECK(cudaLaunchHostFunc(q.stream(), be_slow, nullptr));
    return true;
  }));
  EXPECT_FALSE(clock.time(q.ahead(), quick, [] { return false; }));
  q.finish();
  const double after = steady_seconds();
  EXPECT_TRUE(received.tasks.empty());
  clock.tell();
  ASSERT_EQ(received.tasks.size(), 2u);
  EXPECT_TRUE(received.tasks[0].task.is(lu_task::panel));
  const auto& [task, begin, end] = received.tasks[1];
  EXPECT_TRUE(task.is(lu_task::update));
  EXPECT_GE(end - begin, slow_seconds - 1e-3);
  EXPECT_GE(begin, before - tolerance);
  EXPECT_LE(end, after + tolerance);
  clock.tell();
  EXPECT_EQ(received.tasks.size(), 2u) << "told again";
}

}  // namespace
}  // namespace lasolve::test
