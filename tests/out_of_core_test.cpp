// Systems that a device has no room for, by the way that callers go: with little memory for a device in the memory of the host.
#include <limits>

#include "core/choose.hpp"
#include "core/tuning.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"

namespace lasolve::test::out_of_core_test {
namespace {

/// Two block columns of so many columns, the slices that pass them, and workspace.
Options with_room_for(std::int64_t columns, std::int64_t n, Method method = Method::lu, int bytes = 8) {
  Options o;
  o.device = {Device::cpu, 0};
  o.factorization = method;
  o.device_memory = bytes * 8 * (2 * columns + 4 * std::max<std::int64_t>(1, columns / 2)) * n / 7;
  o.block_size = 8;
  return o;
}

constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

template <class T>
void expect_solved_out_of_core(const Solved<T>& solved) {
  expect_solved(solved);
  EXPECT_EQ(solved.report.schedule, Schedule::left_looking);
  ASSERT_EQ(solved.report.cards.size(), 1U);
  EXPECT_GT(solved.report.cards[0].received_bytes, 0);
}

template <class T>
void expect_all_sizes_solved() {
  for (const Method method : methods)
    for (const std::int64_t n : {20, 33, 64, 100, 193, 257})
      for (const std::int64_t columns : {3, 7, 16, 19, 64}) {
        if (3 * columns > n) continue;  // it fits
        SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n << ", block columns of " << columns);
        const Options o = with_room_for(columns, n, method, sizeof(T));
        for (const Op op : {Op::none, Op::transpose})
          expect_solved_out_of_core(solve_random(matrix_for<T>(method, n), 3, o, op));
      }
}
TEST(OutOfCore, solves_all_sizes_in_fp64) { expect_all_sizes_solved<double>(); }
TEST(OutOfCore, solves_all_sizes_in_fp32) { expect_all_sizes_solved<float>(); }

TEST(OutOfCore, takes_every_backend_of_the_cpu) {
  const Matrix<double> A = random_matrix(150, 150);
  for (const std::string& name : runnable_backends({Device::cpu, 0}, Precision::fp64)) {
    SCOPED_TRACE(name);
    Options o = with_room_for(20, 150);
    o.gemm = name;
    const auto solved = solve_random(A, 2, o);
    expect_solved_out_of_core(solved);
    EXPECT_EQ(solved.report.gemm, name);
  }
}

TEST(OutOfCore, begins_where_the_matrix_does_not_fit) {
  const Matrix<double> A = random_matrix(100, 100);
  Options o = with_room_for(10, 100);
  o.device_memory = 2 * 100 * 100 * 8;
  EXPECT_TRUE(solve_random(A, 1, o).report.cards.empty());
  --o.device_memory;
  const Report report = solve_random(A, 1, o).report;
  EXPECT_EQ(report.cards.size(), 1U);
  EXPECT_TRUE(std::any_of(report.notes.begin(), report.notes.end(),
                          [](const std::string& note) { return note.starts_with("out of core: "); }));
  o.check = false;  // then A is not read again
  EXPECT_TRUE(solve_random(A, 1, o).report.cards.empty());
}

/// Whatever that is: two block columns and four slices, and an eighth for workspace.
TEST(OutOfCore, is_cut_to_the_memory_that_there_is) {
  for (const Precision element : {Precision::fp64, Precision::fp32})
    for (const std::int64_t n : {40000, 65537, 110000, 200000})
      for (const double bytes : {8e9, 16e9, 75e9}) {
        Options o;
        o.factorization = Method::lu, o.device_memory = std::int64_t(bytes);
        const Problem problem{.n = n, .element = element};
        const Means means{.device = {Device::cuda, 0},
                          .tuning = &cpu_tuning().values,
                          .backend = "own",
                          .precisions = ~0U,
                          .device_bytes = bytes};
        if (!goes_out_of_core(o, problem, bytes)) continue;
        const Recipe by = resolve(o, problem, means).first();
        EXPECT_EQ(by.executor, Executor::out_of_core);
        const OutOfCore& cut = by.out_of_core;
        const double taken = double(2 * cut.columns + 4 * cut.slice) * double(n) * bytes_of(element);
        EXPECT_LE(taken, bytes * 7 / 8);
        EXPECT_EQ(cut.columns % 64, 0) << n;
        EXPECT_LE(cut.columns, 8192);
        EXPECT_GE(cut.slice, 64);
        EXPECT_LE(by.block_size(), cut.columns);
        EXPECT_LT((n + cut.columns - 1) / cut.columns * cut.columns - n, cut.columns) << "the last is not empty";
      }
}

TEST(OutOfCore, says_how_much_memory_is_the_least) {
  const Matrix<double> A = random_matrix(40, 40), B = random_matrix(40, 1);
  Matrix<double> X(40, 1);
  Options o = with_room_for(1, 40);
  o.device_memory = 1000;
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), o), std::invalid_argument);
}

