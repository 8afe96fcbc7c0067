// Several threads of the host at once, for ThreadSanitizer: what is made when first needed, the pool, queues, one factorization of several
// callers, virtual cards, out of core, readers. Results are looked at where somebody else wrote them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/cpu/parallel.hpp"
#include "core/tuning.hpp"
#include "io/io.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::test {
namespace {

constexpr double much_work = 1e9;  // so much that threads are woken

/// f(caller) by so many threads.
void by_callers(int callers, const std::function<void(int)>& f) {
  std::vector<std::jthread> all;
  for (int caller = 0; caller < callers; ++caller) all.emplace_back(f, caller);
}

/// 2 on the diagonal and less than 1 in all of the rest of a row: any method factors it.
Matrix<double> some_matrix(std::int64_t n) {
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = i == j ? 2 : 1 / double((i + j + 2) * n);
  return A;
}
Matrix<double> ones(std::int64_t rows, std::int64_t cols = 1) {
  Matrix<double> all(rows, cols);
  std::fill_n(all.data(), all.ld() * cols, 1.0);
  return all;
}

/// All is shared, be it small or not.
Options shared(int threads = 3) {
  Options o;
  o.device = {Device::cpu, 0};
  o.threads = threads;
  o.block_size = 16;
  o.tuning = cpu_tuning().values;
  o.tuning->work_worth_sharing = 1;
  return o;
}

Report solved(std::int64_t n, const Options& options) {
  const Matrix<double> A = some_matrix(n), B = ones(n, 2);
  Matrix<double> X(n, 2);
  return solve(A.view(), B.view(), X.view(), options);
}

/// The first in its process: all threads find nothing made.
TEST(Races, of_threads_that_need_something_for_the_first_time) {
  by_callers(4, [](int caller) { EXPECT_TRUE(solved(caller % 2 ? 90 : 9, shared()).outcome.ok()); });
}

TEST(Races, of_parts_that_several_callers_share) {
  by_callers(4, [](int caller) {
    std::vector<std::int64_t> seen(40);
    for (int round = 0; round < 400; ++round) {
      on_cores(40, much_work, [&](std::int64_t t) { seen[std::size_t(t)] += t + caller; });
      for (std::int64_t t = 0; t < 40; ++t) ASSERT_EQ(seen[std::size_t(t)], (round + 1) * (t + caller));
    }
  });
  std::vector<std::vector<std::int64_t>> inner(5, std::vector<std::int64_t>(7));
  on_cores(5, much_work, [&](std::int64_t s) {
    on_cores(7, much_work, [&](std::int64_t t) { inner[std::size_t(s)][std::size_t(t)] = s * t; });
    EXPECT_EQ(inner[std::size_t(s)][6], s * 6);
  });
}

TEST(Races, of_parts_that_throw) {
  std::vector<int> seen(20);
  for (int round = 0; round < 50; ++round) {
    std::string said;
    try {
      on_cores(20, much_work, [&](std::int64_t t) {
        ++seen[std::size_t(t)];
        if (t % 7 == 3) throw std::runtime_error("part " + std::to_string(t));
      });
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    ASSERT_TRUE(said.starts_with("part ")) << said;
  }
}

/// OpenBLAS gets more callers than it has buffers.
TEST(Races, of_products) {
  for (const auto* backend : gemm_backends<Cpu>()) {
    if (backend->unavailable && !backend->unavailable(0).empty()) continue;
    SCOPED_TRACE(backend->name);
    const Matrix<double> A = ones(60, 60);
    by_callers(4, [&](int) {
      Queue<Cpu> q(3);
      q.tune(*shared().tuning);
      Matrix<double> C(60, 60);
      for (int round = 0; round < 5; ++round) {
        (*backend)(q, 1.0, A.view(), A.view(), 0.0, C.view());
        ASSERT_EQ(C(59, 59), 60);
      }
    });
  }
}

TEST(Races, of_callers_with_one_factorization) {
  const Matrix<double> A = some_matrix(100), B = ones(100, 3);
  for (const std::int64_t n : {12, 100}) {  // as a leaf, and by a plan
    Factorization<double> factors(A.view().block(0, 0, n, n), shared());
    by_callers(4, [&](int caller) {
      Matrix<double> X(n, 3);
      for (int round = 0; round < 5; ++round) {
        const Report report =
            factors.solve(B.view().block(0, 0, n, 3), X.view(), caller % 2 ? Op::transpose : Op::none);
        EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
        EXPECT_GT(factors.rcond(), 0.01);
      }
    });
  }
}

TEST(Races, of_who_reads_a_report_that_is_not_complete) {
  const Matrix<double> A = some_matrix(100);
  Options o = shared();
  o.precision = Precision::fp32, o.bounds = true;
  Factorization<double> factors(A.view(), o);
  by_callers(4, [&](int) { EXPECT_GT(factors.report().rcond.value_or(0), 0.01); });
}

TEST(Races, of_virtual_cards) {
  for (const Method method : {Method::lu, Method::cholesky, Method::lu_nopivot})
    for (const int cards : {2, 3}) {
      Options o = shared();
      for (int card = 0; card < cards; ++card) o.cards.push_back(card);
      o.factorization = method;
      double progress = 0;
      o.progress = [&](double share) { progress = share; };
      EXPECT_TRUE(solved(130, o).outcome.ok());
      EXPECT_GT(progress, 0.5);
      o.progress = [](double) { throw std::runtime_error("no more"); };
      EXPECT_THROW((void)solved(130, o), std::runtime_error);
    }
}

TEST(Races, out_of_core) {
  for (const Method method : {Method::lu, Method::cholesky}) {
    Options o = shared();
    o.factorization = method;
    o.device_memory = 130 * 130 * 8;
    const Report report = solved(130, o);
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_EQ(report.cards.size(), 1U);
  }
}

TEST(Races, of_readers) {
  const std::string path = testing::TempDir() + "lasolve-races-" + std::to_string(getpid()) + ".mtx";
  const Matrix<double> A = some_matrix(200);
  io::write_matrix(path, A.view());
  by_callers(2, [&](int) {
    io::ReadOptions options;
    options.threads = 3;
    const io::MatrixFile file = io::read_matrix(path, options);
    ASSERT_EQ(file.matrix.rows(), 200);
    for (std::int64_t j = 0; j < 200; ++j)
      for (std::int64_t i = 0; i < 200; ++i) ASSERT_EQ(file.matrix(i, j), A(i, j));
  });
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace lasolve::test
