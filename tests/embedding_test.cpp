// What a program may hand over as it has it: vectors, spans and arrays, row-major data, and Eigen's objects of either order.
#include <Eigen/Dense>
#include <Eigen/SparseCore>
#include <array>
#include <optional>
#include <vector>

#include "devices.hpp"
#include "lasolve/async.hpp"
#include "systems.hpp"

namespace lasolve::test::embedding_test {
namespace {

using Columns = Eigen::MatrixXd;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// What type traits and concepts answer is true of what compiles, and of nothing else: see refused.sh.
template <class A, class... More>
constexpr bool makes = std::is_constructible_v<Factorization<double>, A, More...>;
using Sum = decltype(std::declval<Columns&>() + std::declval<Columns&>());
using Block = decltype(std::declval<Columns&>().topRows(1));
using OnDevice = Matrix<double, Cuda>;
static_assert(makes<Columns&> && makes<const Columns&, Options> && makes<Rows&, const Options&, Context&>);
static_assert(makes<std::vector<double>&> && makes<RowMajorView<double>> && makes<double (&)[2][2]> && makes<Block>);
static_assert(makes<Matrix<double>> && makes<const Matrix<double>&> && makes<OnDevice&, Options, CUstream_st*>);
static_assert(makes<OnDevice, Options, Context&, CUstream_st*> && makes<Factorization<double>>);
static_assert(!makes<int> && !makes<double*> && !makes<std::string> && !makes<std::vector<std::vector<double>>&>);
static_assert(makes<Columns> && makes<std::vector<double>> &&
              makes<Columns, Options, Context&>);  // of which copies are kept
static_assert(!makes<Sum> && !makes<Eigen::SparseMatrix<double>&> && !makes<Eigen::MatrixXi&>);
static_assert(!makes<Eigen::MatrixXf&> && !makes<Eigen::MatrixXf&, Options, Context&> && !makes<Matrix<float, Cuda>>);
static_assert(!makes<Columns&, const char*> && !makes<Columns&, Context&> && !makes<OnDevice&, CUstream_st*>);
static_assert(!makes<Factorization<float>> && !makes<Factorization<double>&> && !makes<Columns&, Options, int>);
static_assert(std::is_constructible_v<Factorization<float>, Eigen::MatrixXf&>);
static_assert(!std::is_convertible_v<Columns&, Factorization<double>>);

template <class A, class... More>
constexpr bool begins = std::is_constructible_v<AsyncFactorization<double>, A, More...>;
static_assert(begins<OnDevice&, Options, Context&> && begins<OnDevice, Options, const Context&>);
static_assert(!begins<OnDevice&> && !begins<OnDevice&, Options> && !begins<OnDevice&, Options, CUstream_st*>);
static_assert(!begins<Matrix<float, Cuda>&, Options, Context&> && !begins<Columns&, Options>);
static_assert(!begins<Sum, Options, Context&> && !begins<int, Options, Context&>);

template <class A, class B, class X, class... More>
concept SolvedAtOnce = requires(A&& a, B&& b, X&& x, More&&... more) {
  solve(std::forward<A>(a), std::forward<B>(b), std::forward<X>(x), std::forward<More>(more)...);
};
static_assert(SolvedAtOnce<Columns&, Columns&, Columns&> && SolvedAtOnce<Rows&, Rows&, Rows&, Options>);
static_assert(SolvedAtOnce<Columns&, Columns, Block, Options, Op>);
static_assert(!SolvedAtOnce<Columns&, Columns&, Columns> && !SolvedAtOnce<Columns&, Columns&, const Columns&>);
static_assert(!SolvedAtOnce<Eigen::MatrixXf&, Columns&, Columns&> && SolvedAtOnce<Rows&, Rows&, Columns&>);
static_assert(SolvedAtOnce<OnDevice&, OnDevice&, OnDevice&> && !SolvedAtOnce<Sum, Columns&, Columns&>);
static_assert(!SolvedAtOnce<Columns&, Columns&, Columns&, const char*>);

template <class Factors, class... RightHandSides>
concept Solves = requires(Factors& factors, RightHandSides&&... rhs) {
  factors.solve(std::forward<RightHandSides>(rhs)...);
};
static_assert(Solves<Factorization<double>, Columns&, Columns&> && Solves<Factorization<double>, OnDevice&, OnDevice&>);
static_assert(!Solves<Factorization<double>, Columns&> && !Solves<Factorization<double>, Columns&, Columns>);
static_assert(!Solves<Factorization<double>, Columns&, const OnDevice&> &&
              !Solves<Factorization<float>, Columns&, Columns&>);

template <class B, class X>
concept SolvesLater = requires(AsyncFactorization<double>& factors, B&& b, X&& x) {
  factors.solve_async(std::forward<B>(b), std::forward<X>(x));
};
static_assert(SolvesLater<OnDevice&, OnDevice&> && !SolvesLater<OnDevice, OnDevice&>);
static_assert(!SolvesLater<OnDevice&, OnDevice> && !SolvesLater<Columns, Columns&>);

template <class Optional, class... More>
concept Emplaces = requires(Optional& there, More&&... more) {
  there.emplace(std::forward<More>(more)...);
};
using Maybe = std::optional<Factorization<double>>;
static_assert(Emplaces<Maybe, Columns&, Options, Context&> && !Emplaces<Maybe, Sum, Options, Context&>);

Options on_cpu() {
  Options o;
  o.device.kind = Device::cpu;
  return o;
}

/// 2 x + y = 3, 4 y = -4: x = 2, y = -1.
struct System {
  std::vector<double> rows = {2, 1, 0, 4}, columns = {2, 0, 1, 4}, b = {3, -4}, x = {0, 0};
  void expect_solved() const {
    EXPECT_DOUBLE_EQ(x[0], 2);
    EXPECT_DOUBLE_EQ(x[1], -1);
  }
};

TEST(Embedding, takes_vectors_and_spans_with_their_sizes) {
  System s;
  EXPECT_TRUE(solve(column_major(s.columns, 2, 2), s.b, s.x, on_cpu()).outcome.ok());
  s.expect_solved();
  s = {};
  EXPECT_TRUE(solve(row_major(s.rows, 2, 2), s.b, s.x, on_cpu()).outcome.ok());
  s.expect_solved();
  s = {};
  solve(row_major(std::span<const double>(s.rows), 2, 2), std::span<const double>(s.b), std::span<double>(s.x),
        on_cpu());
  s.expect_solved();
  s = {};
  const std::vector<float> a(s.rows.begin(), s.rows.end()), b(s.b.begin(), s.b.end());
  std::vector<float> x(2);
  solve(row_major(a, 2, 2), b, x, on_cpu());
  EXPECT_FLOAT_EQ(x[0], 2);
  EXPECT_FLOAT_EQ(x[1], -1);
}

TEST(Embedding, takes_arrays_of_C_as_rows) {
  System s;
  const double A[2][2] = {{2, 1}, {0, 4}}, b[2] = {3, -4};
  std::array<double, 2> x{};
  EXPECT_TRUE(solve(A, b, x, on_cpu()).outcome.ok());
  s.x = {x.begin(), x.end()};
  s.expect_solved();
  const double B[2][3] = {{3, 2, 4}, {-4, 0, 0}};
  double X[2][3];
  EXPECT_EQ(solve(A, B, X, on_cpu()).nrhs, 3);
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 2; ++i) EXPECT_DOUBLE_EQ(A[i][0] * X[0][j] + A[i][1] * X[1][j], B[i][j]);
}

TEST(Embedding, says_how_few_elements_a_vector_has) {
  std::vector<double> a(15);
  const auto complains = [&](auto make) {
    return says(complaint_of<std::invalid_argument>([&] { make(); }), "fewer elements");
  };
  EXPECT_TRUE(complains([&] { row_major(a, 4, 4); }));
  EXPECT_TRUE(complains([&] { column_major(a, 4, 4); }));
  EXPECT_TRUE(complains([&] { column_major(a, 3, 4, 5); }));
  EXPECT_TRUE(complains([&] { row_major(a, std::int64_t(1) << 40, std::int64_t(1) << 40); }));
  EXPECT_EQ(column_major(a, 3, 3, 6).ld(), 6);  // the last column needs no more than its rows
  EXPECT_EQ(row_major(a, 3, 5).ld(), 5);
  EXPECT_EQ(row_major(a, 0, 100).rows(), 0);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { row_major(a, 3, 5, 4); }), "number of columns"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { row_major(a, -3, 5); }), "negative"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { MatrixView<double>(a.data(), 5, 3, 3); }), "row_major"));
}

