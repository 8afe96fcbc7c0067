// Systems over several cards, by the way that callers go: on virtual cards in the memory of the host.
#include <algorithm>
#include <limits>
#include <thread>

#include "core/choose.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "lasolve/pieces.hpp"
#include "solvers/driver/engine.hpp"
#include "systems.hpp"

namespace lasolve::test::cards_solve_test {
namespace {

constexpr Method methods[] = {Method::lu, Method::cholesky, Method::lu_nopivot};

/// Sums are in an order that depends on the number of cards, and on nothing else.
template <class T>
void expect_all_sizes_solved() {
  for (const Method method : methods)
    for (const std::int64_t n : {1, 2, 7, 16, 17, 33, 100, 193, 257})
      for (const std::int64_t nrhs : {1, 11})
        for (const Op op : {Op::none, Op::transpose}) {
          const Matrix<T> A = matrix_for<T>(method, n);
          const Schedule schedule =
              method == Method::cholesky && nrhs == 1 ? Schedule::left_looking : Schedule::right_looking;
          for (int cards = 2; cards <= 5; ++cards) {
            SCOPED_TRACE(testing::Message() << name_of(method) << ", " << name_of(schedule) << ", n = " << n << ", "
                                            << nrhs << " right-hand sides, " << cards << " cards");
            Options o = over(cards, method);
            o.schedule = schedule;
            const auto solved = solve_random(A, nrhs, o, op);
            expect_solved(solved);
            EXPECT_EQ(solved.report.cards.size(), std::size_t(cards));
            EXPECT_EQ(solved.report.schedule, schedule);
            EXPECT_TRUE(same_bits(solve_random(A, nrhs, o, op).X, solved.X));
          }
        }
}
TEST(SolveOnCards, is_right_however_many_there_are_in_fp64) { expect_all_sizes_solved<double>(); }
TEST(SolveOnCards, is_right_however_many_there_are_in_fp32) { expect_all_sizes_solved<float>(); }

TEST(SolveOnCards, takes_every_backend_of_the_cpu) {
  const Matrix<double> A = random_matrix(150, 150), S = dominant_matrix<double>(150);
  for (const std::string& name : runnable_backends({Device::cpu, 0}, Precision::fp64)) {
    SCOPED_TRACE(name);
    for (const Method method : methods) {
      Options o = over(3, method);
      o.gemm = name;
      const auto solved = solve_random(method == Method::lu ? A : S, 2, o);
      expect_solved(solved);
      EXPECT_EQ(solved.report.gemm, name);
    }
  }
}

TEST(SolveOnCards, refines_coarse_factors) {
  for (const Method method : methods)
    for (const Refine how : {Refine::classical, Refine::gmres}) {
      Options o = over(3, method);
      o.precision = Precision::fp32, o.refine = how;
      const auto solved = solve_random(matrix_for<double>(method, 120), 2, o, Op::transpose);
      expect_solved(solved);
      EXPECT_EQ(solved.report.storage, Precision::fp32);
      EXPECT_GE(solved.report.refine_iterations, 1);
    }
}

TEST(SolveOnCards, falls_back_where_coarse_factors_do_not_serve) {
  Options o = judged_by_residual(over(2));
  o.precision = Precision::fp32, o.refine = Refine::classical;
  const Matrix<double> A = random_with_condition(90, 1e12);
  const auto solved = solve_random(A, 1, o);
  expect_solved(solved);
  EXPECT_EQ(solved.report.storage, Precision::fp64) << "by factors as fine as A";
}

TEST(SolveOnCards, tells_how_far_it_is) {
  for (const Method method : methods) {
    Options o = over(3, method);
    std::vector<double> told;
    const auto caller = std::this_thread::get_id();
    o.progress = [&](double done) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      told.push_back(done);
    };
    expect_solved(solve_random(matrix_for<double>(method, 150), 1, o));
    ASSERT_GT(told.size(), 3U);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_LT(told.front(), 0.7);
    EXPECT_NEAR(told.back(), 1, 1e-9);
  }
}

TEST(SolveOnCards, tells_where_a_matrix_is_singular) {
  for (const std::int64_t at : {0, 40, 89})
    for (int cards = 2; cards <= 4; ++cards) {
      const Matrix<double> A = with_zero_columns(random_matrix(90, 90), at, 1), B = random_matrix(90, 1);
      const auto solved = solve_for(A, B, over(cards));
      expect_outcome(solved.report.outcome, Outcome::singular, at);
      EXPECT_TRUE(std::isnan(solved.X(0, 0)));
      Matrix<double> S = dominant_matrix<double>(90);
      S(at, at) = -1;
      expect_outcome(solve_for(S, B, over(cards, Method::cholesky)).report.outcome, Outcome::not_positive_definite,
                     at + 1);
      Options o = over(cards, Method::lu_nopivot);
      o.assume_suitable = true;
      expect_outcome(solve_for(with_zero_columns(dominant_matrix<double>(90), at, 1), B, o).report.outcome,
                     Outcome::singular, at);
    }
}

TEST(SolveOnCards, looks_for_what_a_method_requires) {
  const Matrix<double> B = random_matrix(90, 1);
  Matrix<double> by_columns = dominant_matrix<double>(90);
  for (std::int64_t j = 0; j < 90; j += 2)
    for (std::int64_t i = 0; i < 90; ++i) by_columns(i, j) *= 1000;
  for (int cards = 2; cards <= 4; ++cards) {
    Options o = over(cards, Method::lu_nopivot);
    expect_solved(solve_for(by_columns, B, o));
    Matrix<double> A = dominant_matrix<double>(90);
    A(37, 37) = 1;
    const auto refused = solve_for(A, B, o);
    EXPECT_EQ(refused.report.outcome.kind, Outcome::unsuitable);
    EXPECT_TRUE(std::isnan(refused.X(0, 0)));
    o.assume_suitable = true;
    expect_solved(solve_for(A, B, o));
  }
}

TEST(SolveOnCards, refuses_what_is_not_finite) {
  Matrix<double> A = random_matrix(50, 50), B = random_matrix(50, 1), X(50, 1);
  A(20, 30) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(A.view(), B.view(), X.view(), over(2)), NotFinite);
}

