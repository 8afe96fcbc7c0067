// Bounds of the errors of solutions, beside errors that are known exactly and beside what the formula gives in long double.
#include "bench/expert.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test::bounds_test {
namespace {

using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

Wide wide(MatrixView<const double> A) {
  Wide W(A.rows(), A.cols());
  for (std::int64_t j = 0; j < A.cols(); ++j)
    for (std::int64_t i = 0; i < A.rows(); ++i) W(i, j) = A(i, j);
  return W;
}

/// L U of small integers with ones on the diagonals: as ill-conditioned as n is large, with a determinant of 1.
Matrix<double> unimodular(std::int64_t n, std::uint64_t seed) {
  const Matrix<double> R = random_matrix(n, n, seed);
  Matrix<double> A(n, n);
  const auto of = [&](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : std::round(R(i, j)); };
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      A(i, j) = 0;
      for (std::int64_t k = 0; k <= std::min(i, j); ++k) A(i, j) += of(i, k) * of(k, j);
    }
  return A;
}

/// A system whose solutions are small integers, without roundoff in B.
struct Exact {
  Matrix<double> A, X, B;
};
Exact exact_system(Matrix<double>&& A, std::int64_t nrhs, Op op) {
  const std::int64_t n = A.rows();
  Exact its{std::move(A), Matrix<double>(n, nrhs), Matrix<double>(n, nrhs)};
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) its.X(i, j) = double((7 * i + 3 * j) % 11 - 5);
  for (std::int64_t j = 0; j < nrhs; ++j)
    for (std::int64_t i = 0; i < n; ++i) {
      its.B(i, j) = 0;
      for (std::int64_t k = 0; k < n; ++k) its.B(i, j) += (op == Op::none ? its.A(i, k) : its.A(k, i)) * its.X(k, j);
    }
  return its;
}

double forward_error(MatrixView<const double> X, MatrixView<const double> exact) {
  double worst = 0;
  for (std::int64_t j = 0; j < X.cols(); ++j) {
    double most = 0, apart = 0;
    for (std::int64_t i = 0; i < X.rows(); ++i)
      most = std::max(most, std::abs(X(i, j))), apart = std::max(apart, std::abs(X(i, j) - exact(i, j)));
    worst = std::max(worst, most == 0 ? 0 : apart / most);
  }
  return worst;
}

/// What ErrorBounds::forward estimates, of one right-hand side.
double formula(MatrixView<const double> A, MatrixView<const double> x, MatrixView<const double> b, Op op) {
  const Wide M = op == Op::none ? wide(A) : Wide(wide(A).transpose()), X = wide(x), B = wide(b);
  const Wide inverse = M.fullPivLu().inverse();
  const long double u = unit_roundoff<double>;
  const Wide residual = (B - M * X).cwiseAbs();
  const Wide size = M.cwiseAbs() * X.cwiseAbs() + B.cwiseAbs();
  const Wide all = inverse.cwiseAbs() * (residual + (M.rows() + 1) * u * size);
  return double(all.maxCoeff() / X.cwiseAbs().maxCoeff());
}

using ErrorBounds = OnTarget;