/// X solves op(A) X = B.
void expect_solution(const Columns& A, const Columns& X, const Columns& B) {
  EXPECT_LT((A * X - B).norm(), 1e-11 * A.norm() * X.norm());
}

TEST(Embedding, reads_row_major_data_in_place_in_every_combination_with_column_major) {
  const Eigen::Index n = 60, nrhs = 3;
  const Columns A = Columns::Random(n, n), B = Columns::Random(n, nrhs);
  const Rows A_rows = A, B_rows = B;
  for (const Op op : {Op::none, Op::transpose}) {
    const Columns op_A = op == Op::none ? A : Columns(A.transpose());
    Columns X(n, nrhs), Y(n, nrhs);
    Rows X_rows(n, nrhs), Y_rows(n, nrhs);
    EXPECT_TRUE(solve(A_rows, B, X, on_cpu(), op).outcome.ok());
    EXPECT_TRUE(solve(A_rows, B_rows, X_rows, on_cpu(), op).outcome.ok());
    EXPECT_TRUE(solve(A, B_rows, Y_rows, on_cpu(), op).outcome.ok());
    EXPECT_TRUE(solve(A.transpose(), B, Y, on_cpu(), flipped(op)).outcome.ok());
    for (const Columns& solution : {X, Columns(X_rows), Columns(Y_rows), Y}) expect_solution(op_A, solution, B);

    Factorization<double> factors(A_rows, on_cpu()), moved(A, on_cpu());
    moved = std::move(factors);
    EXPECT_TRUE(moved.solve(B, Y, op).outcome.ok());
    expect_solution(op_A, Y, B);
    Y_rows = B_rows;
    EXPECT_TRUE(moved.solve(Y_rows, Y_rows, op).outcome.ok());
    expect_solution(op_A, Y_rows, B);
  }
}