TEST(SolveOnCards, knows_the_condition_of_one) {
  const Matrix<double> A = random_matrix(100, 100);
  Options one;
  one.device = {Device::cpu, 0}, one.factorization = Method::lu;
  EXPECT_NEAR(Factorization<double>(A.view(), over(3)).rcond(), Factorization<double>(A.view(), one).rcond(), 1e-10);
  Options o = over(2);
  o.bounds = true;
  const auto solved = solve_random(A, 1, o);
  expect_solved(solved);
  EXPECT_TRUE(solved.report.forward_error_bound.has_value());
}

TEST(SolveOnCards, knows_how_elements_grew_and_mends_what_that_has_done) {
  for (int cards = 2; cards <= 4; ++cards)
    for (const std::int64_t n : {1, 16, 17, 130}) {
      SCOPED_TRACE(testing::Message() << cards << " cards, n = " << n);
      const Matrix<double> A = random_matrix(n, n, 3);
      Options o = over(cards), one;
      o.bounds = true;
      const Report r = Factorization<double>(A.view(), o).report();
      one.device = {Device::cpu, 0}, one.factorization = Method::lu, one.block_size = 16, one.bounds = true;
      const Report on_one = Factorization<double>(A.view(), one).report();
      EXPECT_NEAR(r.growth.value() / on_one.growth.value(), 1, 1e-12);
      EXPECT_NEAR(r.norm_growth.value() / on_one.norm_growth.value(), 1, 1e-12);
      EXPECT_NEAR(r.largest_multiplier.value(), on_one.largest_multiplier.value(), 1e-12);
    }
  const auto mended = solve_random(wilkinson(56), 1, over(3));
  expect_solved(mended);
  EXPECT_EQ(mended.report.growth, 0x1p55);
  EXPECT_EQ(mended.report.refine_iterations, 1);
  Options o = over(2);
  o.pivoting = Pivoting::tournament;
  const auto by_partial = solve_random(wilkinson(56), 1, o);
  expect_solved(by_partial);
  EXPECT_EQ(by_partial.report.pivoting, Pivoting::partial) << "elements grew too much";
}