TEST_P(ErrorBounds, are_above_the_error_and_what_the_formula_gives) {
  for (const Precision precision : {Precision::fp64, Precision::fp32})
    for (const Op op : {Op::none, Op::transpose})
      for (const std::int64_t n : {1, 7, 20, 30, 40})
        for (const std::int64_t nrhs : {1, 3, 7}) {
          SCOPED_TRACE(testing::Message() << name_of(precision) << ", op " << int(op) << ", n = " << n << ", " << nrhs);
          Options o = options();
          o.factorization = Method::lu, o.precision = precision, o.bounds = true;
          const Exact system = exact_system(unimodular(n, std::uint64_t(n)), nrhs, op);
          const auto solved = solve_for(system.A, system.B, o, op);
          const Report& r = solved.report;
          ASSERT_TRUE(r.outcome.ok()) << r.outcome.message();
          ASSERT_TRUE(r.forward_error_bound);
          EXPECT_LE(forward_error(solved.X, system.X), *r.forward_error_bound);
          double most = 0, each = 0;
          for (std::int64_t j = 0; j < nrhs; ++j) {
            const auto column = [j](const Matrix<double>& M) { return M.view().columns(j, 1); };
            const double its = formula(system.A.view(), column(solved.X), column(system.B), op);
            most = std::max(most, its), each += its;
          }
          // For the roundoff of the factors, and where all rows weigh about the same.
          const double allowance = precision == Precision::fp64 ? 2.02 : 3;
          EXPECT_LE(*r.forward_error_bound, allowance * (nrhs <= 4 ? most : each));
          EXPECT_GE(*r.forward_error_bound, most / 3);
          EXPECT_EQ(r.componentwise_backward_error.has_value(), nrhs <= 4);
          if (nrhs <= 4) {
            EXPECT_LE(*r.componentwise_backward_error, double(n) * 4 * unit_roundoff<double>);
          }
          EXPECT_TRUE(r.rcond) << "which comes with them";
        }
}

/// Rows of very different sizes, whose condition is bad only by that.
TEST_P(ErrorBounds, do_not_mind_how_rows_are_scaled) {
  Exact system = exact_system(unimodular(12, 5), 1, Op::none);
  for (std::int64_t i = 0; i < 12; ++i) {
    const double scale = std::ldexp(1.0, int(i % 5 - 2) * 20);
    for (std::int64_t j = 0; j < 12; ++j) system.A(i, j) *= scale;
    system.B(i, 0) *= scale;
  }
  Options o = options();
  o.factorization = Method::lu, o.bounds = true;
  const auto solved = solve_for(system.A, system.B, o);
  ASSERT_TRUE(solved.report.forward_error_bound);
  EXPECT_LE(forward_error(solved.X, system.X), *solved.report.forward_error_bound);
  EXPECT_LT(*solved.report.forward_error_bound, 1e-9);
}

TEST_P(ErrorBounds, are_of_symmetric_matrices_of_which_a_triangle_is_there) {
  const std::int64_t n = 30;
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = i == j ? 60.0 : double((i * j) % 3 - 1);
  const Exact system = exact_system(std::move(A), 2, Op::none);
  for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
    Options o = options();
    o.triangle = triangle, o.bounds = true;
    const auto solved = solve_for(system.A, system.B, o);
    EXPECT_EQ(solved.report.method, Method::cholesky);
    ASSERT_TRUE(solved.report.forward_error_bound);
    EXPECT_LE(forward_error(solved.X, system.X), *solved.report.forward_error_bound);
    EXPECT_LT(*solved.report.forward_error_bound, 1e-12);
  }
}

