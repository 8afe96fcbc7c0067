// What kernels tell the host: when that is waited for, how often, and what is read.
#include <cuda_runtime.h>

#include <optional>

#include "core/cuda/count_for_tests.hpp"
#include "core/cuda/results.hpp"
#include "core/traffic.hpp"
#include "solvers/devices/cuda/extra.cuh"
#include "solvers/devices/cuda/norms.cuh"
#include "solvers/refine/residual.hpp"
//
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

class ResultsOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    q.emplace(0);
  }
  /// Of a matrix of one row, its magnitudes: one number a column.
  Matrix<double, Cuda> row(std::int64_t count, double first) {
    return upload(*q, matrix_of<double>(1, count, [=](auto, auto j) { return first + double(j); }));
  }
  static void expect_row(const std::vector<double>& norms, std::int64_t count, double first) {
    ASSERT_EQ(std::int64_t(norms.size()), count);
    for (std::int64_t j = 0; j < count; ++j) ASSERT_EQ(norms[std::size_t(j)], first + double(j)) << j;
  }

  std::optional<Queue<Cuda>> q;
};

TEST_F(ResultsOnCuda, are_there_after_one_wait_and_the_same_when_read_again) {
  const Matrix<double, Cuda> X = row(3, 1), Y = row(5, 10);
  delay(*q, 0.01);
  auto x = column_norms<double>(*q, X.view()), y = column_norms<double>(*q, Y.view());
  const std::optional<long> before = waits_until_now();
  expect_row(*y, 5, 10);
  expect_row(*x, 3, 1);
  if (before) {
    EXPECT_EQ(*waits_until_now() - *before, 1);
  }
  auto later = column_norms<double>(*q, Y.view());
  expect_row(*later, 5, 10);
  expect_row(*x, 3, 1);
  expect_row(*y, 5, 10);
}

/// More than there is pinned memory for, at once and one after the other; some are never read.
TEST_F(ResultsOnCuda, find_room_however_many_they_are) {
  constexpr std::int64_t most = std::int64_t(Queue<Cuda>::bytes_of_results / sizeof(double));
  for (int round = 0; round < 3; ++round) {
    std::vector<Fetched<std::vector<double>>> all;
    std::vector<Matrix<double, Cuda>> rows;
    for (const std::int64_t count : {most / 2, most / 4, most / 2, most, most + 1, std::int64_t(1)})
      rows.push_back(row(count, double(count + round)));
    for (const auto& X : rows) all.push_back(column_norms<double>(*q, X.view()));
    column_norms<double>(*q, rows[0].view());
    for (std::size_t i = 0; i < all.size(); ++i) expect_row(*all[i], rows[i].cols(), double(rows[i].cols() + round));
  }
}

TEST_F(ResultsOnCuda, outlive_others_that_were_read_before) {
  const Matrix<double, Cuda> X = row(100, 1), Y = row(100, 500);
  auto x = column_norms<double>(*q, X.view());
  for (int i = 0; i < 200; ++i) expect_row(*column_norms<double>(*q, Y.view()), 100, 500);
  expect_row(*x, 100, 1);
}

TEST_F(ResultsOnCuda, leave_the_phase_that_runs_as_it_is) {
  const Matrix<double, Cuda> X = row(3, 1);
  q->phase(Phase::refine);
  expect_row(*column_norms<double>(*q, X.view()), 3, 1);
  delay(*q, 0.01);
  q->finish();
  EXPECT_GE(q->take_times().seconds_of(Phase::refine), 0.009);
}

TEST_F(ResultsOnCuda, tell_how_a_factorization_ended) {
  const Matrix<double> A =
      matrix_of<double>(2000, 2000, [](auto i, auto j) { return i == j ? -3.0 - double(i) : 1e9; });
  const Matrix<double, Cuda> there = upload(*q, A);
  Matrix<std::int64_t, Cuda> at(1, 1);
  fill(*q, std::int64_t(17), at.view());
  auto ending = ending_of<double>(*q, there.view(), at.view());
  EXPECT_EQ(ending->failed_at, 17);
  EXPECT_EQ(ending->least, 3);
  EXPECT_EQ(ending->most, 2002);
  EXPECT_EQ((*ending_of<double>(*q, MatrixView<const double, Cuda>(), at.view())).failed_at, 17);
}

