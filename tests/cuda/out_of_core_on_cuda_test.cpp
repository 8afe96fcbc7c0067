// Systems that a card has no room for: with little of its memory.
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

struct OutOfCoreOnCuda : testing::Test {
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};

/// Block columns of about so many columns, and slices of an eighth of that.
Options with_room_on_card(std::int64_t columns, std::int64_t n, int bytes, Method method = Method::lu) {
  Options o;
  o.device = {Device::cuda, 0};
  o.factorization = method;
  o.device_memory = bytes * 8 * (2 * columns + columns / 2) * n / 7;
  return o;
}

constexpr Method methods_out_of_core[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

/// Judged by the report: a reference on the host would take minutes.
template <class T>
void expect_solved_out_of_core(const Options& o, std::int64_t n, std::int64_t nrhs = 1, Op op = Op::none) {
  SCOPED_TRACE(testing::Message() << name_of(o.factorization) << ", n = " << n << ", " << o.device_memory << " bytes");
  const Matrix<T> A = o.factorization == Method::lu ? random_matrix<T>(n, n) : dominant_matrix<T>(n),
                  B = random_matrix<T>(n, nrhs);
  Matrix<T> X(n, nrhs), again(n, nrhs);
  const Report report = solve(A.view(), B.view(), X.view(), o, op);
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
  EXPECT_LT(report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
  EXPECT_EQ(report.schedule, Schedule::left_looking);
  EXPECT_EQ(report.cards.size(), 1U);
  EXPECT_TRUE(solve(A.view(), B.view(), again.view(), o, op).outcome.ok());
  EXPECT_TRUE(same_bits(X, again)) << "bits do not depend on time";
}

TEST_F(OutOfCoreOnCuda, solves_odd_sizes) {
  for (const Method method : methods_out_of_core)
    for (const std::int64_t columns : {32, 100, 256, 700})
      for (const std::int64_t n : {257, 1000, 2500}) {
        if (3 * columns > n) continue;  // it fits
        expect_solved_out_of_core<double>(with_room_on_card(columns, n, 8, method), n, 3);
        expect_solved_out_of_core<float>(with_room_on_card(columns, n, 4, method), n, 1, Op::transpose);
      }
}

TEST_F(OutOfCoreOnCuda, solves_a_large_system) {
  for (const Method method : methods_out_of_core)
    expect_solved_out_of_core<double>(with_room_on_card(1500, 9000, 8, method), 9000, 2);
}

TEST_F(OutOfCoreOnCuda, refines_coarse_factors) {
  Options o = with_room_on_card(600, 4099, 8);
  o.precision = Precision::fp32;
  expect_solved_out_of_core<double>(o, 4099);
  o.gemm = std::string("tensor_split");
  expect_solved_out_of_core<double>(o, 4099);
}

/// As on one device that has room.
TEST_F(OutOfCoreOnCuda, scales_and_knows_growth_pivots_and_determinant) {
  const std::int64_t n = 1000;
  const Matrix<double> M = random_matrix(n, n), A = matrix_of<double>(n, n, [&](auto i, auto j) {
                                                  return std::ldexp(M(i, j), int(i * 37 % 201) - int(j * 29 % 103));
                                                });
  for (const Precision precision : {Precision::fp64, Precision::fp32})
    for (const bool scales : {false, true}) {
      Options o = with_room_on_card(200, n, 8);
      o.precision = precision, o.bounds = true;
      if (scales) o.equilibrate = true;
      Options one = o;
      one.device_memory = 0, one.schedule = Schedule::left_looking;
      const Matrix<double>& given = scales ? A : M;
      Factorization<double> factors(given.view(), o), whole(given.view(), one);
      EXPECT_EQ(factors.report().equilibration, scales ? Equilibration::both : Equilibration::none);
      if (precision == Precision::fp64 && !scales) {  // coarser ones, and those of R A C, are not A's
        const LogDeterminant its = factors.log_abs_det(), same = whole.log_abs_det();
        EXPECT_NEAR(its.log_abs, same.log_abs, 1e-6);
        EXPECT_EQ(its.sign, same.sign);
        EXPECT_EQ(factors.pivots(), whole.pivots());
      }
      EXPECT_NEAR(factors.report().growth.value() / whole.report().growth.value(), 1, 1e-3);
      EXPECT_NEAR(factors.report().norm_growth.value() / whole.report().norm_growth.value(), 1, 1e-3);
      if (precision == Precision::fp32 && scales) continue;  // ill-conditioned to fp32, as it was given
      for (const Op op : {Op::none, Op::transpose}) {
        Matrix<double> X(n, 2);
        const Matrix<double> B = right_hand_sides<double>({given.view(), op}, 2);
        EXPECT_TRUE(factors.solve(B.view(), X.view(), op).outcome.ok());
      }
    }
}

TEST_F(OutOfCoreOnCuda, tells_where_a_matrix_is_singular) {
  const Matrix<double> B = random_matrix(1400, 1);
  for (const std::int64_t at : {0, 800, 1399}) {
    expect_outcome(solve_for(with_zero_columns(random_matrix(1400, 1400), at, 1), B, with_room_on_card(300, 1400, 8))
                       .report.outcome,
                   Outcome::singular, at);
    Matrix<double> S = dominant_matrix<double>(1400);
    S(at, at) = -1;
    expect_outcome(solve_for(S, B, with_room_on_card(300, 1400, 8, Method::cholesky)).report.outcome,
                   Outcome::not_positive_definite, at + 1);
    Options o = with_room_on_card(300, 1400, 8, Method::lu_nopivot);
    o.assume_suitable = true;
    expect_outcome(solve_for(with_zero_columns(dominant_matrix<double>(1400), at, 1), B, o).report.outcome,
                   Outcome::singular, at);
  }
}

TEST_F(OutOfCoreOnCuda, copies_a_matrix_when_it_is_wanted) {
  const Matrix<double> A = random_matrix(900, 900), B = random_matrix(900, 1);
  Columnwise<double> columns;
  columns.n = 900;
  columns.on_cuda = [&](Queue<Cuda>& q, std::int64_t first, MatrixView<double, Cuda> to) {
    copy<double>(q, A.view().columns(first, to.cols()), to);
  };
  auto factors = FactorizationOf<double>::columns(columns, with_room_on_card(200, 900, 8));
  Matrix<double> X(900, 1);
  EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
  EXPECT_GT(factors.rcond(), 0);
}

TEST_F(OutOfCoreOnCuda, can_be_stopped) {
  struct Stopped {};
  const Matrix<double> A = random_matrix(2000, 2000), B = random_matrix(2000, 1);
  Matrix<double> X(2000, 1);
  Options o = with_room_on_card(300, 2000, 8);
  o.progress = [](double done) {
    if (done > 0.3) throw Stopped();
  };
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), o), Stopped);
  o.progress = {};
  EXPECT_TRUE(solve(A.view(), B.view(), X.view(), o).outcome.ok());
}

}  // namespace
}  // namespace lasolve::test