TEST(Embedding, reads_blocks_of_row_major_data) {
  const Rows whole = Rows::Random(30, 40);
  Columns B = Columns::Random(20, 2), X(20, 2);
  Rows wide = Rows::Zero(20, 7);
  EXPECT_TRUE(solve(whole.block(3, 5, 20, 20), B, X, on_cpu()).outcome.ok());
  expect_solution(whole.block(3, 5, 20, 20), X, B);
  EXPECT_TRUE(solve(whole.block(3, 5, 20, 20), Rows(B), wide.middleCols(4, 2), on_cpu()).outcome.ok());
  expect_solution(whole.block(3, 5, 20, 20), wide.middleCols(4, 2), B);
  EXPECT_EQ(wide.leftCols(4).norm() + wide.rightCols(1).norm(), 0);
  Rows column = B.col(0), x(20, 1);
  EXPECT_TRUE(solve(whole.block(3, 5, 20, 20), column, x, on_cpu()).outcome.ok());
  expect_solution(whole.block(3, 5, 20, 20), x, B.col(0));
}

/// Of so many rows that its memory is given back to the system, and not only to the allocator.
Columns made(Eigen::Index rows = 250) {
  return Columns::Random(rows, rows) + Columns::Identity(rows, rows) * double(rows);
}

TEST(Embedding, keeps_a_copy_of_what_may_be_of_a_temporary) {
  const Eigen::Index n = 200;
  std::srand(1);
  const Columns A = made(), half = A / 2, B = Columns::Random(n, 2);
  const auto again = [] {
    std::srand(1);
    return made();
  };
  const Columns block = A.topLeftCorner(n, n), wanted[] = {block, block.transpose(), block, block};
  Factorization<double> factors[] = {
      Factorization<double>(again().topLeftCorner(n, n), on_cpu()),
      Factorization<double>(again().topLeftCorner(n, n).transpose(), on_cpu()),
      Factorization<double>(Eigen::Ref<const Columns>((half + half).topLeftCorner(n, n)), on_cpu()),
      Factorization<double>(Rows(again()).topLeftCorner(n, n), on_cpu())};
  for (int i = 0; i < 4; ++i) {
    SCOPED_TRACE(i);
    Columns X(n, 2);
    EXPECT_TRUE(factors[i].solve(B, X).outcome.ok());
    expect_solution(wanted[i], X, B);
    EXPECT_TRUE(factors[i].solve(B, X, Op::transpose).outcome.ok());
    expect_solution(wanted[i].transpose(), X, B);
  }
}

