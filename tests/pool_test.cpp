// The threads of the host: what a part throws, several callers, forked children, threads that cannot be made, busy cores.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include "core/cpu/limits.hpp"
#include "core/cpu/parallel.hpp"
#include "solvers/cards/execute.hpp"
#include "systems.hpp"

namespace {
/// How many more threads may be made in this process; negative: any number.
std::atomic<int> threads_left = -1;
}  // namespace

/// In the place of the C library's.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  if (threads_left == 0) return EAGAIN;
  if (threads_left > 0) --threads_left;
  static const auto create = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}

namespace lasolve::test {
namespace {

constexpr double much_work = 1e9;

/// Runs a test in a forked child; false when it does not say true within ten seconds.
template <class Test>
bool in_child(Test test) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(10);
    _exit(test() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool each_part_runs_once(std::int64_t parts) {
  std::vector<std::atomic<int>> runs(static_cast<std::size_t>(parts));
  on_cores(parts, much_work, [&](std::int64_t t) { ++runs[std::size_t(t)]; });
  return std::all_of(runs.begin(), runs.end(), [](const auto& n) { return n == 1; });
}

Report report_of_a_solve(std::int64_t n, int threads) {
  Options o;
  o.device.kind = Device::cpu;
  o.gemm = "packed";
  o.threads = threads;
  const Matrix<double> A = random_with_condition(n, 10, false);
  Matrix<double> X = random_matrix(n, 1);
  return solve(A.view(), X.view(), X.view(), o);
}

TEST(Pool, runs_each_part_once_for_any_number_of_callers_and_within_parts) {
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> callers;
    for (int caller = 0; caller < 24; ++caller)  // more than there are regions
      callers.emplace_back([&] {
        for (std::int64_t parts = 1; parts < 40; ++parts) wrong += !each_part_runs_once(parts);
      });
  }
  on_cores(5, much_work, [&](std::int64_t) { wrong += !each_part_runs_once(7); });
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, hands_on_what_a_part_throws_and_goes_on) {
  for (const std::int64_t bad : {0, 1, 6}) {
    const auto part = [&](std::int64_t t) {
      if (t == bad) throw MachineError("part " + std::to_string(t));
    };
    try {
      on_cores(7, much_work, part);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const MachineError& e) {
      EXPECT_EQ(e.what(), "part " + std::to_string(bad));
    }
    EXPECT_TRUE(each_part_runs_once(9));
  }
}

TEST(Pool, gives_every_backend_to_several_callers_at_once) {
  const Matrix<double> A = random_matrix(96, 96), B = random_matrix(96, 96);
  for (const auto* backend : gemm_backends<Cpu>()) {
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    Queue<Cpu> alone(2);
    Matrix<double> expected(96, 96);
    (*backend)(alone, 1.0, A.view(), B.view(), 0.0, expected.view());
    std::atomic<int> wrong = 0;
    {
      std::vector<std::jthread> callers;
      for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
          Queue<Cpu> q(2);
          Matrix<double> C(96, 96);
          for (int i = 0; i < 60; ++i) {
            (*backend)(q, 1.0, A.view(), B.view(), 0.0, C.view());
            wrong += std::memcmp(C.data(), expected.data(), C.bytes()) != 0;
          }
        });
    }
    EXPECT_EQ(wrong, 0) << backend->name;
  }
}

TEST(Pool, works_in_a_forked_child) {
  const auto solves = [] { return each_part_runs_once(8) && report_of_a_solve(600, 3).outcome.ok(); };
  ASSERT_TRUE(solves());
  EXPECT_TRUE(in_child([&] { return solves() && in_child(solves); }));
  EXPECT_TRUE(solves());
}

TEST(Pool, does_with_as_many_threads_as_can_be_made_and_says_how_many) {
  for (const int others : {0, 1})
    EXPECT_TRUE(in_child([&] {  // which has no threads yet
      threads_left = others;
      const Report report = report_of_a_solve(600, 4);
      return report.outcome.ok() && report.threads == 1 + others;
    })) << others;
}