TEST(OutOfCore, refines_coarse_factors) {
  for (const Method method : methods)
    for (const Refine how : {Refine::classical, Refine::gmres}) {
      Options o = with_room_for(16, 120, method);
      o.precision = Precision::fp32, o.refine = how;
      const auto solved = solve_random(matrix_for<double>(method, 120), 2, o, Op::transpose);
      expect_solved_out_of_core(solved);
      EXPECT_EQ(solved.report.storage, Precision::fp32);
      EXPECT_GE(solved.report.refine_iterations, 1);
    }
}

TEST(OutOfCore, tells_where_a_matrix_is_singular) {
  const Matrix<double> B = random_matrix(90, 1);
  for (const std::int64_t at : {0, 11, 12, 40, 89}) {
    const auto solved = solve_for(with_zero_columns(random_matrix(90, 90), at, 1), B, with_room_for(12, 90));
    expect_outcome(solved.report.outcome, Outcome::singular, at);
    EXPECT_TRUE(std::isnan(solved.X(0, 0)));
    Matrix<double> S = dominant_matrix<double>(90);
    S(at, at) = -1;
    expect_outcome(solve_for(S, B, with_room_for(12, 90, Method::cholesky)).report.outcome,
                   Outcome::not_positive_definite, at + 1);
    Options o = with_room_for(12, 90, Method::lu_nopivot);
    o.assume_suitable = true;
    expect_outcome(solve_for(with_zero_columns(dominant_matrix<double>(90), at, 1), B, o).report.outcome,
                   Outcome::singular, at);
  }
}

TEST(OutOfCore, looks_for_what_a_method_requires) {
  const Matrix<double> B = random_matrix(90, 1);
  const Options o = with_room_for(12, 90, Method::lu_nopivot);
  Matrix<double> A = dominant_matrix<double>(90);
  expect_solved_out_of_core(solve_for(A, B, o));
  A(37, 37) = 1;
  EXPECT_EQ(solve_for(A, B, o).report.outcome.kind, Outcome::unsuitable);
}

TEST(OutOfCore, refuses_what_is_not_finite) {
  Matrix<double> A = random_matrix(50, 50), B = random_matrix(50, 1), X(50, 1);
  A(20, 30) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), with_room_for(8, 50)), NotFinite);
}

TEST(OutOfCore, scales_what_is_too_small_to_compute_with) {
  Matrix<double> A = random_matrix(80, 80), B = random_matrix(80, 1);
  for (std::int64_t j = 0; j < 80; ++j)
    for (std::int64_t i = 0; i < 80; ++i) A(i, j) *= 0x1p-1031;
  for (std::int64_t i = 0; i < 80; ++i) B(i, 0) *= 0x1p-1020;
  Matrix<double> X(80, 1);
  Options o = with_room_for(10, 80);
  const Report report = solve(A.view(), B.view(), X.view(), o);
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
}

TEST(OutOfCore, knows_the_condition_of_one_device) {
  const Matrix<double> A = random_matrix(100, 100);
  Options one;
  one.device = {Device::cpu, 0}, one.factorization = Method::lu;
  EXPECT_NEAR(Factorization<double>(A.view(), with_room_for(9, 100)).rcond(),
              Factorization<double>(A.view(), one).rcond(), 1e-10);
}

TEST(OutOfCore, knows_how_elements_grew_and_mends_what_that_has_done) {
  for (const std::int64_t n : {50, 130}) {
    SCOPED_TRACE(n);
    const Matrix<double> A = random_matrix(n, n, 3);
    Options o = with_room_for(12, n), one;
    one.device = {Device::cpu, 0}, one.factorization = Method::lu, one.block_size = 8, o.bounds = one.bounds = true;
    const Report r = Factorization<double>(A.view(), o).report(),
                 on_one = Factorization<double>(A.view(), one).report();
    EXPECT_NEAR(r.growth.value() / on_one.growth.value(), 1, 1e-12);
    EXPECT_NEAR(r.norm_growth.value() / on_one.norm_growth.value(), 1, 1e-12);
    EXPECT_NEAR(r.largest_multiplier.value(), on_one.largest_multiplier.value(), 1e-12);
  }
  Options o = with_room_for(12, 56);
  const auto mended = solve_random(wilkinson(56), 1, o);
  expect_solved_out_of_core(mended);
  EXPECT_EQ(mended.report.growth, 0x1p55);
  EXPECT_EQ(mended.report.refine_iterations, 1);
  o.pivoting = Pivoting::tournament;
  const auto by_partial = solve_random(wilkinson(56), 1, o);
  expect_solved_out_of_core(by_partial);
  EXPECT_EQ(by_partial.report.pivoting, Pivoting::partial) << "elements grew too much";
}