TEST_P(ErrorBounds, come_with_how_much_larger_than_the_matrix_its_factors_are) {
  Options o = options();
  o.factorization = Method::lu, o.bounds = true;
  const auto sum = [](const Wide& X) { return double(X.rowwise().sum().maxCoeff()); };
  const Matrix<double> A = random_matrix(150, 150, 3), steep = wilkinson(20), symmetric = dominant_matrix(40);
  Factorization<double> factors(A.view(), o);
  const Matrix<double> its_L = factors.L(), its_U = factors.U();
  const Wide size = wide(A.view()).cwiseAbs(), L = wide(its_L.view()).cwiseAbs(), U = wide(its_U.view()).cwiseAbs();
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    o.precision = precision;
    const Report r = Factorization<double>(A.view(), o).report();
    const double few = precision == Precision::fp64 ? 1e-12 : 1e-3;
    EXPECT_NEAR(r.growth.value() / double(U.maxCoeff() / size.maxCoeff()), 1, few);
    EXPECT_NEAR(r.norm_growth.value() / (sum(L * U) / sum(size)), 1, few);
    EXPECT_LE(r.largest_multiplier.value(), 1);
    EXPECT_GT(r.largest_multiplier.value(), 0.9);
    const Report grown = Factorization<double>(steep.view(), o).report();
    EXPECT_EQ(grown.growth, std::ldexp(1.0, 19));
    EXPECT_EQ(grown.norm_growth, (std::ldexp(1.0, 20) + 18) / 20) << "of the last row";
  }
  for (const Precision storage : {Precision::fp16, Precision::bf16}) {
    o.precision = Precision::fp32, o.storage = storage;
    const Report r = Factorization<double>(A.view(), o).report();
    EXPECT_NEAR(r.norm_growth.value() / (sum(L * U) / sum(size)), 1, 1e-2) << "of what was not rounded yet";
  }
  o.storage = Precision::automatic, o.precision = Precision::fp64;
  Matrix<double> large(150, 150);
  for (std::int64_t j = 0; j < 150; ++j)
    for (std::int64_t i = 0; i < 150; ++i) large(i, j) = std::ldexp(A(i, j), 1019);
  EXPECT_NEAR(Factorization<double>(large.view(), o).report().norm_growth.value() / (sum(L * U) / sum(size)), 1, 1e-12)
      << "sums of rows overflow";
  o.equilibrate = Wanted::on;
  Matrix<double> scaled(150, 150);
  for (std::int64_t j = 0; j < 150; ++j)
    for (std::int64_t i = 0; i < 150; ++i) scaled(i, j) = std::ldexp(A(i, j), int(i % 5 - j % 7) * 20);
  const Report r = Factorization<double>(scaled.view(), o).report();
  EXPECT_LT(r.growth.value(), 100) << "beside the matrix as it was scaled";
  EXPECT_LT(r.norm_growth.value(), 100);
  o.factorization = Method::cholesky, o.equilibrate = Wanted::automatic;
  EXPECT_FALSE(Factorization<double>(symmetric.view(), o).report().norm_growth.has_value());
}

TEST_P(ErrorBounds, are_not_there_where_nothing_is_certain_or_nobody_asks) {
  Options o = options();
  o.factorization = Method::lu, o.bounds = true;
  const auto ill = solve_random(random_with_condition(60, 1e19), 1, o);
  EXPECT_FALSE(ill.report.forward_error_bound);
  Matrix<double> zero(5, 1);
  for (std::int64_t i = 0; i < 5; ++i) zero(i, 0) = 0;
  EXPECT_EQ(solve_for(unimodular(5, 1), zero, o).report.forward_error_bound, 0.0);
  o.bounds = false;
  const auto plain = solve_random(random_with_condition(60, 10), 1, o);
  EXPECT_FALSE(plain.report.forward_error_bound || plain.report.componentwise_backward_error || plain.report.growth);
}

/// Factors of few digits cannot see how ill-conditioned a matrix is: by themselves they would say 1e8 at most in fp32.
TEST_P(ErrorBounds, and_the_condition_come_from_refined_solves_where_factors_are_coarse) {
  for (const double kappa : {1e9, 3e9}) {
    const Matrix<double> A = random_with_condition(100, kappa);
    Options o = options();
    o.factorization = Method::lu, o.bounds = true;
    const auto fine = solve_random(A, 1, o);
    o.precision = Precision::fp32;
    const auto coarse = solve_random(A, 1, o);
    ASSERT_TRUE(coarse.report.outcome.ok() && fine.report.outcome.ok());
    EXPECT_EQ(coarse.report.precision, Precision::fp32);
    EXPECT_LT(*coarse.report.rcond, 3 * *fine.report.rcond);
    EXPECT_GT(*coarse.report.rcond, *fine.report.rcond / 30);
    ASSERT_TRUE(coarse.report.forward_error_bound && fine.report.forward_error_bound);
    EXPECT_GT(*coarse.report.forward_error_bound, *fine.report.forward_error_bound / 3);
  }
}