/// A row-major matrix is the transpose of what is factored.
TEST(SolveOnCards, takes_rows) {
  const Matrix<double> A = random_matrix(70, 70), B = random_matrix(70, 2);
  Matrix<double> X(70, 2), rows(70, 70);
  for (std::int64_t j = 0; j < 70; ++j)
    for (std::int64_t i = 0; i < 70; ++i) rows(j, i) = A(i, j);
  const Report report = solve(row_major(std::as_const(rows).data(), 70, 70, rows.ld()), B.view(), X.view(), over(3));
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
}

/// The check and a refinement ask for the columns again.
TEST(SolveOnCards, makes_a_matrix_again_that_is_not_kept) {
  const Matrix<double> A = random_matrix(110, 110), B = random_matrix(110, 2);
  double held_with_copy[2] = {};
  for (const bool keeps : {true, false})
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      Columnwise<double> columns;
      columns.n = 110, columns.keeps = keeps;
      columns.on_cpu = [&](Queue<Cpu>&, std::int64_t first, MatrixView<double> to) {
        for (std::int64_t j = 0; j < to.cols(); ++j)
          for (std::int64_t i = 0; i < to.rows(); ++i) to(i, j) = A(i, first + j);
      };
      Options o = over(3);
      o.precision = precision;
      auto factors = FactorizationOf<double>::columns(columns, o);
      Matrix<double> X(110, 2);
      const Report report = factors.solve(B.view(), X.view());
      EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
      EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
      double held = 0;
      for (const CardReport& card : factors.report().cards) held += card.bytes;
      EXPECT_GE(held, 110 * 110 * (bytes_of(precision) + (keeps ? 8 : 0)));
      if (keeps) held_with_copy[precision == Precision::fp32] = held;
      if (!keeps) EXPECT_LE(held, held_with_copy[precision == Precision::fp32] - 110 * 110 * 8);
    }
}

/// A in copies of its columns, with leading dimensions of their own.
template <class T>
struct InPieces {
  InPieces(const Matrix<T>& A, const std::vector<std::int64_t>& widths) {
    std::int64_t first = 0;
    for (const std::int64_t width : widths) {
      Matrix<T>& its = memory.emplace_back(A.rows(), width, A.rows() + std::int64_t(memory.size() % 3));
      for (std::int64_t j = 0; j < width; ++j)
        for (std::int64_t i = 0; i < A.rows(); ++i) its(i, j) = A(i, first + j);
      first += width;
    }
    for (const Matrix<T>& its : memory) all.emplace_back(its);
  }
  std::vector<Matrix<T>> memory;
  std::vector<Borrowed<const T>> all;
};

/// As one, in halves between pieces without columns, in odd widths, and column by column.
std::vector<std::vector<std::int64_t>> ways_to_cut(std::int64_t n) {
  std::vector<std::int64_t> odd;
  for (std::int64_t left = n; left > 0; left -= odd.back())
    odd.push_back(std::min<std::int64_t>(left, 7 + 6 * (left % 5)));
  return {{n}, {0, n / 2, 0, n - n / 2, 0}, odd, std::vector<std::int64_t>(std::size_t(n), 1)};
}

template <class T>
void expect_bits_of_one_matrix(const Matrix<T>& A, const Options& o) {
  const Matrix<T> B = random_matrix<T>(A.rows(), 3);
  Matrix<T> one(A.rows(), 3), X(A.rows(), 3);
  EXPECT_TRUE(Factorization<T>(A.view(), o).solve(B, one).outcome.ok());
  for (const auto& widths : ways_to_cut(A.rows())) {
    SCOPED_TRACE(testing::Message() << "n = " << A.rows() << " in " << widths.size() << " pieces");
    const InPieces<T> pieces(A, widths);
    Factorization<T> factors = factor_pieces(pieces.all, o);
    EXPECT_TRUE(factors.solve(B, X).outcome.ok());
    EXPECT_TRUE(same_bits(X, one));
    EXPECT_EQ(factors.report().cards.size(), o.cards.size());
  }
}

