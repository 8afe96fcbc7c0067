// Systems over several cards: twice the same one, which runs wherever there is a device, and two where there are two.
#include <limits>

#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

struct CardsOnCuda : testing::TestWithParam<std::vector<int>> {
  void SetUp() override {
    for (const int card : GetParam())
      if (const std::string why = why_no_cuda_device(card); !why.empty()) GTEST_SKIP() << why;
  }
  static Options over(Method method = Method::lu) {
    Options o;
    o.device = {Device::cuda, GetParam()[0]};
    o.cards = GetParam();
    o.factorization = method;
    return o;
  }
};
INSTANTIATE_TEST_SUITE_P(Twice, CardsOnCuda, testing::Values(std::vector<int>{0, 0}, std::vector<int>{0, 0, 0}));
INSTANTIATE_TEST_SUITE_P(Two, CardsOnCuda, testing::Values(std::vector<int>{0, 1}, std::vector<int>{1, 0}));

constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

/// Judged by the report: a reference on the host would take minutes.
template <class T>
void expect_solved_over(const Options& o, std::int64_t n, std::int64_t nrhs = 1, Op op = Op::none) {
  const Matrix<T> A = o.factorization == Method::lu ? random_matrix<T>(n, n) : dominant_matrix<T>(n),
                  B = random_matrix<T>(n, nrhs);
  Matrix<T> X(n, nrhs), again(n, nrhs);
  const Report report = solve(A.view(), B.view(), X.view(), o, op);
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
  EXPECT_LT(report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
  EXPECT_EQ(report.cards.size(), o.cards.size());
  EXPECT_TRUE(solve(A.view(), B.view(), again.view(), o, op).outcome.ok());
  EXPECT_TRUE(same_bits(X, again)) << "bits do not depend on time";
}

TEST_P(CardsOnCuda, solve_small_and_odd_sizes) {
  for (const Method method : methods)
    for (const std::int64_t n : {1, 2, 31, 129, 300, 513, 1000}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n);
      expect_solved_over<double>(over(method), n, 3);
      expect_solved_over<float>(over(method), n, 1);
    }
}

TEST_P(CardsOnCuda, solve_in_narrow_block_columns) {
  for (const Method method : methods)
    for (const std::int64_t columns : {32, 96, 128}) {
      Options o = over(method);
      o.block_size = columns;
      expect_solved_over<double>(o, 777, 2, Op::transpose);
      expect_solved_over<float>(o, 1025, 1);
    }
}

TEST_P(CardsOnCuda, solve_where_panels_are_hidden) {
  for (const Method method : methods) {
    SCOPED_TRACE(name_of(method));
    expect_solved_over<double>(over(method), 5000);
    Options refined = over(method);
    refined.precision = Precision::fp32;
    expect_solved_over<double>(refined, 5000);
    refined.gemm = std::string("tensor_split");
    expect_solved_over<double>(refined, 4099);
  }
}

TEST_P(CardsOnCuda, solve_a_large_system) { expect_solved_over<double>(over(), 9000); }

TEST_P(CardsOnCuda, tell_where_a_matrix_is_singular) {
  const Matrix<double> B = random_matrix(700, 1);
  for (const std::int64_t at : {0, 400, 699}) {
    expect_outcome(solve_for(with_zero_columns(random_matrix(700, 700), at, 1), B, over()).report.outcome,
                   Outcome::singular, at);
    Matrix<double> S = dominant_matrix<double>(700);
    S(at, at) = -1;
    expect_outcome(solve_for(S, B, over(Method::cholesky)).report.outcome, Outcome::not_positive_definite, at + 1);
    Options o = over(Method::lu_nopivot);
    o.assume_suitable = true;
    expect_outcome(solve_for(with_zero_columns(dominant_matrix<double>(700), at, 1), B, o).report.outcome,
                   Outcome::singular, at);
  }
}

TEST_P(CardsOnCuda, take_a_matrix_of_a_device) {
  Queue<Cuda> q(0);
  const Matrix<double> A = random_matrix(600, 600), B = random_matrix(600, 2);
  Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, B), dX = upload(q, B);
  const Report report = solve(std::as_const(dA).view(), std::as_const(dB).view(), dX.view(), over());
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(q, dX))), hpl_threshold);
}

TEST_P(CardsOnCuda, make_a_matrix_again_that_is_not_kept) {
  const Matrix<double> A = random_matrix(900, 900), B = random_matrix(900, 1);
  Columnwise<double> columns;
  columns.n = 900, columns.keeps = false;
  columns.on_cuda = [&](Queue<Cuda>& q, std::int64_t first, MatrixView<double, Cuda> to) {
    copy<double>(q, A.view().columns(first, to.cols()), to);
  };
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    Options o = over();
    o.precision = precision;
    auto factors = FactorizationOf<double>::columns(columns, o);
    Matrix<double> X(900, 1);
    EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    EXPECT_GT(factors.rcond(), 0);
  }
}

TEST(MissingCardsOnCuda, are_named) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  const Matrix<double> A = random_matrix(50, 50), B = random_matrix(50, 1);
  Matrix<double> X(50, 1);
  Options o;
  o.device = {Device::cuda, 0}, o.cards = {0, 77}, o.factorization = Method::lu;
  try {
    (void)solve(A.view(), B.view(), X.view(), o);
    FAIL();
  } catch (const MachineError& e) {
    EXPECT_NE(std::string(e.what()).find("cuda:77"), std::string::npos) << e.what();
  }
}

/// The bits of an answer are those of any other two cards that are alike.
TEST(PairsOnCuda, have_the_same_bits) {
  if (const std::string why = why_no_cuda_device(1); !why.empty()) GTEST_SKIP() << why;
  const Matrix<double> A = random_matrix(2500, 2500), B = random_matrix(2500, 1);
  std::vector<Matrix<double>> X;
  for (const std::vector<int>& cards : {std::vector<int>{0, 0}, {0, 1}, {1, 0}}) {
    Options o;
    o.device = {Device::cuda, cards[0]}, o.cards = cards, o.factorization = Method::lu;
    X.emplace_back(2500, 1);
    EXPECT_TRUE(solve(A.view(), B.view(), X.back().view(), o).outcome.ok());
    EXPECT_TRUE(same_bits(X.back(), X[0]));
  }
}

}  // namespace
}  // namespace lasolve::test