TEST(Embedding, borrows_a_view_that_has_a_name_and_one_of_a_map) {
  const Eigen::Index n = 60;
  Columns A = made(n), X(n, 2);
  const Columns B = Columns::Random(n, 2);
  const auto transposed = A.transpose();
  Eigen::Map<Columns> map(A.data(), n, n);
  Factorization<double> of_name(transposed, on_cpu()),
      of_map(Eigen::Map<Columns>(A.data(), n, n).transpose(), on_cpu()), copied(A.transpose(), on_cpu());
  A *= 2;
  EXPECT_EQ(of_name.solve(B, X).outcome.kind, Outcome::inaccurate) << "its check reads A";
  EXPECT_EQ(of_map.solve(B, X).outcome.kind, Outcome::inaccurate) << "its check reads A";
  EXPECT_TRUE(copied.solve(B, X).outcome.ok());
  EXPECT_LT((A.transpose() * X / 2 - B).norm(), 1e-9);
}

TEST(Embedding, reads_the_triangle_of_row_major_data_that_is_there) {
  const Eigen::Index n = 40;
  const Columns half = Columns::Random(n, n), whole = half * half.transpose() + Columns::Identity(n, n);
  const Columns B = Columns::Random(n, 2);
  for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
    Rows given = Rows::Constant(n, n, std::nan(""));
    if (triangle == Uplo::lower)
      given.triangularView<Eigen::Lower>() = whole;
    else
      given.triangularView<Eigen::Upper>() = whole;
    Options o = on_cpu();
    o.factorization = Method::cholesky;
    o.triangle = triangle;
    Columns X(n, 2);
    EXPECT_TRUE(solve(given, B, X, o).outcome.ok());
    expect_solution(whole, X, B);
    EXPECT_TRUE(Factorization<double>(given, o).solve(B, X).outcome.ok());
    expect_solution(whole, X, B);
  }
}

TEST(Embedding, names_the_row_of_row_major_data_where_it_is_singular) {
  Rows A = Rows::Random(6, 6);
  A.row(3).setZero();
  Factorization<double> factors(A, on_cpu());
  EXPECT_EQ(factors.report().outcome.kind, Outcome::singular);
  EXPECT_EQ(factors.report().outcome.at, 3);
  EXPECT_TRUE(says(factors.report().outcome.message(), "row 3 (counted from 0) has no pivot"));
  Rows X = Rows::Constant(6, 2, 7);
  EXPECT_FALSE(factors.solve(Rows(Rows::Ones(6, 2)), X).outcome.has_solution());
  EXPECT_TRUE(X.array().isNaN().all());
  EXPECT_TRUE(says(solve(A, X, X, on_cpu()).outcome.message(), "row 3"));
  const Columns by_columns = A;
  EXPECT_TRUE(says(Factorization<double>(by_columns, on_cpu()).report().outcome.message(), "column "));
  Rows large = Rows::Random(90, 90);
  large.row(70).setZero();
  Options o = on_cpu();
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    o.precision = precision;
    EXPECT_TRUE(says(Factorization<double>(large, o).report().outcome.message(), "row 70"));
    EXPECT_TRUE(says(Factorization<double>(large.transpose(), o).report().outcome.message(), "column 70"));
  }
}

