// For error bounds, coarse factors are tested beside the right-hand sides that are refined: what that leaves as it is.
#include <thread>

#include "conditions.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test::tests_beside_test {
namespace {

using TestsBeside = OnTarget;

/// In fp32 the element of 30 s is lost, and M⁻¹ is 16 times too small. The first step grows by 15, and the next is 0.
TEST_P(TestsBeside, tell_a_condition_that_factors_show_by_growing) {
  const double s = 3.9e-9;
  const Matrix<double> A = matrix_of<double>(3, 3, [&](auto i, auto j) {
    const double rows[3][3] = {{2, 0, 2}, {2, s, 2 + 30 * s}, {0, 0, s}};
    return rows[i][j];
  });
  Options o = options();
  o.factorization = Method::lu, o.precision = Precision::fp32, o.condition = true, o.bounds = true;
  const auto solved = solve_for(A, random_matrix(3, 1, 2), o);
  ASSERT_TRUE(solved.report.rcond);
  EXPECT_LE(*solved.report.rcond * double(true_condition(A)), 3);
}

/// Coarse factors are tested beside the right-hand sides that are refined, of which some end before the test and some after it.
TEST_P(TestsBeside, leave_the_refinement_of_right_hand_sides_as_it_is) {
  const std::int64_t n = 120;
  for (const double kappa : {1e5, 1e6})
    for (const std::int64_t nrhs : {1, 2, 7, 20})
      for (const Op op : {Op::none, Op::transpose}) {
        SCOPED_TRACE(testing::Message() << "condition " << kappa << ", " << nrhs << " right-hand sides, op "
                                        << int(op));
        const Matrix<double> A = random_with_condition(n, kappa);
        Matrix<double> B = random_matrix(n, nrhs, 5);
        for (std::int64_t i = 0; i < n; ++i)
          if (nrhs == 2)
            B(i, 0) = B(i, 1) = 0;
          else if (nrhs >= 7)
            B(i, 2) = 0, B(i, 4) = A(i, 3), B(i, 5) *= 1e-20;
        Options o = options();
        o.factorization = Method::lu, o.precision = Precision::fp32, o.refine = Refine::classical, o.history = true;
        const auto alone = solve_for(A, B, o, op);
        o.bounds = true;
        const auto with = solve_for(A, B, o, op);
        ASSERT_TRUE(alone.report.outcome.ok() && with.report.outcome.ok());
        ASSERT_EQ(with.report.precision, Precision::fp32);
        const int updates = with.report.refine_iterations;
        EXPECT_NEAR(updates, alone.report.refine_iterations, nrhs == 2 ? 0 : 1);  // products round differently
        EXPECT_EQ(with.report.refinement_residuals.size(), std::size_t(updates + 1));
        ASSERT_EQ(with.report.residual_history.size(), std::size_t(updates + 1));
        for (const std::vector<double>& residuals : with.report.residual_history)
          EXPECT_EQ(residuals.size(), std::size_t(nrhs));
        EXPECT_TRUE(with.report.forward_error_bound);
        EXPECT_NEAR(std::log10(*with.report.rcond * kappa), -1, 1.5);
      }
}

TEST_P(TestsBeside, leave_GMRES_as_it_is_where_classical_refinement_stalls) {
  int steps = 0;
  for (const double kappa : {1e6, 3e6, 1e7})
    for (const std::int64_t nrhs : {1, 5}) {
      SCOPED_TRACE(testing::Message() << "condition " << kappa << ", " << nrhs << " right-hand sides");
      const Matrix<double> A = random_with_condition(150, kappa), B = random_matrix(150, nrhs, 5);
      Options o = options();
      o.factorization = Method::lu, o.precision = Precision::bf16;
      const auto alone = solve_for(A, B, o);
      o.bounds = true;
      const auto with = solve_for(A, B, o);
      ASSERT_TRUE(alone.report.outcome.ok() && with.report.outcome.ok());
      if (alone.report.precision != Precision::bf16 || with.report.precision != Precision::bf16) continue;
      EXPECT_NEAR(with.report.gmres_steps, alone.report.gmres_steps, 10);
      steps += alone.report.gmres_steps;
    }
  if (GetParam().device == Device::cpu) EXPECT_GT(steps, 0);
}

/// Where factors are tested beside right-hand sides, and none came.
TEST_P(TestsBeside, leave_a_condition_in_each_report) {
  const std::int64_t n = 100;
  const Matrix<double> A = random_with_condition(n, 1e6);
  Options o = options();
  o.factorization = Method::lu, o.precision = Precision::fp32, o.bounds = true;
  Matrix<double> none(n, 0);
  Factorization<double> factors(A.view(), o), shared(A.view(), o);
  EXPECT_TRUE(factors.solve(none.view(), none.view()).rcond);
  std::vector<double> seen(4, 0);
  std::vector<std::thread> readers;
  for (double& rcond : seen) readers.emplace_back([&] { rcond = shared.report().rcond.value_or(0); });
  for (std::thread& reader : readers) reader.join();
  for (const double rcond : seen) EXPECT_EQ(rcond, *factors.report().rcond);
}

INSTANTIATE_TEST_SUITE_P(Cpu, TestsBeside, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, TestsBeside, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test::tests_beside_test
