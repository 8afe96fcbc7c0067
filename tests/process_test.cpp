// The library in a process that forks, ends or unloads it while threads compute, and in threads with little stack.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "sanitized.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// Those of the CPU that can run here.
std::vector<const GemmBackend<Cpu>*> backends_here() {
  std::vector<const GemmBackend<Cpu>*> here;
  for (const auto* backend : gemm_backends<Cpu>())
    if (!backend->unavailable || backend->unavailable(0).empty()) here.push_back(backend);
  return here;
}

/// A random matrix with a strong diagonal: symmetric, so that it is for both methods.
Matrix<double> well_conditioned(std::int64_t n) {
  Matrix<double> A = random_matrix(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < j; ++i) A(i, j) = A(j, i);
    A(j, j) += double(n);
  }
  return A;
}

bool solves(const char* gemm, std::int64_t n, Method method = Method::automatic, bool condition = false) {
  Options o;
  o.gemm = std::string(gemm);
  o.device.kind = Device::cpu;
  o.factorization = method;
  o.condition = condition;
  const Matrix<double> A = well_conditioned(n), B = random_matrix(n, 1);
  Matrix<double> X(n, 1);
  return solve(A, B, X, o).outcome.ok();
}

/// Threads that solve for as long as the process lives.
class Busy {
 public:
  Busy(int threads, const char* gemm, std::int64_t n) {
    for (int i = 0; i < threads; ++i)
      std::thread([this, gemm, n] {
        while (solves(gemm, n)) ++solved_;
        std::abort();
      }).detach();
    wait_for_more(2 * threads);
  }
  void wait_for_more(int solves) const {
    for (const int before = solved_; solved_ - before < solves;) std::this_thread::yield();
  }

 private:
  std::atomic<int> solved_ = 0;
};

/// Whether a child that runs `is_right` ends with it. One that hangs is ended by a signal.
template <class F>
::testing::AssertionResult child_does(F is_right) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(100);
    _exit(is_right() ? 0 : 1);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return ::testing::AssertionFailure() << "no child";
  if (WIFSIGNALED(status)) return ::testing::AssertionFailure() << "ended by signal " << WTERMSIG(status);
  return WEXITSTATUS(status) == 0 ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "is wrong";
}

TEST(Process, forks_children_that_solve_while_it_solves) {
  if (sanitized()) GTEST_SKIP() << "its allocator may be locked by another thread when a process forks";
  for (const auto* backend : backends_here())
    EXPECT_TRUE(child_does([&] {
      static Busy busy(3, backend->name, 150);
      for (int i = 0; i < 20; ++i) {
        busy.wait_for_more(i % 3);
        if (!child_does([&] { return solves(backend->name, 150); })) return false;
      }
      return true;
    })) << backend->name;
}

TEST(Process, forks_children_that_solve_with_a_factorization_that_is_in_use) {
  if (sanitized()) GTEST_SKIP() << "its allocator may be locked by another thread when a process forks";
  EXPECT_TRUE(child_does([] {
    // Static: the threads go on until the process is gone, behind the end of this function.
    static constexpr std::int64_t n = 250;
    static const Matrix<double> A = well_conditioned(n), B = random_matrix(n, 8);
    static Factorization<double> factors(A.view());
    static std::atomic<int> solved = 0;
    const auto solves_with_it = [] {
      Matrix<double> X(n, 8);
      return factors.solve(B.view(), X.view()).outcome.ok();
    };
    for (int i = 0; i < 2; ++i)
      std::thread([=] {
        while (solves_with_it()) ++solved;
      }).detach();
    for (int i = 0; i < 30; ++i) {
      for (const int before = solved; solved == before;) std::this_thread::yield();
      if (!child_does(solves_with_it)) return false;
    }
    return true;
  }));
}

TEST(Process, ends_while_threads_solve_and_solves_while_it_ends) {
  for (const auto* backend : backends_here())
    for (int i = 0; i < 3; ++i)
      EXPECT_TRUE(child_does([&]() -> bool {
        static const Busy* busy = nullptr;
        static const char* gemm = backend->name;
        // The first handler is the last that is called.
        std::atexit([] {
          busy->wait_for_more(10);
          if (!solves(gemm, 200) || !solves("auto", 30) || !solves("auto", 200)) _exit(1);
        });
        busy = new Busy(3, gemm, 100);
        std::exit(0);
      })) << backend->name;
}

TEST(Process, closes_a_plugin_that_holds_the_library) {
  EXPECT_TRUE(child_does([] {
    for (int i = 0; i < 6; ++i) {
      void* const plugin = dlopen(LASOLVE_TEST_PLUGIN, RTLD_NOW | RTLD_LOCAL);
      const auto solve = plugin ? reinterpret_cast<int (*)(int)>(dlsym(plugin, "plugin_solves")) : nullptr;
      if (!solve || !solve(400)) return false;
      bool is_right = false;  // in a thread that ends when the plugin is closed
      std::atomic<int> step = 0;
      std::thread other([&] {
        is_right = solve(300);
        step = 1;
        step.notify_one();
        step.wait(1);
      });
      step.wait(0);
      dlclose(plugin);
      step = 2;
      step.notify_one();
      other.join();
      usleep(20000);  // its threads would wake up
      if (!is_right) return false;
    }
    return true;
  }));
}

/// docs/embed.md says so. OpenBLAS and kernels of others may take more.
TEST(Process, takes_64_KiB_of_the_stack) {
  if (sanitized()) GTEST_SKIP() << "it has frames of its own";
  struct Request {
    const char* gemm;
    std::int64_t n;
    Method method;
    bool done;
  };
  pthread_attr_t small;
  pthread_attr_init(&small);
  ASSERT_EQ(pthread_attr_setstacksize(&small, (64 << 10) + std::size_t(sysconf(_SC_THREAD_STACK_MIN))), 0);
  for (const auto* backend : backends_here())
    for (const std::int64_t n : {4, 30, 100, 300, 700})
      for (const Method method : {Method::lu, Method::cholesky}) {
        Request request{backend->name, n, method, false};
        EXPECT_TRUE(child_does([&] {
          const auto run = [](void* r) -> void* {
            Request& its = *static_cast<Request*>(r);
            its.done = solves(its.gemm, its.n, its.method, true);
            return nullptr;
          };
          pthread_t thread;
          if (pthread_create(&thread, &small, run, &request) != 0) return false;
          pthread_join(thread, nullptr);
          return request.done;
        })) << backend->name
            << ", n = " << n;
      }
}

}  // namespace
}  // namespace lasolve::test
