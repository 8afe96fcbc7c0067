// Rows and columns of very different size: what is scaled, when, and that answers and checks are of the system as it was given.
#include <numeric>
#include <utility>

#include "devices.hpp"
#include "exact.hpp"
#include "lasolve/names.hpp"
#include "matrices.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"
#include "units.hpp"

namespace lasolve::test {
namespace {

class Equilibrated : public OnTarget {};

TEST_P(Equilibrated, systems_have_rows_and_columns_of_any_size) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {6, 40, 150})
      for (const bool by_rows : {true, false})
        for (const bool by_columns : {true, false})
          for (const Op op : {Op::none, Op::transpose})
            for (const Wanted when : {Wanted(Wanted::automatic), Wanted(true)}) {
              SCOPED_TRACE(testing::Message() << "n = " << n << ", rows " << by_rows << ", columns " << by_columns
                                              << ", op " << int(op) << ", " << name_of(when.kind));
              const std::vector<int> one(std::size_t(n), 0);
              const auto rows = by_rows ? far_apart<T>(n, 1) : one, columns = by_columns ? far_apart<T>(n, 2) : one;
              const Matrix<T> M = random_matrix<T>(n, n, 7), A = in_units(M, rows, columns),
                              ones = random_matrix<T>(n, 2, 3);
              const Matrix<T> B = in_units(ones, op == Op::none ? rows : columns, {0, 0});
              Options o = options();
              o.factorization = Method::lu, o.equilibrate = when, o.condition = true;
              const auto solved = solve_for(A, B, o, op);
              EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
              EXPECT_LT(error_in_units(solved.X, B, M, rows, columns, op), 1e4 * double(n) * unit_roundoff<T>);
              EXPECT_LT(*solved.report.hpl_residual, hpl_threshold);
              if (when == Wanted::on) {
                EXPECT_EQ(solved.report.equilibration, Equilibration::both);
              }
            }
  });
}

TEST_P(Equilibrated, only_where_a_solution_fails_without_it) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 60;
    const Matrix<T> A = with_large_rows<T>(n), B = right_hand_sides<T>(A.view(), 1);
    Options o = options();
    o.condition = true, o.equilibrate = false;
    const auto failed = solve_for(A, B, o);
    EXPECT_FALSE(failed.report.outcome.ok());
    EXPECT_EQ(failed.report.equilibration, Equilibration::none);
    o.equilibrate = {};
    Factorization<T> factors(A.view(), o);
    Matrix<T> X(n, 1);
    for (int turn = 0; turn < 2; ++turn) {
      const Report solved = factors.solve(B.view(), X.view());
      EXPECT_TRUE(solved.outcome.ok()) << solved.outcome.message();
      EXPECT_EQ(solved.equilibration, Equilibration::both);
      EXPECT_TRUE(says(notes_of(solved), "were scaled by powers of two"));
      EXPECT_LT(forward_error(X, exact_solutions(A, B)), 1e4 * unit_roundoff<T>);
      EXPECT_EQ(solved.notes.size(), factors.report().notes.size());
    }
    const auto well = solve_random(random_matrix<T>(n, n), 1, o);
    EXPECT_EQ(well.report.equilibration, Equilibration::none);
    EXPECT_EQ(notes_of(well.report), "");
    const auto without = matrix_of<T>(n, n, [&](auto i, auto j) { return j == 33 ? T(0) : A(i, j); });
    const auto singular = solve_for(without, B, o);
    expect_outcome(singular.report.outcome, Outcome::singular, 33);
  });
}

TEST_P(Equilibrated, graded_matrices_keep_their_symmetry) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const Uplo triangle : {Uplo::both, Uplo::lower, Uplo::upper}) {
      SCOPED_TRACE(name_of(triangle));
      const std::int64_t n = 50;
      const std::vector<int> far = far_apart<T>(n, 5);
      const Matrix<T> M = rounded<T>(random_with_condition(n, 10, true));
      const OneTriangle<T> halves(in_units(M, far, far), triangle);
      const Matrix<T>& A = triangle == Uplo::both ? halves.whole : halves.half;
      const Matrix<T> B = in_units(random_matrix<T>(n, 2, 3), far, {0, 0});
      Options o = options();
      o.triangle = triangle, o.equilibrate = true;
      const auto solved = solve_for(A, B, o);
      EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
      EXPECT_EQ(solved.report.method, Method::cholesky);
      EXPECT_EQ(solved.report.equilibration, Equilibration::both);
      EXPECT_LT(error_in_units(solved.X, B, M, far, far, Op::none), 1e3 * double(n) * unit_roundoff<T>);
    }
  });
}

