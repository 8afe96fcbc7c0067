// Condition numbers of matrices whose rows or columns are of different size.
#include "conditions.hpp"
#include "matrices.hpp"

namespace lasolve::test {
namespace {

class ScaledCondition : public Condition {};

TEST_P(ScaledCondition, of_rows_of_different_size_is_that_of_the_scaled_rows) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const double far = std::is_same_v<T, double> ? 1e200 : 1e25;
    const auto diagonal = matrix_of<T>(3, 3, [=](auto i, auto j) { return i == j ? std::pow(far, double(i - 1)) : 0; });
    const auto ones = matrix_of<T>(3, 2, [](auto, auto) { return 1; });
    for (const Op op : {Op::none, Op::transpose}) {
      const auto solved = solve_for(diagonal, ones, judged(), op);
      expect_solved(solved);
      EXPECT_LT(*solved.report.rcond, unit_roundoff<T>);
      EXPECT_EQ(solved.report.rcond_of_scaled_rows, 1);
      EXPECT_NEAR(*solved.report.digits, -std::log10(unit_roundoff<T>), 1e-12);
      EXPECT_TRUE(says(notes_of(solved.report), "badly scaled"));
    }
    const std::int64_t n = 40;
    const Matrix<T> R = random_matrix<T>(n, n);
    const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return std::ldexp(R(i, j), i % 2 == 0 ? 0 : -60); });
    const auto one = matrix_of<T>(n, 1, [](auto, auto) { return 1; });
    const auto B = rounded<T>(product<T>(T(1), A.view(), one.view(), T(0), one.view()));
    const auto solved = solve_for(A, B, judged());
    expect_solved(solved);
    EXPECT_NEAR(*solved.report.rcond_of_scaled_rows * scaled_condition(R), 1, 0.1);
    const double error = (as_eigen(solved.X.view()).array() - T(1)).abs().maxCoeff();
    EXPECT_LT(error, std::pow(10, -*solved.report.digits));
  });
}

/// Every third unit is far from the others, so that rcond is below the roundoff.
template <class T>
std::vector<int> units(std::int64_t n, int far = std::is_same_v<T, double> ? -70 : -30) {
  std::vector<int> all;
  for (std::int64_t i = 0; i < n; ++i) all.push_back(i % 3 == 1 ? far : int(i % 4));
  return all;
}

TEST_P(ScaledCondition, of_columns_of_different_size_is_that_of_the_scaled_columns) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {6, 40, 150})
      for (const bool symmetric : {false, true}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", symmetric " << symmetric);
        const Matrix<T> M = symmetric ? rounded<T>(random_with_condition(n, 10, true)) : random_matrix<T>(n, n, 5);
        const std::vector<int> one(std::size_t(n), 0), far = units<T>(n);
        const Matrix<T> A = in_units(M, symmetric ? far : one, far);
        // The column of M⁻¹ that belongs to a right-hand side of one 1, so that the truth is known in its own units.
        const Matrix<T> truth = random_matrix<T>(n, 2, 8);
        const Matrix<T> X =
            matrix_of<T>(n, 2, [&](auto i, auto j) { return std::ldexp(truth(i, j), -far[std::size_t(i)]); });
        const auto nothing = matrix_of<T>(n, 2, [](auto, auto) { return 0; });
        const auto B = rounded<T>(product<T>(T(1), A.view(), X.view(), T(0), nothing.view()));
        const auto solved = solve_for(A, B, judged(Method::automatic));
        EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
        EXPECT_EQ(solved.report.method, symmetric ? Method::cholesky : Method::lu);
        EXPECT_LT(*solved.report.rcond, unit_roundoff<T>);
        EXPECT_FALSE(solved.report.rcond_of_scaled_rows.has_value());
        ASSERT_TRUE(solved.report.rcond_of_scaled_columns.has_value());
        const double condition = scaled_condition(M);
        EXPECT_LT(*solved.report.rcond_of_scaled_columns * condition, 30);
        EXPECT_GT(*solved.report.rcond_of_scaled_columns * condition, 1.0 / 30);
        for (std::int64_t j = 0; j < 2; ++j)
          for (std::int64_t i = 0; i < n; ++i)  // the largest |truth| is about 1
            EXPECT_LT(std::abs(std::ldexp(solved.X(i, j), far[std::size_t(i)]) - truth(i, j)),
                      20 * std::pow(10, -*solved.report.digits));
      }
  });
}

TEST_P(ScaledCondition, that_is_near_singular_with_rows_and_columns_scaled_is_not_trusted) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::vector<Matrix<T>> matrices;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      matrices.push_back(rounded<T>(of_rank(60, 59, seed)));
      matrices.push_back(rounded<T>(of_rank(12, 11, seed)));
    }
    matrices.push_back(rounded<T>(hilbert(20)));
    matrices.push_back(rounded<T>(random_with_condition(50, 10 / unit_roundoff<T>)));
    matrices.push_back(rounded<T>(random_with_condition(50, 10 / unit_roundoff<T>, true)));
    for (const Matrix<T>& M : matrices)
      for (const bool by_rows : {false, true})
        for (const Op op : {Op::none, Op::transpose}) {
          const std::int64_t n = M.rows();
          const std::vector<int> one(std::size_t(n), 0), far = units<T>(n);
          const Matrix<T> A = in_units(M, by_rows ? far : one, far);
          const Report report = solve_for(A, random_matrix<T>(n, 2), judged(Method::automatic), op).report;
          EXPECT_FALSE(report.outcome.ok()) << "n = " << n;
          EXPECT_FALSE(report.rcond_of_scaled_rows.has_value());
          EXPECT_FALSE(report.rcond_of_scaled_columns.has_value()) << *report.rcond_of_scaled_columns;
          EXPECT_LT(report.digits.value_or(0), 1);
        }
  });
}

/// Well conditioned but for its rows, yet what the first pivot does to the second row leaves nothing of it.
TEST_P(ScaledCondition, of_scaled_rows_does_not_count_where_a_row_of_the_residual_is_large) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T large(1e20);
    const auto A = matrix_of<T>(2, 2, [=](auto i, auto j) { return i == 0 && j == 1 ? large : T(1); });
    const auto B = matrix_of<T>(2, 1, [=](auto i, auto) { return i == 0 ? large : T(2); });
    Options o = judged();
    o.equilibrate = false;  // which mends it
    const auto solved = solve_for(A, B, o);
    EXPECT_GT(std::abs(solved.X(0, 0) - 1), 0.5);
    EXPECT_LT(*solved.report.hpl_residual, hpl_threshold);
    EXPECT_EQ(solved.report.outcome.kind, Outcome::ill_conditioned);
  });
}

LASOLVE_ON_ALL_TARGETS(ScaledCondition);

}  // namespace
}  // namespace lasolve::test
