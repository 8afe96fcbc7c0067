// Residuals in twice the precision: as exact as they should be, and what that makes of solutions.
#include <complex>

#include "devices.hpp"
#include "exact.hpp"
#include "lasolve/names.hpp"
#include "lasolve/report_fields.hpp"
#include "solvers/devices/cpu/extra.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

/// Of matrices in both types.
class ExtraResiduals : public OnTarget {
 protected:
  Options extra() const {
    Options o = options();
    o.residual = Residual::extra;
    o.condition = false;
    return o;
  }
};

/// Up to where a factorization in the type leaves a digit or two: 1e14 in fp64. Without it errors are some u κ.
TEST_P(ExtraResiduals, make_errors_of_four_roundoffs_up_to_the_largest_condition_numbers) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::vector<double> kappas =
        std::is_same_v<T, double> ? std::vector{1e1, 1e6, 1e10, 1e12, 1e14} : std::vector{1e1, 1e3, 1e5};
    for (const double kappa : kappas)
      for (const std::int64_t n : {5, 40, 150})
        for (const bool symmetric : {false, true})
          for (const Op op : {Op::none, Op::transpose})
            for (const std::int64_t nrhs : {1, 3}) {
              SCOPED_TRACE(testing::Message() << "κ = " << kappa << ", n = " << n << ", symmetric " << symmetric
                                              << ", op " << int(op) << ", " << nrhs);
              const Matrix<T> A = rounded<T>(random_with_condition(n, kappa, symmetric)),
                              B = random_matrix<T>(n, nrhs, 4);
              const auto exact = exact_solutions(A, B, op);
              const auto solved = solve_for(A, B, extra(), op);
              EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
              EXPECT_LE(forward_error(solved.X, exact), 4 * unit_roundoff<T>);
              EXPECT_EQ(solved.report.refine, Refine::classical);
              EXPECT_TRUE(solved.report.extra_residuals);
              EXPECT_FALSE(says(notes_of(solved.report), "refinement"));
              if (kappa < 1e10 || n < 40) continue;
              Options plain = extra();
              plain.residual = Residual::working, plain.refine = Refine::classical;
              EXPECT_GT(forward_error(solve_for(A, B, plain, op).X, exact), 1e3 * unit_roundoff<T>);
            }
  });
}

/// Factors of few digits, by classical refinement and by GMRES.
TEST_P(ExtraResiduals, make_the_same_errors_with_coarse_factors) {
  if (GetParam().single) GTEST_SKIP() << "fp32 factors are as fine as such a matrix";
  for (const double kappa : {1e3, 1e6, 1e9, 1e12})
    for (const std::int64_t nrhs : {1, 7}) {
      SCOPED_TRACE(testing::Message() << "κ = " << kappa << ", " << nrhs);
      const Matrix<double> A = random_with_condition(120, kappa), B = random_matrix<double>(120, nrhs, 4);
      Options o = extra();
      o.precision = Precision::fp32;
      const auto solved = solve_for(A, B, o);
      EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
      EXPECT_LE(forward_error(solved.X, exact_solutions(A, B)), 4 * unit_roundoff<double>);
      EXPECT_EQ(solved.report.precision, kappa < 1e11 ? Precision::fp32 : Precision::fp64);
    }
}

TEST_P(ExtraResiduals, make_bounds_of_few_roundoffs_where_the_condition_allows_to_trust_them) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = extra();
    o.bounds = true;
    for (const double kappa : {1e2, 0.01 / unit_roundoff<T>}) {
      const std::int64_t n = 120;
      const Matrix<T> A = rounded<T>(random_with_condition(n, kappa)), B = random_matrix<T>(n, 2, 4);
      const auto solved = solve_for(A, B, o);
      ASSERT_TRUE(solved.report.forward_error_bound);
      EXPECT_LE(forward_error(solved.X, exact_solutions(A, B)), *solved.report.forward_error_bound);
      EXPECT_EQ(*solved.report.forward_error_bound <= 11 * unit_roundoff<T>, kappa < 1e3);
    }
  });
}

