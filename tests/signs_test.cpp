// Operands with other signs, of which all that is computed has the same magnitude.
#include "bench/signs.hpp"

#include <gtest/gtest.h>

#include "core/current_device.hpp"
#include "devices.hpp"

namespace lasolve::bench {
namespace {

TEST(Signs, are_both_and_others_for_each_number_and_none_for_0) {
  const Signs none, one{1}, two{2}, both{1, 2}, back{2, 2};
  int minus = 0, differ = 0;
  for (std::int64_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(std::abs(one(i)), 1);
    ASSERT_EQ(none(i), 1);
    ASSERT_EQ(back(i), 1);
    ASSERT_EQ(both(i), one(i) * two(i));
    minus += one(i) < 0, differ += one(i) != two(i);
  }
  EXPECT_NEAR(minus, 500, 60);
  EXPECT_NEAR(differ, 500, 60);
}

template <class T, class Space>
void change_signs_of_rows_and_columns() {
  Queue<Space> q = test::test_queue<Space>();
  const CurrentDevice current(q);
  const Signs rows{3}, columns{4};
  Matrix<T> A(70, 33);
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) A(i, j) = T(float(1 + (i + 3 * j) % 7));
  Matrix<T, Space> there = test::upload(q, A);
  change_signs(q, rows, there.view(), columns);
  const Matrix<T> changed = test::download(q, there);
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i)
      ASSERT_EQ(float(changed(i, j)), rows(i) * columns(j) * float(A(i, j))) << i << ", " << j;
}

TEST(Signs, are_those_of_rows_times_those_of_columns) {
  change_signs_of_rows_and_columns<double, Cpu>();
  change_signs_of_rows_and_columns<fp16, Cpu>();
}
TEST(Signs, are_those_of_rows_times_those_of_columns_on_Cuda) {
  if (const std::string why = test::why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  change_signs_of_rows_and_columns<double, Cuda>();
  change_signs_of_rows_and_columns<float, Cuda>();
  change_signs_of_rows_and_columns<fp16, Cuda>();
  change_signs_of_rows_and_columns<bf16, Cuda>();
}

/// X of D A D X = D B is D times that of A X = B, to the last bit.
void solve_with_other_signs(const Options& options, const char* generator) {
  const Queue<Cpu> q(3);
  const std::int64_t n = 300;
  const Signs D{7};
  Matrix<double> A(n, n), B(n, 2), X(n, 2), Y(n, 2);
  Queue<Cpu> generating(3);
  io::generate(generating, io::Generator(generator), A);
  for (std::int64_t i = 0; i < n; ++i) B(i, 0) = 1, B(i, 1) = double(i);
  const Report as_it_is = solve(A, B, X, options);
  change_signs(q, D, A.view(), D);
  change_signs(q, D, B.view(), {});
  const Report changed = solve(A, B, Y, options);
  ASSERT_TRUE(as_it_is.outcome.ok() && changed.outcome.ok());
  EXPECT_EQ(as_it_is.method, changed.method);
  EXPECT_EQ(as_it_is.refine_iterations, changed.refine_iterations);
  EXPECT_EQ(as_it_is.backward_error, changed.backward_error);
  for (std::int64_t j = 0; j < 2; ++j)
    for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(Y(i, j), double(D(i)) * X(i, j)) << i << ", " << j;
}

void solve_with_other_signs(Device::Kind device) {
  Options options;
  options.device.kind = device;
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    options.precision = precision;
    solve_with_other_signs(options, "uniform:n=300");
    solve_with_other_signs(options, "spd:n=300");
  }
}

TEST(Signs, change_no_magnitude_of_a_solution) { solve_with_other_signs(Device::cpu); }
TEST(Signs, change_no_magnitude_of_a_solution_on_Cuda) {
  if (const std::string why = test::why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  solve_with_other_signs(Device::cuda);
}

}  // namespace
}  // namespace lasolve::bench
