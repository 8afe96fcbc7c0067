// Refinement by GMRES: where it takes a solution, what it costs, and what it leaves to others.
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/refine/least_squares.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

TEST(LeastSquares, gives_what_the_normal_equations_give_and_its_residual) {
  // H: 4 × 3, upper Hessenberg; g = 2 e₁.
  const double H[4][3] = {{1, 2, 3}, {4, 5, 6}, {0, 7, 8}, {0, 0, 9}};
  LeastSquares problem(2);
  for (std::size_t k = 0; k < 3; ++k) {
    std::vector<double> h;
    for (std::size_t i = 0; i < k + 2; ++i) h.push_back(H[i][k]);
    problem.append(h);
  }
  const std::vector<double> y = problem.solution();
  std::vector<double> r = {2, 0, 0, 0};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 3; ++k) r[i] -= H[i][k] * y[k];
  double square = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    double gradient = 0;
    for (std::size_t i = 0; i < 4; ++i) gradient += H[i][k] * r[i];
    EXPECT_NEAR(gradient, 0, 1e-14) << "column " << k;
  }
  for (const double one : r) square += one * one;
  EXPECT_NEAR(problem.residual(), std::sqrt(square), 1e-14);
}

/// Of matrices in fp64.
using GmresRefinement = OnTarget;

/// In fp32, classical refinement ends near κ = 1e9.
TEST_P(GmresRefinement, takes_factors_in_fp32_further_than_classical_refinement) {
  for (const Method method : {Method::lu, Method::cholesky})
    for (const double kappa : {1e1, 1e7, 1e9, 3e9})
      for (const Op op : {Op::none, Op::transpose})
        for (const std::int64_t nrhs : {1, 7}) {
          SCOPED_TRACE(testing::Message()
                       << name_of(method) << ", κ = " << kappa << ", op " << int(op) << ", " << nrhs);
          if (method == Method::cholesky && kappa > 1e7) continue;  // whose pivots are not positive then, in fp32
          Options o = options();
          o.factorization = method, o.precision = Precision::fp32, o.refine = Refine::gmres;
          const auto solved = solve_random(random_with_condition(200, kappa, method == Method::cholesky), nrhs, o, op);
          expect_solved(solved);
          EXPECT_EQ(solved.report.precision, Precision::fp32);
          EXPECT_EQ(solved.report.refine, Refine::gmres);
          EXPECT_GE(solved.report.gmres_steps, solved.report.refine_iterations);
          EXPECT_LE(solved.report.gmres_steps, kappa < 2e9 ? 25 : 50);
          EXPECT_LE(solved.report.refine_iterations, 3);
        }
}

/// Columns for which zero, and what the factors give exactly, are right, beside others.
TEST_P(GmresRefinement, ends_for_each_right_hand_side_by_itself) {
  const std::int64_t n = 150;
  const Matrix<double> A = random_with_condition(n, 1e8);
  Matrix<double> B = right_hand_sides<double>(A.view(), 300);
  for (std::int64_t i = 0; i < n; ++i) B(i, 3) = 0, B(i, 299) *= 1e-290, B(i, 7) *= 1e290;
  Options o = options();
  o.precision = Precision::fp32, o.refine = Refine::gmres;
  const auto solved = solve_for(A, B, o);
  expect_solved(solved);
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(solved.X(i, 3), 0) << i;
  for (const std::int64_t j : {0, 7, 298, 299}) {
    const auto alone = solve_for(A, rounded<double>(B.view().columns(j, 1)), o);
    expect_solved(alone);
    double most = 0, apart = 0;
    for (std::int64_t i = 0; i < n; ++i)
      most = std::max(most, std::abs(alone.X(i, 0))), apart = std::max(apart, std::abs(alone.X(i, 0) - solved.X(i, j)));
    EXPECT_LT(apart, 1e-6 * most) << "column " << j;
  }
}

TEST_P(GmresRefinement, gives_way_to_the_precision_of_A_where_it_stalls) {
  Options o = options();
  o.precision = Precision::fp32, o.refine = Refine::gmres;
  const auto solved = solve_random(random_with_condition(200, 1e14), 2, o);
  EXPECT_EQ(solved.report.precision, Precision::fp64);
  EXPECT_TRUE(says(notes_of(solved.report), "refinement in fp32 stalled: fp64 factors were used instead"));
}

/// As with LU of Wilkinson's matrix, whose elements grow to 2^(n − 1): the factors are those of another matrix.
TEST_P(GmresRefinement, mends_what_grew_too_much_for_classical_refinement) {
  for (const std::int64_t n : {30, 45}) {
    SCOPED_TRACE(n);
    Options o = options();
    o.factorization = Method::lu;
    const auto solved = solve_random(wilkinson(n), 2, o);
    expect_solved(solved);
  }
}

/// Of 2^±500 times a matrix, and with entries near the largest number.
TEST_P(GmresRefinement, has_the_range_of_the_matrix) {
  for (const double size : {1e-30, 1e30}) {
    SCOPED_TRACE(size);
    Options o = options();
    o.precision = Precision::fp32, o.refine = Refine::gmres;
    const auto solved = solve_random(scaled(size, random_with_condition(100, 1e6)), 2, o);
    expect_solved(solved);
    EXPECT_EQ(solved.report.precision, Precision::fp32);
  }
  Options o = options();
  o.refine = Refine::gmres;
  for (const double size : {1e-300, 1e305}) {
    SCOPED_TRACE(size);
    expect_solved(solve_random(scaled(size, random_with_condition(100, 1e3)), 2, o));
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, GmresRefinement, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, GmresRefinement, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