TEST(SolveOnCards, has_of_pieces_the_bits_of_one_matrix) {
  for (int cards = 2; cards <= 4; ++cards)
    for (const std::int64_t n : {1, 2, 17, 100, 193}) {
      for (const Method method : methods) {
        expect_bits_of_one_matrix(matrix_for<double>(method, n), over(cards, method));
        expect_bits_of_one_matrix(matrix_for<float>(method, n), over(cards, method));
      }
      Options refined = over(cards);
      refined.precision = Precision::fp32;
      expect_bits_of_one_matrix(random_matrix(n, n), refined);
    }
}

TEST(SolveOnCards, takes_pieces_of_nothing) {
  const Matrix<double> nothing(0, 0);
  const std::vector<Borrowed<const double>> pieces = {nothing.view()};
  Factorization<double> factors = factor_pieces(pieces, over(2));
  EXPECT_TRUE(factors.report().outcome.ok());
}

TEST(SolveOnCards, takes_pieces_that_lie_between_each_other) {
  const Matrix<double> A = random_matrix(60, 60), B = random_matrix(60, 1);
  Matrix<double> both(120, 30), X(60, 1);
  const std::vector<Borrowed<const double>> pieces = {both.view().block(60, 0, 60, 30),
                                                      both.view().block(0, 0, 60, 30)};
  for (std::int64_t j = 0; j < 30; ++j)
    for (std::int64_t i = 0; i < 60; ++i) both(60 + i, j) = A(i, j), both(i, j) = A(i, 30 + j);
  EXPECT_TRUE(factor_pieces(pieces, over(3)).solve(B, X).outcome.ok());
  EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
}

TEST(SolveOnCards, takes_pieces_on_one_device_and_out_of_core) {
  const Matrix<double> A = random_matrix(90, 90), B = random_matrix(90, 2);
  const InPieces<double> pieces(A, {31, 0, 50, 9});
  Options o;
  o.device = {Device::cpu, 0};
  for (const std::int64_t room : {0, 90 * 90 * 8}) {
    o.device_memory = room;
    Matrix<double> X(90, 2);
    Factorization<double> factors = factor_pieces(pieces.all, o);
    EXPECT_TRUE(factors.solve(B, X).outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    EXPECT_EQ(notes_of(factors.report()).find("out of core") != std::string::npos, room > 0);
  }
  o.device_memory = 0, o.triangle = Uplo::lower;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factor_pieces(pieces.all, o); }), "where A is in pieces"));
}

TEST(SolveOnCards, finds_in_pieces_what_is_wrong_with_their_matrix) {
  const Matrix<double> B = random_matrix(90, 1);
  const InPieces<double> singular(with_zero_columns(random_matrix(90, 90), 40, 1), {25, 60, 5});
  expect_outcome(factor_pieces(singular.all, over(2)).report().outcome, Outcome::singular, 40);
  InPieces<double> pieces(random_matrix(90, 90), {25, 60, 5});
  Factorization<double> factors = factor_pieces(pieces.all, over(2));
  MatrixView<double> X = pieces.memory[1].view().columns(59, 1);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(B, X); }), "overlap the matrix"));
  pieces.memory[2](7, 4) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(factor_pieces(pieces.all, over(2)), NotFinite);
}

