// Systems over several cards: twice the same one, which runs wherever there is a device, and two where there are two.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>

#include "core/current_device.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "lasolve/pieces.hpp"
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
  Options left = over(Method::cholesky);
  left.schedule = Schedule::left_looking;
  for (const std::int64_t n : {1, 2, 31, 129, 300, 513, 1000}) {
    expect_solved_over<double>(left, n, 3, Op::transpose);
    expect_solved_over<float>(left, n, 1);
  }
}

TEST_P(CardsOnCuda, solve_in_narrow_block_columns) {
  for (const Method method : methods)
    for (const std::int64_t columns : {32, 96, 128}) {
      Options o = over(method);
      o.block_size = columns;
      expect_solved_over<double>(o, 777, 2, Op::transpose);
      expect_solved_over<float>(o, 1025, 1);
      if (method == Method::cholesky) o.schedule = Schedule::left_looking;
      expect_solved_over<double>(o, 1025, 1);
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

/// The first block columns and the last are narrower; products are done in parts.
TEST_P(CardsOnCuda, solve_by_a_wide_left_looking_Cholesky) {
  Options o = over(Method::cholesky);
  o.schedule = Schedule::left_looking, o.block_size = 1280;
  expect_solved_over<double>(o, 10000);
}

TEST_P(CardsOnCuda, have_shares) {
  for (const Method method : methods)
    for (const std::int64_t n : {1, 31, 700, 2500, 5000}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n);
      Options o = over(method);
      o.card_shares.assign(o.cards.size(), 1), o.card_shares[0] = 3;
      expect_solved_over<double>(o, n, 3);
      expect_solved_over<float>(o, n, 1, Op::transpose);
      o.precision = Precision::fp32;
      expect_solved_over<double>(o, n);
      const Matrix<double> A = matrix_for<double>(method, n);
      const Report report = Factorization<double>(A.view(), o).report();
      EXPECT_TRUE(n < 2500 || report.cards[0].columns > report.cards[1].columns);
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

/// Columns on device 0, in turns on each card, on the host, and a piece without any: as A whole, which is on the host.
template <class T>
void expect_bits_of_one_matrix(const Options& o, std::int64_t n) {
  const Matrix<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 2);
  std::vector<Matrix<T, Cuda>> there;
  std::vector<Borrowed<const T>> pieces;
  std::int64_t first = 0;
  const auto columns = [&](std::int64_t width) {
    const auto some = A.view().columns(first, std::min(width, n - first));
    first += some.cols();
    return some;
  };
  const auto put_on = [&](int card, std::int64_t width) {
    const auto from = columns(width);
    const CurrentDevice current(card);
    Queue<Cuda> q(card);
    const auto to = there.emplace_back(n, from.cols(), n + 1).view();
    copy<T>(q, from, to);
    q.finish();
    pieces.emplace_back(to);
  };
  there.reserve(16);
  put_on(0, n / 7);
  for (int turn = 0; turn < 2; ++turn)
    for (const int card : o.cards) put_on(card, n / 11);
  pieces.emplace_back(columns(n / 5));
  put_on(o.cards.back(), 0);
  put_on(o.cards.back(), n);
  EXPECT_EQ(first, n);
  Matrix<T> one(n, 2), X(n, 2);
  EXPECT_TRUE(Factorization<T>(A.view(), o).solve(B, one).outcome.ok());
  Factorization<T> factors = factor_pieces(pieces, o);
  EXPECT_TRUE(factors.solve(B, X).outcome.ok());
  EXPECT_TRUE(same_bits(X, one));
  EXPECT_EQ(factors.report().cards.size(), o.cards.size());
}

TEST_P(CardsOnCuda, take_a_matrix_in_pieces) {
  for (const std::int64_t n : {1, 29, 900, 2500}) {
    SCOPED_TRACE(n);
    expect_bits_of_one_matrix<double>(over(), n);
    expect_bits_of_one_matrix<float>(over(), n);
    Options refined = over();
    refined.precision = Precision::fp32, refined.block_size = 96;
    expect_bits_of_one_matrix<double>(refined, n);
  }
}

/// Without a list of cards, and without a device: that of the first piece which is on one.
TEST_P(CardsOnCuda, take_pieces_on_one_of_them) {
  const int card = GetParam().back();
  const CurrentDevice current(card);
  Queue<Cuda> q(card);
  const Matrix<double> A = random_matrix(700, 700), B = random_matrix(700, 2);
  Matrix<double, Cuda> there(700, 400), X(700, 2);
  const Matrix<double, Cuda> b = upload(q, B);
  copy<double>(q, A.view().columns(300, 400), there.view());
  q.finish();
  const std::vector<Borrowed<const double>> pieces = {A.view().columns(0, 300), there.view()};
  Factorization<double> factors = factor_pieces(pieces);
  EXPECT_EQ(factors.report().device, name_of(Device{Device::cuda, card}));
  EXPECT_TRUE(factors.solve(b.view(), X.view()).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(q, X))), hpl_threshold);
}