/// Over virtual cards, too.
template <class T>
void expect_determinant_and_pivots_of_one_device() {
  for (const Method method : methods)
    for (const std::int64_t n : {1, 20, 121}) {
      SCOPED_TRACE(testing::Message() << name_of(method) << ", n = " << n);
      const Matrix<T> A = matrix_for<T>(method, n);
      Options one, over;
      one.device = {Device::cpu, 0}, one.factorization = method, one.block_size = 8;
      over = one, over.cards = {0, 1, 2};
      Factorization<T> whole(A.view(), one);
      const LogDeterminant its = whole.log_abs_det();
      std::vector<Options> ways = {over};
      if (n > 20) ways.push_back(with_room_for(16, n, method, sizeof(T)));
      for (Options& o : ways)
        for (const Wanted when : {Wanted(Wanted::automatic), Wanted(true)}) {
          o.equilibrate = when;
          Factorization<T> factors(A.view(), o);
          EXPECT_FALSE(factors.report().cards.empty());
          const LogDeterminant same = factors.log_abs_det();
          EXPECT_NEAR(same.log_abs, its.log_abs, double(n) * 1e3 * unit_roundoff<T>);
          EXPECT_EQ(same.sign, its.sign);
          if (when == Wanted::automatic) {
            EXPECT_EQ(factors.pivots(), whole.pivots());
          }
        }
    }
}
TEST(OutOfCore, has_the_determinant_of_one_device_in_fp64) { expect_determinant_and_pivots_of_one_device<double>(); }
TEST(OutOfCore, has_the_determinant_of_one_device_in_fp32) { expect_determinant_and_pivots_of_one_device<float>(); }

TEST(OutOfCore, has_the_determinant_of_what_is_singular_or_coarse) {
  const Matrix<double> A = random_matrix(100, 100);
  Options o = with_room_for(12, 100);
  const LogDeterminant its = Factorization<double>(A.view(), o).log_abs_det();
  const Matrix<double> singular = with_zero_columns(random_matrix(100, 100), 40, 1);
  EXPECT_EQ(Factorization<double>(singular.view(), o).log_abs_det().sign, 0);
  o.precision = Precision::fp32;
  Factorization<double> coarse(A.view(), o);
  EXPECT_NEAR(coarse.log_abs_det().log_abs, its.log_abs, 1e-10);
  EXPECT_THROW(coarse.pivots(), std::invalid_argument);
}

/// Of a matrix that is made, none is kept.
TEST(OutOfCore, makes_a_matrix_when_it_is_wanted) {
  const Matrix<double> A = random_matrix(110, 110), B = random_matrix(110, 600);
  std::int64_t made = 0;
  Columnwise<double> columns;
  columns.n = 110;
  columns.on_cpu = [&](Queue<Cpu>&, std::int64_t first, MatrixView<double> to) {
    made += to.cols();
    for (std::int64_t j = 0; j < to.cols(); ++j)
      for (std::int64_t i = 0; i < to.rows(); ++i) to(i, j) = A(i, first + j);
  };
  Options o = with_room_for(13, 110);
  o.check = false, o.device_memory /= 2;
  auto factors = FactorizationOf<double>::columns(columns, o);
  EXPECT_EQ(made, 110) << "each column once";
  Matrix<double> X(110, 600);
  EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
  o.device_memory = 0;  // then it fits
  EXPECT_TRUE(FactorizationOf<double>::columns(columns, o).solve(B.view(), X.view()).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
}

TEST(OutOfCore, tells_progress_and_can_be_stopped) {
  struct Stopped {};
  const Matrix<double> A = random_matrix(100, 100), B = random_matrix(100, 1);
  Matrix<double> X(100, 1);
  Options o = with_room_for(10, 100);
  double last = 0;
  o.progress = [&](double done) {
    EXPECT_GE(done, last);
    last = done;
  };
  EXPECT_TRUE(solve(A.view(), B.view(), X.view(), o).outcome.ok());
  EXPECT_NEAR(last, 1, 1e-6);
  o.progress = [](double done) {
    if (done > 0.3) throw Stopped();
  };
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), o), Stopped);
}

TEST(OutOfCore, says_what_is_not_done) {
  const Matrix<double> A = random_matrix(60, 60), B = random_matrix(60, 1);
  Matrix<double> X(60, 1);
  const auto refuses = [&](auto change) {
    Options o = with_room_for(8, 60);
    change(o);
    EXPECT_THROW(solve(A.view(), B.view(), X.view(), o), std::invalid_argument);
  };
  refuses([](Options& o) { o.schedule = Schedule::right_looking; });
  refuses([](Options& o) { o.triangle = Uplo::lower; });
  refuses([](Options& o) { o.residual = Residual::extra; });
  refuses([](Options& o) { o.device_memory = -1; });
  refuses([](Options& o) { o.cards = {0, 1}; });
  Options small = with_room_for(8, 60);
  small.device_memory /= 2;
  EXPECT_THROW(Factorization<double>(random_matrix(60, 60), small), std::invalid_argument);
  Factorization<double> factors(A.view(), with_room_for(8, 60));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.L(); }), "are not taken apart"));
}

}  // namespace
}  // namespace lasolve::test::out_of_core_test