/// [1 10²⁰; 1 1]: lost by its first pivot, with a small residual in the sense of HPL.
TEST_P(Equilibrated, rows_are_not_lost_by_the_first_pivot) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T large(1e20);
    const auto A = matrix_of<T>(2, 2, [=](auto i, auto j) { return i == 0 && j == 1 ? large : T(1); });
    const auto B = matrix_of<T>(2, 1, [=](auto i, auto) { return i == 0 ? large : T(2); });
    Options o = options();
    o.condition = true;
    const auto solved = solve_for(A, B, o);
    EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
    EXPECT_NEAR(solved.X(0, 0), 1, 4 * unit_roundoff<T>);
    EXPECT_NEAR(solved.X(1, 0), 1, 4 * unit_roundoff<T>);
  });
}

TEST_P(Equilibrated, a_diagonal_may_hold_subnormal_numbers) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T tiny = std::numeric_limits<T>::min() / 64;
    for (const std::int64_t n : {3, 40}) {
      const auto A = matrix_of<T>(n, n, [=](auto i, auto j) { return i != j ? T(0) : i == 1 ? tiny : T(i + 1); });
      const auto B = matrix_of<T>(n, 1, [&](auto i, auto) { return A(i, i); });
      Options o = options();
      o.condition = true;
      const auto solved = solve_for(A, B, o);
      EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
      for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(solved.X(i, 0), 1, 4 * unit_roundoff<T>) << i;
    }
  });
}

/// Without a check nothing reads A again, so that a copy of it on a device is gone when somebody asks.
TEST_P(Equilibrated, matrices_that_are_too_small_are_known_to_be_so_before_they_go) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {20, 200}) {
      const T tiny = std::numeric_limits<T>::min() / 64;
      const auto A = matrix_of<T>(n, n, [=](auto i, auto j) { return i == j ? tiny : T(0); });
      Options o = options();
      o.check = false, o.factorization = Method::lu;
      Factorization<T> factors(A.view(), o);
      EXPECT_NEAR(factors.rcond(), 1, 8 * unit_roundoff<T>);
      Matrix<T> X(n, n);
      EXPECT_TRUE(factors.solve(A.view(), X.view()).outcome.ok());
      for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(X(i, i), 1, 4 * unit_roundoff<T>);
    }
  });
}

/// Coarse factors of a matrix that is out of their range, and those of which products have a narrow range.
TEST_P(Equilibrated, matrices_fit_into_the_range_of_coarse_factors) {
  if (GetParam().single) GTEST_SKIP() << "fp32 factors have the range of such a matrix";
  const std::int64_t n = 120;
  const std::vector<int> rows = far_apart<double>(n, 1), columns = far_apart<double>(n, 2);
  const Matrix<double> M = random_with_condition(n, 100), A = in_units(M, rows, columns),
                       B = in_units(random_matrix(n, 2, 3), rows, {0, 0});
  Options o = options();
  o.factorization = Method::lu, o.equilibrate = true, o.precision = Precision::fp32;
  const auto solved = solve_for(A, B, o);
  EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
  EXPECT_EQ(solved.report.precision, Precision::fp32);
}