TEST_P(CardsOnCuda, name_a_piece_that_is_elsewhere_than_its_type_says) {
  const Matrix<double> A = random_matrix(40, 40);
  Queue<Cuda> q(0);
  const Matrix<double, Cuda> there = upload(q, A);
  const auto complaint = [](const Borrowed<const double>& left, const Borrowed<const double>& right) {
    const std::vector<Borrowed<const double>> pieces = {left, right};
    return complaint_of<std::invalid_argument>([&] { factor_pieces(pieces, over()); });
  };
  const auto left = A.view().columns(0, 20);
  const MatrixView<const double> as_host(there.view().columns(20, 20).data(), 40, 20, there.ld());
  const MatrixView<const double, Cuda> as_device(A.view().columns(20, 20).data(), 40, 20, A.ld());
  EXPECT_TRUE(says(complaint(left, as_host), "piece 1 of A is a view of memory of the host, but points to memory of"));
  EXPECT_TRUE(says(complaint(left, as_device), "piece 1 of A is a view of device memory, but points to none"));
  const auto right = there.view().columns(10, 20);
  EXPECT_TRUE(says(complaint(right, there.view().columns(20, 20)), "piece 1 of A overlaps piece 0"));
}

TEST_P(CardsOnCuda, name_a_matrix_that_is_elsewhere_than_its_type_says) {
  Queue<Cuda> q(0);
  const Matrix<double> A = random_matrix(40, 40), B = random_matrix(40, 2);
  const Matrix<double, Cuda> b = upload(q, B);
  Matrix<double, Cuda> x = upload(q, B);
  Matrix<double> X(40, 2);
  const MatrixView<const double, Cuda> a_here(A.data(), 40, 40, A.ld()), b_here(B.data(), 40, 2, B.ld());
  const MatrixView<double, Cuda> x_here(X.data(), 40, 2, X.ld());
  const auto refuses = [](const char* why, auto action) {
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>(action), why));
  };
  refuses("A is a view of device memory, but points to none", [&] { Factorization<double>(a_here, over()); });
  const std::vector<Borrowed<const double>> pieces = {A.view().columns(0, 20), A.view().columns(20, 20)};
  const auto expect_looked_at = [&](Factorization<double> factors) {
    refuses("B is a view of device memory, but points to none", [&] { factors.solve(b_here, x.view()); });
    refuses("X is a view of device memory, but points to none", [&] { factors.solve(b.view(), x_here); });
    EXPECT_TRUE(factors.solve(b.view(), x.view()).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), download(q, x))), hpl_threshold);
  };
  expect_looked_at(Factorization<double>(A.view(), over()));
  expect_looked_at(factor_pieces(pieces, over()));
}