/// The inverse that such a bound is of is that of factors with few digits.
TEST_P(ErrorBounds, allow_for_the_roundoff_of_coarse_factors) {
  for (const Precision storage : {Precision::fp16, Precision::bf16})
    for (int k = 1; k < 300; ++k)
      for (const std::int64_t n : {1, 2}) {
        const Exact its = exact_system(
            matrix_of<double>(n, n, [&](auto i, auto j) { return i == j ? k : i + k % 7 - 3.0; }), 1, Op::none);
        Options o = options();
        o.storage = storage, o.refine = Refine::none, o.accuracy = 0.1, o.bounds = true;
        const auto solved = solve_for(its.A, its.B, o);
        if (!solved.report.outcome.ok() || !solved.report.forward_error_bound) continue;
        EXPECT_LE(forward_error(solved.X, its.X), *solved.report.forward_error_bound) << k << ", n = " << n;
      }
}

/// As far as OpenBLAS is there. The truth is that of residuals in twice the precision, which tests of their own look at.
TEST_P(ErrorBounds, are_above_the_error_and_at_most_a_hundred_times_those_of_dgesvx) {
  for (const double kappa : {1e1, 1e3, 1e5, 1e7, 1e9, 1e11, 1e13})
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      SCOPED_TRACE(testing::Message() << "κ = " << kappa << ", " << name_of(precision));
      const Matrix<double> A = random_with_condition(200, kappa), B = random_matrix(200, 1, 5);
      Options o = options();
      o.factorization = Method::lu, o.bounds = true, o.precision = precision;
      const auto solved = solve_for(A, B, o);
      ASSERT_TRUE(solved.report.outcome.ok() && solved.report.forward_error_bound);
      o.residual = Residual::extra;
      const auto truth = solve_for(A, B, o);
      EXPECT_LE(forward_error(solved.X, truth.X), *solved.report.forward_error_bound);
      try {
        const double limit = 100 * bench::solve_by_expert(A.view(), B.view()).forward_error_bounds[0];
        EXPECT_LE(*solved.report.forward_error_bound, limit);
        EXPECT_LE(*truth.report.forward_error_bound, limit);
      } catch (const MachineError& e) {
        GTEST_SKIP() << e.what();
      }
    }
}

/// A = diag(A₁, A₂) with an A₂ that fp32 cannot tell from a singular matrix, and b that is nearly zero there: refinement converges, and has
/// seen of A₂ only what it needs. Two systems by the same factors: the first has made nothing better known for the second.
TEST_P(ErrorBounds, and_conditions_see_what_the_right_hand_side_hides) {
  const std::int64_t n = 40, half = n / 2;
  const Matrix<double> A1 = random_matrix(half, half, 1), A2 = random_with_condition(half, 1e14);
  const Matrix<double> A = matrix_of<double>(n, n, [&](std::int64_t i, std::int64_t j) {
    return i < half && j < half ? A1(i, j) : i >= half && j >= half ? A2(i - half, j - half) : 0.0;
  });
  Options o = options();
  o.factorization = Method::lu, o.precision = Precision::fp32, o.bounds = true;
  Factorization<double> factors = Factorization<double>::copy_of(A.view(), o);
  ASSERT_TRUE(factors.report().rcond);
  EXPECT_LE(*factors.report().rcond, 1e-13) << "before any solve";
  for (const double small : {1e-16, 1e-15}) {
    Matrix<double> B = random_matrix(n, 1, 2);
    for (std::int64_t i = half; i < n; ++i) B(i, 0) *= small;
    o.precision = Precision::fp64, o.residual = Residual::extra;
    const auto truth = solve_for(A, B, o);
    Matrix<double> X(n, 1);
    const Report r = factors.solve(B.view(), X.view());
    ASSERT_TRUE(r.outcome.ok()) << r.outcome.message();
    EXPECT_LE(*r.rcond, 1e-13);
    ASSERT_TRUE(r.forward_error_bound);
    EXPECT_LE(forward_error(X, truth.X), *r.forward_error_bound);
  }
}