/// R = B − A X where products of A and X overflow in the second column, which is only known when all is there.
TEST_F(ResultsOnCuda, of_a_residual_that_overflows_are_computed_again) {
  constexpr double large = 0x1p1000;
  const Matrix<double> A = matrix_of<double>(2, 2, [](auto i, auto j) { return i == j ? large : -large; });
  const Matrix<double> X = matrix_of<double>(2, 2, [](auto, auto j) { return j == 0 ? 0x1p-1000 : 0x1p30; });
  const Matrix<double> B = matrix_of<double>(2, 2, [](auto, auto j) { return j == 0 ? 2.0 : 0x1p1000; });
  const Matrix<double, Cuda> dA = upload(*q, A), dX = upload(*q, X), dB = upload(*q, B);
  Matrix<double, Cuda> dR = upload(*q, B);
  const SystemMatrix<double, Cuda> system = Operand<double, Cuda>(dA.view());
  const auto norm = [] { return 2.0L * static_cast<long double>(large); };
  const auto found = residual_within_range<double>(*q, system, norm, dX.view(), dB.view(), dR.view());
  EXPECT_EQ(found.exponents[0], 0);
  EXPECT_GT(found.exponents[1], 0);
  EXPECT_EQ(found.x, (std::vector<double>{0x1p-1000, 0x1p30}));
  EXPECT_EQ(found.r, (std::vector<long double>{2, 0x1p1000L}));  // A X = 0
}

class WaitsOnCuda : public testing::TestWithParam<Method> {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
    if (!waits_until_now()) GTEST_SKIP() << "a build with LASOLVE_TEST_HOOKS counts";
  }
};

/// Of the second of two calls; the first loads kernels and makes what is used again.
long waits_of_call(std::int64_t n, Method method, const Options& options) {
  Queue<Cuda> q(0);
  const Matrix<double> A = method == Method::lu ? random_matrix(n, n) : random_with_condition(n, 10, true);
  const Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, random_matrix(n, 1, 3));
  Matrix<double, Cuda> dX(n, 1);
  long before = 0;
  for (int call = 0; call < 2; ++call) {
    before = *waits_until_now();
    Factorization<double> factors(dA.view(), options);
    EXPECT_EQ(factors.report().method, method);
    EXPECT_TRUE(factors.solve(dB.view(), dX.view()).outcome.ok());
  }
  return *waits_until_now() - before;
}

TEST_P(WaitsOnCuda, of_a_small_call_are_one_for_each_thing_that_the_host_decides) {
  Options bare;
  bare.device = {Device::cuda, 0};
  bare.gemm = "cublas";
  bare.factorization = GetParam();
  bare.check = false;
  bare.refine = Refine::none;
  Tuning general = tuning_of({Device::cuda, 0});
  general.small_system_order = 0;
  Options with_waited_copy = bare, checked;
  bare.tuning = with_waited_copy.tuning = checked.tuning = general;
  with_waited_copy.tuning->waited_copy_bytes = 0;
  for (const std::int64_t n : {64, 128}) {
    SCOPED_TRACE(n);
    EXPECT_EQ(waits_of_call(n, GetParam(), bare), 2);
    EXPECT_EQ(waits_of_call(n, GetParam(), with_waited_copy), 3);
    EXPECT_EQ(waits_of_call(n, GetParam(), checked), GetParam() == Method::cholesky ? 2 : 3) << "Cholesky was tried";
  }
  bare.tuning.reset();
  EXPECT_EQ(waits_of_call(64, GetParam(), bare), 2);
  EXPECT_EQ(waits_of_call(64, GetParam(), {}), 2) << "of a small system: for its factors, and for its solution";
}

/// None is for the copy of A, nor for what is asked of it: these come with the factors.
TEST_P(WaitsOnCuda, of_a_call_from_the_host_are_four) {
  const std::int64_t n = 300;
  const Matrix<double> A = GetParam() == Method::lu ? random_matrix(n, n) : random_with_condition(n, 10, true);
  const Matrix<double> B = random_matrix(n, 1, 3);
  Matrix<double> X(n, 1);
  Options unchecked;
  unchecked.device = {Device::cuda, 0};
  const Options checked = unchecked;
  unchecked.factorization = GetParam(), unchecked.check = false;
  for (const Options& o : {unchecked, checked, unchecked, checked}) {
    const long before = *waits_until_now();
    Factorization<double> factors(A.view(), o);
    EXPECT_EQ(factors.report().method, GetParam());
    EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
    EXPECT_EQ(*waits_until_now() - before, 4) << (o.check ? "checked" : "unchecked");
  }
}

INSTANTIATE_TEST_SUITE_P(Small, WaitsOnCuda, testing::Values(Method::lu, Method::cholesky),
                         [](const auto& info) { return info.param == Method::lu ? "Lu" : "Cholesky"; });

}  // namespace
}  // namespace lasolve::test