TEST(Pool, takes_any_number_of_threads) {
  EXPECT_TRUE(in_child([] {
    threads_left = 20;
    return report_of_a_solve(300, 100'000).outcome.ok();
  }));
  EXPECT_LE(Queue<Cpu>(100'000).threads(), 1024);
}

TEST(Pool, has_the_processors_that_this_process_may_run_on) {
  EXPECT_TRUE(in_child([] {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i)
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    const int before = usable_processors();
    return sched_setaffinity(0, sizeof one, &one) == 0 && usable_processors() == 1 && Queue<Cpu>().threads() == 1 &&
           before <= CPU_COUNT(&all);
  }));
}

cpu_set_t processors_of(pid_t thread = 0) {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  sched_getaffinity(thread, sizeof processors, &processors);
  return processors;
}
cpu_set_t without(cpu_set_t processors, int one) {
  CPU_CLR(one, &processors);
  return processors;
}
bool are_same(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }
/// The first processor that is in a set.
int first_of(const cpu_set_t& processors) {
  int first = 0;
  while (!CPU_ISSET(first, &processors)) ++first;
  return first;
}
/// The threads of this process but for the calling one.
std::vector<pid_t> other_threads() {
  std::vector<pid_t> others;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (const pid_t thread = std::stoi(task.path().filename()); thread != gettid()) others.push_back(thread);
  return others;
}

TEST(Pool, runs_where_the_caller_may_run_but_off_its_processor) {
  const cpu_set_t all = processors_of();
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "there is one processor";
  EXPECT_TRUE(in_child([&] {
    const auto where_others_are = [] {
      bool right = each_part_runs_once(3);
      usleep(50'000);  // until all sleep
      right &= each_part_runs_once(3);
      std::vector<cpu_set_t> sets;
      for (const pid_t thread : other_threads()) sets.push_back(processors_of(thread));
      return right ? sets : std::vector<cpu_set_t>();
    };
    const int first = first_of(all);
    bool right = true;
    for (const int one : {first, first_of(without(all, first))}) {
      cpu_set_t here;
      CPU_ZERO(&here);
      CPU_SET(one, &here);
      sched_setaffinity(0, sizeof here, &here);  // there is no other
      const auto with_caller = where_others_are();
      right &= with_caller.size() == 2;
      for (const cpu_set_t& set : with_caller) right &= are_same(set, here);
      sched_setaffinity(0, sizeof all, &all);
    }
    // The scheduler may move the caller at any time.
    bool found = false;
    for (int tries = 0; tries < 20 && !found; ++tries) {
      const int here = sched_getcpu();
      const auto others = where_others_are();
      right &= others.size() == 2;
      found = sched_getcpu() == here && std::all_of(others.begin(), others.end(),
                                                    [&](const auto& set) { return are_same(set, without(all, here)); });
    }
    return right && found;
  }));
}

/// Of a few solves in a process, the time that the fourth part of them stays below.
double seconds_of_solves(int threads) {
  std::vector<double> seconds;
  for (int i = 0; i < 20; ++i) seconds.push_back(report_of_a_solve(256, threads).factor_seconds);
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 4];
}

TEST(Pool, does_not_wait_for_threads_that_have_no_core_while_others_keep_all_cores_busy) {
  std::vector<pid_t> others;
  for (int i = 0; i < 2 * usable_processors(); ++i) {
    const pid_t other = fork();
    if (other == 0)
      for (alarm(60);;) {
      }
    ASSERT_GT(other, 0);  // for kill(), −1 would mean everybody
    others.push_back(other);
  }
  const double one = seconds_of_solves(1), two = seconds_of_solves(2);
  for (const pid_t other : others) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  EXPECT_LT(two, 5 * one) << one << " s on one thread";  // where threads wait for each other it is 50 times as long
}

TEST(Pool, sleeps_when_there_is_no_work) {
  EXPECT_TRUE(each_part_runs_once(3));
  const std::clock_t before = std::clock();  // of all threads of this process
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

/// The threads of cards wait for each other.
TEST(Pool, leaves_no_card_waiting_for_one_that_has_no_thread) {
  EXPECT_TRUE(in_child([] {
    threads_left = 1;
    std::atomic<bool> is_over = false;
    const auto wait = [&](int) {
      while (!is_over) std::this_thread::yield();
    };
    try {
      on_each_card(3, wait, [&] { is_over = true; });
    } catch (const std::system_error&) {
      return true;
    }
    return false;
  }));
}

}  // namespace
}  // namespace lasolve::test
