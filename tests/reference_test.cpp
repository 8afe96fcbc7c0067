// The oracle against numbers worked out by hand.
#include "reference.hpp"

#include <gtest/gtest.h>

#include "matrices.hpp"

namespace lasolve::test {
namespace {

using Rows = std::vector<std::vector<double>>;

Matrix<double> matrix(const Rows& rows) {
  return matrix_of<double>(std::int64_t(rows.size()), std::int64_t(rows[0].size()),
                           [&](auto i, auto j) { return rows[std::size_t(i)][std::size_t(j)]; });
}

template <class Source>
Rows rows_of(const Source& A) {
  Rows rows(std::size_t(A.rows()), std::vector<double>(std::size_t(A.cols())));
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t j = 0; j < A.cols(); ++j) rows[std::size_t(i)][std::size_t(j)] = double(A(i, j));
  return rows;
}

TEST(ReferenceProduct, is_that_of_the_page) {
  const auto A = matrix({{1, 2, 3}, {4, 5, 6}}), B = matrix({{1, 0}, {-1, 2}, {2, 1}}),
             C = matrix({{10, 20}, {30, 40}});
  EXPECT_EQ(rows_of(product<double>(1, A.view(), B.view(), 0, C)), (Rows{{5, 7}, {11, 16}}));
  EXPECT_EQ(rows_of(product<double>(-1, A.view(), B.view(), 1, C)), (Rows{{5, 13}, {19, 24}}));
  EXPECT_EQ(rows_of(product<double>(2, A.view(), B.view(), -0.5, C)), (Rows{{5, 4}, {7, 12}}));
  EXPECT_EQ(rows_of(product<double>(1, transposed(B.view()), transposed(A.view()), 0, C)), (Rows{{5, 11}, {7, 16}}));
}

TEST(ReferenceProduct, has_the_sizes_of_what_is_transposed) {
  const auto a = matrix({{1}, {2}, {3}}), b = matrix({{4}, {5}, {6}}), dot = matrix({{0}}), C = random_matrix(3, 3);
  EXPECT_EQ(rows_of(product<double>(1, transposed(a.view()), b.view(), 0, dot)), (Rows{{32}}));
  EXPECT_EQ(rows_of(product<double>(1, a.view(), transposed(b.view()), 0, C)),
            (Rows{{4, 5, 6}, {8, 10, 12}, {12, 15, 18}}));
}

TEST(ReferenceProduct, does_not_read_C_when_beta_is_zero) {
  const auto A = matrix({{2}}), C = matrix({{std::nan("")}});
  EXPECT_EQ(rows_of(product<double>(1, A.view(), A.view(), 0, C)), (Rows{{4}}));
}

struct LuByHand {
  const char* name;
  Rows A, factors;
  std::vector<std::int64_t> pivots;
  std::int64_t zero = -1;
};

const LuByHand lus_by_hand[] = {
    {"1", {{4}}, {{4}}, {0}},
    {"2, interchanged", {{1, 2}, {4, 4}}, {{4, 4}, {0.25, 1}}, {1, 1}},
    {"2, a zero column", {{0, 2}, {0, 4}}, {{0, 2}, {0, 4}}, {0, 1}, 0},
    {"2, rank 1", {{1, 2}, {2, 4}}, {{2, 4}, {0.5, 0}}, {1, 1}, 1},
    {"3", {{2, 1, 1}, {4, 3, 3}, {8, 7, 9}}, {{8, 7, 9}, {0.25, -0.75, -1.25}, {0.5, 2.0 / 3, -2.0 / 3}}, {2, 2, 2}},
    {"4",
     {{2, 1, 1, 0}, {4, 3, 3, 1}, {8, 7, 9, 5}, {6, 7, 9, 8}},
     {{8, 7, 9, 5}, {0.75, 1.75, 2.25, 4.25}, {0.5, -2.0 / 7, -6.0 / 7, -2.0 / 7}, {0.25, -3.0 / 7, 1.0 / 3, 2.0 / 3}},
     {2, 3, 3, 3}},
    {"5, Wilkinson's",
     {{1, 0, 0, 0, 1}, {-1, 1, 0, 0, 1}, {-1, -1, 1, 0, 1}, {-1, -1, -1, 1, 1}, {-1, -1, -1, -1, 1}},
     {{1, 0, 0, 0, 1}, {-1, 1, 0, 0, 2}, {-1, -1, 1, 0, 4}, {-1, -1, -1, 1, 8}, {-1, -1, -1, -1, 16}},
     {0, 1, 2, 3, 4}},
};

TEST(ReferenceLu, is_that_of_the_page) {
  for (const auto& by_hand : lus_by_hand) {
    SCOPED_TRACE(by_hand.name);
    const auto lu = reference_lu(rounded<long double>(matrix(by_hand.A)));
    EXPECT_EQ(lu.pivots, by_hand.pivots);
    EXPECT_EQ(lu.zero, by_hand.zero);
    const Rows factors = rows_of(lu.values);
    for (std::size_t i = 0; i < factors.size(); ++i)
      for (std::size_t j = 0; j < factors.size(); ++j) EXPECT_NEAR(factors[i][j], by_hand.factors[i][j], 1e-15);
  }
}

TEST(Norms, are_those_of_the_page) {
  const auto A = matrix({{1, -2}, {-3, 4}, {5, 0}});
  EXPECT_EQ(frobenius(A), std::sqrt(55.0));
  EXPECT_EQ(infinity_norm(A), 7);
  EXPECT_EQ(one_norm<double>(A.view()), 9);
  EXPECT_TRUE(std::isnan(infinity_norm(matrix({{1}, {std::nan("")}, {2}}))));
}

TEST(Residuals, are_those_of_the_page) {
  const auto A = matrix({{2, 0}, {0, 4}}), B = matrix({{2, 2}, {4, 4}}), X = matrix({{1, 1}, {1, 1.5}});
  // The second column: r = (0, −2), so 2 / (ε·(4·1.5 + 4)·2).
  EXPECT_DOUBLE_EQ(hpl_residual<double>(A.view(), B.view(), X.view()), 0.1 / unit_roundoff<double>);
  EXPECT_EQ(hpl_residual<double>(A.view(), B.view().columns(0, 1), X.view().columns(0, 1)), 0);

  // P A = L U exactly, with rows interchanged; then with U(1, 1) wrong by 1: 1 / (2·6·ε).
  const auto M = matrix({{1, 2}, {4, 4}});
  Matrix<double> LU = matrix({{4, 4}, {0.25, 1}});
  const auto pivots = matrix_of<std::int64_t>(2, 1, [](auto, auto) { return 1; });
  EXPECT_EQ(lu_residual<double>(M.view(), LU.view(), pivots), 0);
  LU(1, 1) = 2;
  EXPECT_DOUBLE_EQ(lu_residual<double>(M.view(), LU.view(), pivots), 1 / (12 * unit_roundoff<double>));

  // [4 2; 2 10] = L Lᵀ with L = [2 0; 1 3]; then with L(1, 1) = 4, wrong by 7.
  const auto S = matrix({{4, 2}, {2, 10}});
  Matrix<double> L = matrix({{2, 99}, {1, 3}});
  EXPECT_EQ(cholesky_residual<double>(S.view(), L.view()), 0);
  L(1, 1) = 4;
  EXPECT_DOUBLE_EQ(cholesky_residual<double>(S.view(), L.view()), 7 / (2 * 12 * unit_roundoff<double>));
}

/// The generators that the other tests stand on: the spectrum by the trace and the determinant's sign of its factors.
TEST(Matrices, have_the_spectrum_they_promise) {
  const std::int64_t n = 5;
  const auto A = random_with_condition(n, 1e4), S = random_with_condition(n, 1e4, true);
  double squares = 0, sum = 0, trace = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    squares += std::pow(spectrum(i, n, 1e4), 2);
    sum += spectrum(i, n, 1e4);
    trace += S(i, i);
  }
  EXPECT_NEAR(frobenius(A), std::sqrt(squares), 1e-14);
  EXPECT_NEAR(frobenius(S), std::sqrt(squares), 1e-14);
  EXPECT_NEAR(trace, sum, 1e-14);
  for (const Matrix<double>* M : {&A, &S}) {
    const auto lu = reference_lu(rounded<long double>(*M));
    long double determinant = 1;
    for (std::int64_t i = 0; i < n; ++i) determinant *= lu.values(i, i);
    EXPECT_NEAR(double(std::abs(determinant)), 1e-10, 1e-16);  // 10⁻¹ · … of 1, 10⁻¹, …, 10⁻⁴
  }
}

}  // namespace
}  // namespace lasolve::test