TEST(Embedding, names_the_first_entry_that_is_not_finite_as_the_caller_counts) {
  const Eigen::Index n = 50;
  Columns A = Columns::Random(n, n), B = Columns::Ones(n, 3), X(n, 3);
  Rows X_rows(n, 3);
  A(7, 9) = std::numeric_limits<double>::infinity();
  A(3, 20) = std::nan("");
  const auto complaint = [&](auto call) { return complaint_of<std::invalid_argument>(call); };
  EXPECT_TRUE(says(complaint([&] { solve(A, B, X, on_cpu()); }), "inf in row 7 and column 9, counted from 0"));
  EXPECT_TRUE(says(complaint([&] { solve(Rows(A), B, X, on_cpu()); }), "nan in row 3 and column 20, counted from 0"));
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(A.transpose(), on_cpu()); }), "inf in row 9 and column 7"));
  const Rows good = Rows::Random(n, n);
  B(40, 2) = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(says(complaint([&] { solve(good, B, X, on_cpu()); }), "-inf in row 40 and column 2"));
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(good, on_cpu()).solve(Rows(B), X_rows); }),
                   "-inf in row 40 and column 2"));
}

TEST(Embedding, says_what_the_sizes_are_and_what_to_write_where_they_are_wrong) {
  const Columns A = Columns::Random(4, 4), B = Columns::Ones(5, 1);
  Columns X(4, 1), empty;
  std::vector<double> flat(16, 1.0), x(4);
  const auto complaint = [&](auto call) { return complaint_of<std::invalid_argument>(call); };
  EXPECT_TRUE(says(complaint([&] { solve(A, B, X, on_cpu()); }), "A is 4 × 4, B 5 × 1 and X 4 × 1"));
  EXPECT_TRUE(says(complaint([&] { solve(A, X, empty, on_cpu()); }), "X 0 × 0"));
  EXPECT_TRUE(says(complaint([&] { solve(flat, x, x, on_cpu()); }), "lasolve::column_major(a, n, n)"));
  EXPECT_TRUE(says(complaint([&] { Factorization<double>(B, on_cpu()); }), "not square, but 5 × 1"));
  Eigen::Map<Columns, 0, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>> every_other(flat.data(), 2, 2, {8, 2});
  EXPECT_TRUE(says(complaint([&] { MatrixView<double> view(every_other); }), "copy it into a matrix"));
  EXPECT_TRUE(says(complaint([&] {
                     (void)Factorization<double>(A, on_cpu()).solve(X, MatrixView<double, Cuda>(x.data(), 4, 1, 4));
                   }),
                   "one is on a device and the other on the host"));
}

/// Memory of the host that is given as memory of a device.
TEST(Embedding, does_not_read_host_memory_as_that_of_a_device) {
  std::vector<double> a = {2, 1, 0, 4};
  const MatrixView<const double, Cuda> elsewhere(a.data(), 2, 2, 2);
  if (cuda_devices().names.empty())
    EXPECT_TRUE(says(complaint_of<MachineError>([&] { Factorization<double>{elsewhere}; }), "no CUDA device"));
  else
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { Factorization<double>{elsewhere}; }),
                     "a view of device memory"));
}

}  // namespace
}  // namespace lasolve::test::embedding_test
