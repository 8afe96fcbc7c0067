#include "io/structure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "io_files.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::io::structure_test {
namespace {

const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n";

/// Random, but for rows and columns of zeros.
Matrix<double> with_empty(std::int64_t n, const std::set<std::int64_t>& rows, const std::set<std::int64_t>& columns) {
  std::mt19937_64 random(1);
  Matrix<double> A(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < n; ++i)
      A(i, j) = rows.count(i) || columns.count(j) ? 0 : std::uniform_real_distribution<double>(0.5, 1)(random);
  return A;
}

TEST(Structure, NamesTheColumnThatLUFinds) {
  const std::set<std::int64_t> none = {};
  for (const std::int64_t n : {1, 2, 7, 40})
    for (const auto& rows : {none, {0}, {n - 1}, {0, n / 2}, {n / 3, n / 2, n - 1}})
      for (const auto& columns : {none, {0}, {n - 1}, {n / 2, n - 1}}) {
        const Matrix<double> A = with_empty(n, rows, columns);
        const Structure structure = structure_of(A);
        const Factorization<double> factors(A, {.gemm = "naive", .factorization = Method::lu});
        const Outcome& outcome = factors.report().outcome;
        ASSERT_EQ(structure.column_without_pivot().has_value(), outcome.kind == Outcome::singular);
        EXPECT_EQ(structure.column_without_pivot().value_or(0), outcome.at) << n;
        if (std::int64_t(columns.size()) == n) continue;  // then all rows are empty
        EXPECT_EQ(structure.empty_rows, std::int64_t(rows.size()));
        EXPECT_EQ(structure.empty_row, rows.empty() ? std::nullopt : std::optional(*rows.begin()));
      }
}

TEST(Structure, IsThatOfTheMatrixWhateverItIsReadFrom) {
  const std::string content = coordinate + "30 30 4\n7 7 1\n3 1 2\n5 9 3\n8 9 -1\n";
  const MatrixFile file = read_matrix(file_with(content));
  ASSERT_TRUE(file.structure);
  for (const Structure& s : {*file.structure, structure_of(file.matrix)}) {
    EXPECT_EQ(s.n, 30);
    EXPECT_EQ(s.entries, 4);
    EXPECT_EQ(s.below, 2);
    EXPECT_EQ(s.above, 4);
    EXPECT_EQ(s.empty_rows, 26);
    EXPECT_EQ(s.empty_row, 0);
    EXPECT_EQ(s.empty_column, 1);
    EXPECT_EQ(s.what_is_empty(), "column 1 (counted from 0) is zero");
  }
  const MatrixFile no_row = read_matrix(file_with(coordinate + "2 2 2\n1 1 1\n1 2 1\n"));
  EXPECT_EQ(structure_of(no_row.matrix).what_is_empty(), "row 1 (counted from 0) is zero");
  const MatrixFile stopped = read_matrix(file_with(content), {.stops_where_singular = true});
  EXPECT_EQ(stopped.matrix.rows(), 0);
  EXPECT_EQ(stopped.structure->column_without_pivot(), 1);
  std::string symmetric = content;
  symmetric.replace(symmetric.find("general"), 7, "symmetric");
  const Structure s = *read_matrix(file_with(symmetric)).structure;
  EXPECT_EQ(s.entries, 7);
  EXPECT_EQ(s.below, 4);
  EXPECT_EQ(s.above, 4);
  EXPECT_FALSE(read_matrix(file_with(coordinate + "2 2 2\n1 1 1\n2 2 1\n")).structure) << "it is not sparse";
}

TEST(Structure, NamesOtherSolversForWhatIsBandedOrVerySparse) {
  Structure s{.n = 2000, .entries = 8000, .below = 3, .above = 3};
  EXPECT_NE(s.advice().find("within 7 diagonals of 3999: LAPACK's gbsv"), std::string::npos) << s.advice();
  s.below = 1500;
  EXPECT_NE(s.advice().find("0.2 % of the entries are not zero: sparse solvers (SuiteSparse's UMFPACK"),
            std::string::npos)
      << s.advice();
  s.entries = 400000;
  EXPECT_EQ(s.advice(), "");
  EXPECT_EQ((Structure{.n = 500, .entries = 500}.advice()), "") << "it takes a moment";
}

TEST(Structure, IsSaidWhereMemoryLacks) {
  std::string content = coordinate + "2000 2000 2000\n";
  for (int i = 1; i <= 2000; ++i) content += std::to_string(i) + " " + std::to_string(i) + " 1\n";
  const std::string error = error_of(content, {.bytes_an_element = 2'000'000'000});
  EXPECT_NE(error.find("are free; all entries are within 1 diagonal of 3999"), std::string::npos) << error;
}

}  // namespace
}  // namespace lasolve::io::structure_test