/// With scales that fp32 has no exponents for, right-hand sides would leave its range before they are solved for, or after.
TEST_P(Equilibrated, matrices_out_of_the_range_of_coarse_factors_have_conditions_and_bounds) {
  if (GetParam().single) GTEST_SKIP() << "fp32 factors have the range of such a matrix";
  const std::int64_t n = 30;
  const Matrix<double> M =
      matrix_of<double>(n, n, [](auto i, auto j) { return i == j ? 200 : double((7 * i + 5 * j + i * j) % 13) - 6; });
  const auto Z = matrix_of<double>(n, 2, [](auto i, auto j) { return double((3 * i + j) % 11) - 5; });
  for (const int half : {-520, 500})
    for (const Method method : {Method::lu, Method::lu_nopivot})
      for (const auto& [op, in_parts] : {std::pair(Op::none, false), {Op::transpose, false}, {Op::none, true}}) {
        SCOPED_TRACE(testing::Message() << "2^" << 2 * half << ", " << name_of(method) << ", op " << name_of(op)
                                        << (in_parts ? ", over two cards" : ""));
        const auto times = [](int exponent, const auto& A) {
          return matrix_of<double>(A.rows(), A.cols(), [&](auto i, auto j) { return std::ldexp(A(i, j), exponent); });
        };
        const auto zero = matrix_of<double>(n, 2, [](auto, auto) { return 0; });
        const auto MZ = rounded<double>(product<double>(1, {M.view(), op}, Z.view(), 0, zero.view()));
        Options o = options();
        o.factorization = method, o.equilibrate = true, o.bounds = true, o.precision = Precision::fp32;
        if (in_parts) o.cards = {0, 0};
        const auto plain = solve_for(M, MZ, o, op), far = solve_for(times(2 * half, M), times(half, MZ), o, op);
        expect_solved(far);
        EXPECT_EQ(far.report.precision, Precision::fp32);
        EXPECT_NEAR(far.report.rcond.value_or(0) / *plain.report.rcond, 1, 0.5);
        if (half < 0) continue;  // the least normal number, which a bound allows for, is more than all of A
        ASSERT_TRUE(far.report.forward_error_bound);
        const auto X = exact_solutions(times(2 * half, M), times(half, MZ), op);
        EXPECT_LE(forward_error(far.X, X), *far.report.forward_error_bound);
      }
}

/// Nothing then looks for NaN before A is factored, where its norm comes from otherwise.
TEST_P(Equilibrated, matrices_are_seen_to_be_too_small_though_they_may_have_nan) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T tiny = std::numeric_limits<T>::denorm_min();
    for (const Method method : {Method::automatic, Method::lu, Method::cholesky})
      for (const std::int64_t n : {8, 150}) {
        SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n);
        const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return T(i == j ? n + 3 : (i + j) % 3 - 1) * tiny; });
        const auto B = matrix_of<T>(n, 1, [&](auto i, auto) { return T(i % 5) * tiny; });
        Options o = options();
        o.factorization = method, o.allow_nonfinite = true;
        const auto solved = solve_for(A, B, o);
        EXPECT_TRUE(says(notes_of(solved.report), "below the least normal number"));
        expect_solved(solved);
      }
  });
}

TEST_P(Equilibrated, factors_have_the_determinant_of_the_matrix_and_bounds_of_its_solutions) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 30;
    Options o = options();
    o.factorization = Method::lu, o.equilibrate = true;
    const Matrix<T> M = random_matrix<T>(n, n, 7);
    std::vector<int> rows = far_apart<T>(n, 1), none(std::size_t(n), 0);
    const Matrix<T> A = in_units(M, rows, none), B = in_units(random_matrix<T>(n, 1, 3), rows, {0});
    Factorization<T> factors(A.view(), o);
    const LogDeterminant its = factors.log_abs_det(), plain = Factorization<T>(M.view(), options()).log_abs_det();
    const double sum = std::log(2.0) * std::accumulate(rows.begin(), rows.end(), 0.0);
    EXPECT_NEAR(its.log_abs, plain.log_abs + sum, 1e3 * unit_roundoff<T> * std::max(1.0, std::abs(sum)));
    EXPECT_EQ(its.sign, plain.sign);
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.L(); }), "scaled"));
    o.bounds = true;
    const auto solved = solve_for(A, B, o);
    ASSERT_TRUE(solved.report.forward_error_bound);
    EXPECT_LE(forward_error(solved.X, exact_solutions(A, B)), *solved.report.forward_error_bound);
    EXPECT_LT(*solved.report.forward_error_bound, 1e6 * unit_roundoff<T>);
    EXPECT_LT(*solved.report.componentwise_backward_error, double(n) * unit_roundoff<T>);
  });
}

/// What was handed over is scaled where it lies.
TEST_P(Equilibrated, matrices_may_be_factored_in_place) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 60;
    const std::vector<int> rows = far_apart<T>(n, 1), one(std::size_t(n), 0);
    const Matrix<T> M = random_matrix<T>(n, n, 7), B = in_units(random_matrix<T>(n, 1, 3), rows, {0});
    Options o = options();
    o.equilibrate = true, o.factorization = Method::lu;
    Factorization<T> factors(in_units(M, rows, one), o);
    Matrix<T> X(n, 1);
    EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
    EXPECT_LT(error_in_units(X, B, M, rows, one, Op::none), 1e4 * double(n) * unit_roundoff<T>);
  });
}

LASOLVE_ON_ALL_TARGETS(Equilibrated);

}  // namespace
}  // namespace lasolve::test