/// As on one device.
TEST_P(CardsOnCuda, scale_rows_and_columns_and_have_a_determinant) {
  const std::int64_t n = 700;
  const Matrix<double> M = random_matrix(n, n), A = matrix_of<double>(n, n, [&](auto i, auto j) {
                                                  return std::ldexp(M(i, j), int(i * 37 % 201) - int(j * 29 % 103));
                                                });
  for (const Precision precision : {Precision::fp64, Precision::fp32}) {
    Options o = over(), one = over();
    one.cards = {};
    o.equilibrate = one.equilibrate = true, o.precision = one.precision = precision;
    Factorization<double> factors(A.view(), o), whole(A.view(), one);
    EXPECT_EQ(factors.report().equilibration, Equilibration::both);
    const LogDeterminant its = factors.log_abs_det(), same = whole.log_abs_det();
    EXPECT_NEAR(its.log_abs, same.log_abs, 1e-9);
    EXPECT_EQ(its.sign, same.sign);
    for (const Op op : {Op::none, Op::transpose}) {
      Matrix<double> X(n, 2);
      const Matrix<double> B = right_hand_sides<double>({A.view(), op}, 2);
      EXPECT_TRUE(factors.solve(B.view(), X.view(), op).outcome.ok());
    }
  }
}

TEST_P(CardsOnCuda, know_how_elements_grew) {
  for (const std::int64_t n : {1, 257, 700})
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      const Matrix<double> A = random_matrix(n, n);
      Options o = over(), one = over();
      one.cards = {};
      o.bounds = one.bounds = true, o.precision = one.precision = precision, o.block_size = one.block_size = 64;
      const Report its = Factorization<double>(A.view(), o).report(),
                   same = Factorization<double>(A.view(), one).report();
      EXPECT_NEAR(its.growth.value() / same.growth.value(), 1, 1e-4) << n;
      EXPECT_NEAR(its.norm_growth.value() / same.norm_growth.value(), 1, 1e-4) << n;
      EXPECT_NEAR(its.largest_multiplier.value(), same.largest_multiplier.value(), 1e-4) << n;
    }
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

/// Two threads with systems over both cards, named in both orders, and a third with systems on one card after the other.
TEST(PairsOnCuda, solve_beside_others) {
  if (const std::string why = why_no_cuda_device(1); !why.empty()) GTEST_SKIP() << why;
  struct System {
    Options options;
    Matrix<double> A, B, X;
  };
  const auto solved_alone = [](const std::vector<int>& cards, std::int64_t n, Method method) {
    System its{{}, method == Method::lu ? random_matrix(n, n) : dominant_matrix<double>(n), random_matrix(n, 2), {}};
    its.options.device = {Device::cuda, cards[0]}, its.options.factorization = method;
    if (cards.size() > 1) its.options.cards = cards;
    its.X = Matrix<double>(n, 2);
    const Report report = solve(its.A.view(), its.B.view(), its.X.view(), its.options);
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_LT(report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
    return its;
  };
  const auto systems_over = [&](const std::vector<std::vector<int>>& lists) {
    std::vector<System> all;
    for (const auto& cards : lists)
      for (const Method method : {Method::lu, Method::cholesky})
        for (const std::int64_t n : {17, 200, 513, 900}) all.push_back(solved_alone(cards, n, method));
    return all;
  };
  const auto solve_again = [](const System& its) {
    Matrix<double> X(its.B.rows(), 2);
    try {
      EXPECT_TRUE(solve(its.A.view(), its.B.view(), X.view(), its.options).outcome.ok());
      EXPECT_TRUE(same_bits(X, its.X)) << "n = " << its.B.rows();
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  };
  const std::vector<System> one = systems_over({{0, 1}}), other = systems_over({{1, 0}}),
                            beside = systems_over({{0}, {1}});
  std::atomic<int> at_work = 2;
  const auto solve_hundred = [&](const std::vector<System>& all) {
    for (std::size_t i = 0; i < 100; ++i) solve_again(all[i % all.size()]);
    --at_work;
  };
  std::thread first([&] { solve_hundred(one); }), second([&] { solve_hundred(other); });
  for (std::size_t i = 0; at_work > 0; ++i) solve_again(beside[i * 5 % beside.size()]);
  first.join(), second.join();
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