/// One row is nearly the sum of others, which fp32 does not see, and small rows have the largest part of the inverse: an estimate that looks
/// at large parts alone sees nothing else.
TEST_P(ErrorBounds, and_conditions_see_what_small_rows_hide) {
  const std::int64_t n = 100, sum = 50, first = 51, end = 80;
  for (const Precision precision : {Precision::fp32, Precision::fp16})
    for (const double scale : {1e-6, 1e-9, 1e-12})
      for (const std::uint64_t seed : {1, 2, 3, 4}) {
        SCOPED_TRACE(testing::Message() << name_of(precision) << ", rows times " << scale << ", seed " << seed);
        const Matrix<double> R = random_matrix(n, n, seed);
        const Matrix<double> A = matrix_of<double>(n, n, [&](std::int64_t i, std::int64_t j) {
          double element = R(i, j) * (i == sum ? 1e-9 : 1);
          for (std::int64_t k = first; i == sum && k < end; ++k) element += R(k, j);
          return i < 8 ? scale * element : element;
        });
        const Matrix<double> B = random_matrix(n, 1, seed + 10);
        Options o = options();
        o.factorization = Method::lu, o.bounds = true;
        const auto fine = solve_for(A, B, o);
        o.residual = Residual::extra;
        const auto truth = solve_for(A, B, o);
        o.residual = Residual::working, o.precision = precision;
        const auto coarse = solve_for(A, B, o);
        if (coarse.report.precision != precision) continue;  // refinement stalled, which said enough
        EXPECT_LT(*coarse.report.rcond, 10 * *fine.report.rcond);
        if (!coarse.report.outcome.ok() || !coarse.report.forward_error_bound) continue;
        EXPECT_LE(forward_error(coarse.X, truth.X), *coarse.report.forward_error_bound);
      }
}

/// M is exact in fp32 but for what is below half an ulp of A, which makes A singular to 1e-15. Vectors of ±1 would not show it: their products with A
/// are exact in fp32, or cancel.
TEST_P(ErrorBounds, and_conditions_see_what_is_exact_in_fp32) {
  const std::int64_t n = 20, last = n - 1;
  const double half_ulp = 0x1p-24, w = half_ulp / 2.375 * (1 - 1e-6);
  for (const auto [i, j] : {std::pair(2, 11), {4, 8}, {3, 7}}) {
    Matrix<double> A = matrix_of<double>(n, n, [](std::int64_t row, std::int64_t column) { return row == column; });
    A(last, i) = 0.75 + w, A(last, j) = 0.75 - w, A(last, last) = 16 * (0.09375 + half_ulp);
    A(i, last) = 20, A(j, last) = -18;
    Options o = options();
    o.factorization = Method::lu, o.precision = Precision::fp32, o.bounds = true;
    for (const std::vector<int>& cards : {std::vector<int>{}, {0, 1}}) {
      o.cards = cards;
      EXPECT_LE(solve_for(A, random_matrix(n, 1, 1), o).report.rcond.value(), 1e-12) << i << ", " << j;
      if (GetParam().device != Device::cpu) break;  // where there is a second card, the tests of cards look at it
    }
  }
}

/// Without interchanges elements grow, and factors in fp32 are farther from A than their roundoff.
TEST_P(ErrorBounds, and_conditions_see_what_growth_hides) {
  const std::int64_t n = 8;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6, 7, 8}) {
    Matrix<double> A = random_matrix(n, n, seed);
    A(0, 0) = 1e-3;
    for (std::int64_t j = 0; j < n; ++j) {
      A(n - 1, j) *= 1e-11;
      for (std::int64_t i = 1; i < n - 1; ++i) A(n - 1, j) += A(i, j);
    }
    const Matrix<double> B = random_matrix(n, 1, seed + 10);
    Options o = options();
    o.factorization = Method::lu, o.bounds = true;
    const double rcond = solve_for(A, B, o).report.rcond.value();
    o.residual = Residual::extra;
    const auto truth = solve_for(A, B, o);
    o.residual = Residual::working;
    o.factorization = Method::lu_nopivot, o.assume_suitable = true, o.precision = Precision::fp32;
    const auto coarse = solve_for(A, B, o);
    EXPECT_LT(coarse.report.rcond.value(), 10 * rcond) << seed;
    if (!coarse.report.outcome.ok() || !coarse.report.forward_error_bound) continue;
    EXPECT_LE(forward_error(coarse.X, truth.X), *coarse.report.forward_error_bound) << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, ErrorBounds, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, ErrorBounds, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test::bounds_test