TEST(SolveOnCards, names_the_piece_that_it_does_not_take) {
  const Matrix<double> A = random_matrix(20, 20), low = random_matrix(19, 4);
  const InPieces<double> pieces(A, {8, 8, 4});
  const auto refuses = [&](std::size_t k, const Borrowed<const double>& other, const char* why) {
    auto changed = pieces.all;
    changed[k] = other;
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factor_pieces(changed, over(2)); }), why));
  };
  const double* const a = A.data();
  refuses(1, row_major(a, 20, 8), "piece 1 of A is row-major");
  refuses(1, Borrowed<const double>(a, 20, 8, 2, 40), "piece 1 of A is row-major, or has gaps");
  refuses(2, low.view(), "piece 2 of A has 19 rows, but piece 0 has 20");
  refuses(0, low.view().columns(0, 0), "piece 1 of A has 20 rows, but piece 0 has 19");
  refuses(1, A.view().columns(0, 13), "piece 1 of A has 13 columns behind 8 others, but A is 20 × 20");
  refuses(2, A.view().columns(0, 3), "piece 2 of A is the last, and ends at column 19, but A is 20 × 20");
  refuses(2, pieces.memory[0].view().columns(7, 1), "is the last, and ends at column 17");
  refuses(2, pieces.memory[0].view().columns(4, 4), "piece 2 of A overlaps piece 0");
  refuses(0, pieces.all[1], "piece 1 of A overlaps piece 0");
  refuses(1, pieces.all[1].to_be_copied(), "piece 1 of A may end with the call");
  refuses(1, pieces.all[1].in_device_memory(), "piece 1 of A is on a CUDA device, but Options::device is the CPU");
  const std::span<const Borrowed<const double>> none;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factor_pieces(none, over(2)); }), "there are none"));
  auto elsewhere = pieces.all;
  elsewhere[2] = elsewhere[2].in_device_memory();
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factor_pieces(elsewhere); }),
                   "piece 2 of A is a view of device memory, but points to none"));
}

TEST(SolveOnCards, says_what_several_do_not_do) {
  const Matrix<double> A = random_matrix(20, 20), B = random_matrix(20, 1);
  Matrix<double> X(20, 1);
  const auto refuses = [&](auto change) {
    Options o = over(2);
    change(o);
    EXPECT_THROW(solve(A.view(), B.view(), X.view(), o), std::invalid_argument);
  };
  refuses([](Options& o) { o.schedule = Schedule::crout; });
  refuses([](Options& o) { o.schedule = Schedule::left_looking; });
  refuses([](Options& o) { o.factorization = Method::cholesky, o.schedule = Schedule::recursive; });
  refuses([](Options& o) { o.triangle = Uplo::lower; });
  refuses([](Options& o) { o.residual = Residual::extra; });
  refuses([](Options& o) { o.device = {}; });
  refuses([](Options& o) { o.cards.assign(17, 0); });
  refuses([](Options& o) { o.cards[1] = -1; });
  EXPECT_THROW(Factorization<double>(random_matrix(20, 20), over(2)), std::invalid_argument);
  Factorization<double> factors(A.view(), over(2));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.U(); }), "are not taken apart"));
  const auto there = Borrowed<const double>(B).in_device_memory();
  EXPECT_TRUE(
      says(complaint_of<std::invalid_argument>([&] { factors.solve(there, Borrowed<double>(X).in_device_memory()); }),
           "right-hand sides on a CUDA device, but the factors are on the CPU"));
}

TEST(SolveOnCards, have_names) {
  const auto parsed = parse_devices("cuda:0,3");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->first.index, 0);
  EXPECT_EQ(parsed->cards, (std::vector<int>{0, 3}));
  EXPECT_EQ(name_of(parsed->first, parsed->cards), "cuda:0,3");
  EXPECT_TRUE(parse_devices("cuda:all")->all);
  EXPECT_EQ(parse_devices("cpu:0,1,2")->cards.size(), 3U);
  EXPECT_TRUE(parse_devices("cuda:1")->cards.empty());
  for (const char* wrong : {"cuda:0,", "cuda:,1", "auto:0,1", "cuda:0,x", "cpu:all", "cuda:0;1"})
    EXPECT_FALSE(parse_devices(wrong)) << wrong;
  const auto solved = solve_random(random_matrix(40, 40), 1, over(2));
  EXPECT_EQ(solved.report.device, "cpu:0,1");
  EXPECT_EQ(solved.report.cards[1].device, "cpu:1");
  EXPECT_GT(solved.report.cards[1].received_bytes, 0);
}

}  // namespace
}  // namespace lasolve::test::cards_solve_test