TEST_P(ExtraResiduals, are_of_a_triangle_too) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {30, 300, 700})
      for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", " << name_of(triangle));
        const double kappa = std::is_same_v<T, double> ? 1e10 : 1e3;
        const OneTriangle<T> A(rounded<T>(random_with_condition(n, kappa, true)), triangle);
        const Matrix<T> B = random_matrix<T>(n, 2, 4);
        Options o = extra();
        o.triangle = triangle;
        const auto half = solve_for(A.half, B, o), whole = solve_for(A.whole, B, extra());
        EXPECT_TRUE(half.report.outcome.ok()) << half.report.outcome.message();
        for (std::int64_t j = 0; j < 2; ++j)
          for (std::int64_t i = 0; i < n; ++i)
            ASSERT_NEAR(half.X(i, j), whole.X(i, j), 4 * unit_roundoff<T> * infinity_norm(whole.X)) << i << ", " << j;
        if (n < 300) {
          EXPECT_LE(forward_error(half.X, exact_solutions(A.whole, B)), 4 * unit_roundoff<T>);
        }
      }
  });
}

TEST_P(ExtraResiduals, are_right_where_products_would_overflow_and_where_they_would_vanish) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::vector<double> sizes =
        std::is_same_v<T, double> ? std::vector{1e-300, 1e-160, 1e160, 1e300} : std::vector{1e-36, 1e-20, 1e20, 1e36};
    for (const double of_A : sizes)
      for (const double of_B : sizes) {
        if (const double of_x = of_B / of_A; !(of_x > sizes.front() * 1e2 && of_x < sizes.back() / 1e2)) continue;
        SCOPED_TRACE(testing::Message() << of_A << ", " << of_B);
        const Matrix<T> A = rounded<T>(scaled(of_A, random_with_condition(50, 100))),
                        B = rounded<T>(scaled(of_B, random_matrix(50, 2)));
        const auto solved = solve_for(A, B, extra());
        EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
        EXPECT_LE(forward_error(solved.X, exact_solutions(A, B)), 4 * unit_roundoff<T>);
      }
  });
}

TEST_P(ExtraResiduals, that_do_not_make_x_accurate_are_told) {
  Options o = extra();
  o.condition = true;
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto solved = solve_random(rounded<T>(random_with_condition(60, 100 / unit_roundoff<T>)), 1, o);
    EXPECT_NE(notes_of(solved.report) + solved.report.outcome.name(), "solved");
  });
  o.refine = Refine::none;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "residuals"));
}

/// Small integers over 3, whose products take more digits than a double has.
TEST(ExtraResidualsOnTheCpu, are_of_complex_systems_too) {
  using C = std::complex<double>;
  const std::int64_t n = 40;
  Random random;
  const auto some = [&](std::int64_t rows, std::int64_t columns) {
    return matrix_of<C>(rows, columns, [&](auto, auto) { return C(random.integer(9) / 3, random.integer(9) / 7); });
  };
  const Matrix<C> A = some(n, n), X = some(n, 2), tail = some(n, 2), B = some(n, 2);
  const auto small = matrix_of<C>(n, 2, [&](auto i, auto j) { return tail(i, j) * 0x1p-60; });
  for (const Op op : {Op::none, Op::transpose, Op::conjugate_transpose}) {
    Queue<Cpu> q(3);
    Matrix<C> R(n, 2);
    residual_in_two<C>(q, Operand<C>(A.view(), op), X.view(), small.view(), B.view(), R.view());
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        Quad re = B(i, j).real(), im = B(i, j).imag();
        for (std::int64_t k = 0; k < n; ++k) {
          const C a = op == Op::none ? A(i, k) : op == Op::transpose ? A(k, i) : std::conj(A(k, i));
          const Quad x = Quad(X(k, j).real()) + small(k, j).real(), y = Quad(X(k, j).imag()) + small(k, j).imag();
          re -= a.real() * x - a.imag() * y, im -= a.real() * y + a.imag() * x;
        }
        EXPECT_NEAR(R(i, j).real(), double(re), 1e-15 * std::abs(double(re)));
        EXPECT_NEAR(R(i, j).imag(), double(im), 1e-15 * std::abs(double(im)));
      }
  }
}

TEST(ExtraResidualsOnTheCpu, have_a_name_in_reports) {
  Options o;
  o.residual = Residual::extra;
  const auto name = [](const Report& r) { return std::get<std::string>(report_field("residual").of(r)); };
  EXPECT_EQ(name(solve_random(random_matrix<double>(20, 20), 1, o).report), "double-double");
  EXPECT_EQ(name(solve_random(random_matrix<float>(20, 20), 1, o).report), "fp64");
  EXPECT_EQ(name(solve_random(random_matrix<double>(20, 20), 1, {}).report), "fp64");
}

LASOLVE_ON_ALL_TARGETS(ExtraResiduals);

}  // namespace
}  // namespace lasolve::test
