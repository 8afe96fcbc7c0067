// Right-hand sides of one refinement that end at different times, or never; and of any size. What is told of each.
#include "devices.hpp"
#include "exact.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// Of matrices in fp64.
class RightHandSides : public OnTarget {};

/// Two matrices on a diagonal.
Matrix<double> beside(const Matrix<double>& A, const Matrix<double>& B) {
  const std::int64_t m = A.rows(), n = m + B.rows();
  return matrix_of<double>(n, n, [&](auto i, auto j) {
    return i < m && j < m ? A(i, j) : i >= m && j >= m ? B(i - m, j - m) : 0;
  });
}

/// Of three columns one is of the first block alone, one is zero, and one is of the second.
Matrix<double> of_each_block(std::int64_t first, std::int64_t n, std::int64_t nrhs) {
  const Matrix<double> R = random_matrix(n, nrhs, 9);
  return matrix_of<double>(n, nrhs, [&](auto i, auto j) {
    return j % 3 == 1 ? 0 : (i < first) == (j % 3 == 0) ? R(i, j) : 0;
  });
}

double backward_error_of(const Matrix<double>& A, const Matrix<double>& B, const Matrix<double>& X, std::int64_t j) {
  const double n = double(A.rows());
  return unit_roundoff<double> * n * hpl_residual<double>(A.view(), B.view().columns(j, 1), X.view().columns(j, 1));
}

/// Elements of the second block grow so much that no update helps.
TEST_P(RightHandSides, that_never_converge_leave_the_others_as_good_as_they_are) {
  const std::int64_t first = 60, n = first + 200;
  const Matrix<double> A = beside(random_with_condition(first, 100), wilkinson(200));
  for (const std::int64_t nrhs : {1, 7, 300}) {
    SCOPED_TRACE(nrhs);
    Options o = options();
    o.factorization = Method::lu, o.refine = Refine::classical, o.history = true, o.condition = false;
    const Matrix<double> B = of_each_block(first, n, nrhs);
    const auto solved = solve_for(A, B, o);
    EXPECT_EQ(solved.report.outcome.kind, nrhs == 1 ? Outcome::solved : Outcome::not_converged);
    for (std::int64_t j = 0; j < nrhs; ++j) {
      const double error = backward_error_of(A, B, solved.X, j);
      if (j % 3 == 2)
        EXPECT_GT(error, 1e-12) << j;
      else
        EXPECT_LT(error, 1e-15) << j;
      for (std::int64_t i = 0; i < n && j % 3 == 1; ++i) ASSERT_EQ(solved.X(i, j), 0);
    }
    const auto& history = solved.report.residual_history;
    ASSERT_EQ(history.size(), std::size_t(solved.report.refine_iterations + 1));
    for (const auto& row : history) ASSERT_EQ(row.size(), std::size_t(nrhs));
    for (std::size_t j = 1; j < std::size_t(nrhs); j += 3) {
      EXPECT_EQ(history[0][j], 0);
      if (history.size() > 1) {
        EXPECT_TRUE(std::isnan(history[1][j])) << "it was done";
      }
    }
  }
}

/// The second block is too ill-conditioned for classical refinement of factors in fp32.
TEST_P(RightHandSides, that_take_gmres_are_only_those_that_need_it) {
  const std::int64_t first = 60, n = 160;
  const Matrix<double> A = beside(random_with_condition(first, 100), random_with_condition(n - first, 3e9));
  for (const std::int64_t nrhs : {1, 7, 300}) {
    SCOPED_TRACE(nrhs);
    Options o = options();
    o.factorization = Method::lu, o.precision = Precision::fp32, o.history = true, o.condition = false;
    const Matrix<double> B = of_each_block(first, n, nrhs);
    const auto solved = solve_for(A, B, o);
    expect_solved(solved);
    EXPECT_EQ(solved.report.precision, Precision::fp32);
    EXPECT_EQ(solved.report.refine, nrhs == 1 ? Refine::classical : Refine::gmres);
    const auto& last = solved.report.residual_history.back();
    EXPECT_TRUE(std::any_of(last.begin(), last.end(), [](double its) { return its >= 0; }));
    for (std::int64_t j = 0; j < nrhs; ++j) {
      EXPECT_LT(backward_error_of(A, B, solved.X, j), 2e-15) << j;
      if (nrhs > 1 && j % 3 != 2) {
        EXPECT_TRUE(std::isnan(last[std::size_t(j)])) << "column " << j << " was done before";
      }
    }
  }
}

TEST_P(RightHandSides, may_have_any_size) {
  const std::int64_t n = 80;
  const Matrix<double> A = random_with_condition(n, 1e3), R = random_matrix(n, 6, 9);
  const double sizes[] = {1, 0, 1e-290, 1e290, 1e-305, 1e305};
  const auto B = matrix_of<double>(n, 6, [&](auto i, auto j) { return sizes[j] * R(i, j); });
  const auto exact = exact_solutions(A, B);
  for (const Precision precision : {Precision::fp64, Precision::fp32})
    for (const Residual residual : {Residual::working, Residual::extra})
      for (const Refine how : {Refine::automatic, Refine::gmres}) {
        SCOPED_TRACE(testing::Message() << name_of(precision) << ", " << name_of(residual) << ", " << name_of(how));
        Options o = options();
        o.precision = precision, o.residual = residual, o.refine = how;
        const auto solved = solve_for(A, B, o);
        EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message() << notes_of(solved.report);
        EXPECT_LE(forward_error(solved.X, exact),
                  residual == Residual::extra ? 4 * unit_roundoff<double> : 1e4 * unit_roundoff<double>);
        EXPECT_LT(*solved.report.hpl_residual, hpl_threshold);
      }
}

/// Numbers that have few digits left have as many as their size allows.
TEST_P(RightHandSides, may_be_subnormal) {
  const std::int64_t n = 80;
  const Matrix<double> A = random_with_condition(n, 10), R = random_matrix(n, 1, 9);
  const auto B = matrix_of<double>(n, 1, [&](auto i, auto) { return 1e-312 * R(i, 0); });
  const auto solved = solve_for(A, B, options());
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_NEAR(solved.X(i, 0), double(exact_solutions(A, B)[0][std::size_t(i)]), 1e4 * 0x1p-1074);
}

TEST_P(RightHandSides, have_a_history_only_where_it_is_asked_for_and_anything_is_refined) {
  Options o = options();
  const Matrix<double> A = random_with_condition(50, 1e3);
  o.precision = Precision::fp32;
  EXPECT_TRUE(solve_random(A, 2, o).report.residual_history.empty());
  o.history = true;
  const Report r = solve_random(A, 2, o).report;
  ASSERT_EQ(r.residual_history.size(), std::size_t(r.refine_iterations + 1));
  ASSERT_EQ(r.refinement_residuals.size(), r.residual_history.size());
  for (std::size_t k = 0; k < r.residual_history.size(); ++k)
    for (const double its : r.residual_history[k]) EXPECT_FALSE(its > r.refinement_residuals[k]);
  o.precision = Precision::fp64;
  EXPECT_TRUE(solve_random(A, 2, o).report.residual_history.empty());
  EXPECT_TRUE(solve_random(random_matrix(4, 4), 1, o).report.residual_history.empty());
}

INSTANTIATE_TEST_SUITE_P(Cpu, RightHandSides, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, RightHandSides, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
