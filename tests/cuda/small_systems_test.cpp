// Small systems on CUDA: their two kernels give what the general path gives, and leave to it what is out of the ordinary.
#include <thread>

#include "answers.hpp"
#include "core/device_properties.hpp"

namespace lasolve::test {
namespace {

/// What this card takes, in fp64 too.
std::int64_t most_here() { return device_properties(0).shared_memory > 180'000 ? 128 : 64; }

Options with(Method method, Uplo triangle = Uplo::both) {
  Options o = on_cuda();
  o.factorization = method, o.triangle = triangle;
  return o;
}
/// Without a Cholesky leaf.
Options by_elimination(Options o) {
  o.tuning = tuning_of({Device::cuda, 0});
  o.tuning->small_cholesky_order = 128;
  return o;
}
Options in_general(Options o) {
  o.tuning = tuning_of({Device::cuda, 0});
  o.tuning->small_system_order = 0;
  return o;
}
/// Of a factorization: one kernel made it, and its time is that of the panel.
bool was_small(const Report& report) { return report.factor_seconds == report.phases.seconds_of(Phase::panel); }

class SmallSystemsOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};

/// The same as by the general path, but for roundings. `at_all`: it is one for the kernels.
template <class T>
void expect_same(const Matrix<T>& A, const Options& o, Op op, std::int64_t nrhs, bool at_all = true) {
  const Matrix<T> B = random_matrix<T>(A.rows(), nrhs, 5);
  const auto one = answer(A, B, o, op), other = answer(A, B, in_general(o), op);
  EXPECT_EQ(one.thrown, "");
  EXPECT_EQ(other.thrown, "");
  expect_same_report(one.factored, other.factored);
  expect_same_report(one.solved, other.solved);
  EXPECT_FALSE(was_small(other.factored));
  if (A.rows() <= most_here()) {
    EXPECT_EQ(was_small(one.factored), at_all);
  }
}

template <class T>
void expect_solved_on_device(const Matrix<T>& A, const Matrix<T>& all_of_A, const Options& o, Op op, std::int64_t nrhs,
                             Method method) {
  const std::int64_t n = A.rows();
  Matrix<T> B(n, nrhs, n + 3);
  std::fill_n(B.data(), B.ld() * nrhs, T(3));
  const Matrix<T> random = random_matrix<T>(n, nrhs, 9);
  as_eigen(B.view()) = as_eigen(random.view());
  for (const bool over_B : {false, true}) {
    const auto got = answer(A, B, o, op, over_B);
    EXPECT_EQ(got.thrown, "");
    EXPECT_TRUE(got.solved.outcome.ok()) << got.solved.outcome.message();
    EXPECT_EQ(got.factored.method, method);
    EXPECT_TRUE(was_small(got.factored) || n > most_here());
    EXPECT_EQ(got.solved.hpl_residual.has_value(), o.check);
    const double hpl = hpl_residual<T>({all_of_A.view(), op}, B.view(), got.X.view());
    EXPECT_LT(hpl, hpl_threshold);
    if (o.check) {
      EXPECT_NEAR(*got.solved.hpl_residual, hpl, judged_by_report);
    }
    if (!over_B) continue;
    for (std::int64_t j = 0; j < nrhs; ++j)  // what is between the columns is not ours
      for (std::int64_t i = n; i < B.ld(); ++i) ASSERT_EQ(got.X.data()[i + j * B.ld()], T(3));
  }
}

template <class T>
Matrix<T> with_ld(const Matrix<T>& A, std::int64_t ld) {
  Matrix<T> wide(A.rows(), A.cols(), ld);
  std::fill_n(wide.data(), ld * A.cols(), std::numeric_limits<T>::quiet_NaN());
  as_eigen(wide.view()) = as_eigen(A.view());
  return wide;
}

template <class T>
void expect_every_order_solved() {
  for (std::int64_t n = 1; n <= 131; ++n) {
    SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, n = " << n);
    const Matrix<T> A = random_matrix<T>(n, n, std::uint64_t(n)), S = rounded<T>(random_with_condition(n, 10, true));
    const Op op = n % 2 == 0 ? Op::none : Op::transpose;
    const bool positive = n == 1 && A(0, 0) > 0;
    expect_solved_on_device(A, A, on_cuda(), op, 1 + n % 3, positive ? Method::cholesky : Method::lu);
    for (const Options& o : {on_cuda(), by_elimination(on_cuda())})
      expect_solved_on_device(S, S, o, op, 1, Method::cholesky);
    expect_solved_on_device(with_ld(A, n + 1 + n % 5), A, with(Method::lu), flipped(op), 2, Method::lu);
    for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
      const OneTriangle<T> half(rounded<T>(S), triangle);
      for (const Options& o : {with(Method::cholesky, triangle), by_elimination(with(Method::cholesky, triangle))})
        expect_solved_on_device(half.half, half.whole, o, op, 1, Method::cholesky);
    }
  }
}
TEST_F(SmallSystemsOnCuda, are_solved_of_every_order_in_fp64) { expect_every_order_solved<double>(); }
TEST_F(SmallSystemsOnCuda, are_solved_of_every_order_in_fp32) { expect_every_order_solved<float>(); }

template <class T>
void expect_what_the_general_path_gives() {
  Options unchecked = on_cuda();
  unchecked.check = false;
  for (const std::int64_t n : {1, 2, 5, 32, 33, 64, 65, 100, 128, 129})
    for (const Op op : {Op::none, Op::transpose})
      for (const std::int64_t nrhs : {1, 3, 40, 300}) {
        SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, n = " << n << ", op " << int(op) << ", nrhs " << nrhs);
        const Matrix<T> A = dominant_matrix<T>(n), S = rounded<T>(random_with_condition(n, 100, true));
        Matrix<T> G = random_matrix<T>(n, n);
        G(0, n - 1) = T(0.625);
        for (const Options& o : {on_cuda(), unchecked, with(Method::lu)}) {
          expect_same(G, o, op, nrhs);
          expect_same(S, o, op, nrhs);
        }
        for (const Options& o : {with(Method::cholesky), by_elimination(with(Method::cholesky))}) {
          expect_same(A, o, op, nrhs);
          expect_same(S, o, op, nrhs);
        }
      }
}
TEST_F(SmallSystemsOnCuda, get_what_the_general_path_gives_in_fp64) { expect_what_the_general_path_gives<double>(); }
TEST_F(SmallSystemsOnCuda, get_what_the_general_path_gives_in_fp32) { expect_what_the_general_path_gives<float>(); }

TEST_F(SmallSystemsOnCuda, go_by_LU_where_a_minor_is_not_positive) {
  for (const std::int64_t n : {2, 17, 33, 64, 65, 128})
    for (const std::int64_t first : {std::int64_t(1), n / 2, n - 1}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", minor " << first + 1);
      for (const Op op : {Op::none, Op::transpose})
        for (const Options& o : {on_cuda(), by_elimination(on_cuda())}) {
          expect_same(indefinite<double>(n, first), o, op, 1);
          expect_same(indefinite<float>(n, first), o, op, 2);
        }
      const auto got = answer(indefinite<double>(n, first), random_matrix(n, 1), on_cuda());
      EXPECT_EQ(got.factored.method, Method::lu);
      EXPECT_TRUE(says(notes_of(got.factored), "order " + std::to_string(first + 1)));
      expect_same(indefinite<double>(n, first), with(Method::cholesky), Op::none, 1, false);
    }
}

TEST_F(SmallSystemsOnCuda, that_are_singular_or_nearly_so_are_found_by_the_general_path) {
  for (const std::int64_t n : {1, 2, 20, 33, 64, 100, 128})
    for (const std::int64_t column : {std::int64_t(0), n / 2, n - 1}) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", column " << column);
      expect_same(with_zero_columns(random_matrix(n, n), column, 1), on_cuda(), Op::none, 1, false);
      expect_same(rounded<float>(with_zero_columns(random_matrix(n, n), column, 1)), with(Method::lu), Op::none, 1,
                  false);
    }
  expect_same(random_with_condition(60, 1e17), on_cuda(), Op::none, 1, false);
  expect_same(hilbert(40), on_cuda(), Op::none, 1, false);
  expect_same(scaled(1e-310, random_matrix(20, 20)), on_cuda(), Op::none, 1, false);
}

TEST_F(SmallSystemsOnCuda, refuse_what_the_general_path_refuses) {
  for (const std::int64_t n : {5, 64, 128})
    for (const double bad : {std::nan(""), double(INFINITY), -double(INFINITY)})
      for (const bool in_A : {true, false})
        for (const bool allowed : {true, false})
          for (const bool over_B : {true, false}) {
            SCOPED_TRACE(testing::Message()
                         << n << ": " << bad << (in_A ? " in A" : " in B") << ", allowed " << allowed);
            Matrix<double> A = random_matrix(n, n), B = random_matrix(n, 2, 2);
            (in_A ? A(3, 2) : B(3, 1)) = bad;
            Options o = on_cuda();
            o.allow_nonfinite = allowed;
            for (const bool check : {true, false}) {
              o.check = check;
              const auto one = answer(A, B, o, Op::none, over_B), other = answer(A, B, in_general(o), Op::none, over_B);
              EXPECT_EQ(one.thrown, other.thrown);
              EXPECT_EQ(one.thrown.empty(), allowed || !check);
              expect_outcome(one.solved.outcome, other.solved.outcome.kind, other.solved.outcome.at);
            }
          }
}

/// Products of A and X overflow, though the solution does not.
TEST_F(SmallSystemsOnCuda, whose_products_overflow_are_checked_by_the_general_path) {
  const Matrix<double> A = scaled(0x1p990, random_matrix(30, 30)), X = scaled(0x1p30, random_matrix(30, 2, 4));
  expect_same(A, on_cuda(), Op::none, 2);
  Matrix<double> B(30, 2);
  as_eigen(B.view()) = as_eigen(A.view()) * as_eigen(X.view());
  for (const bool over_B : {false, true}) {
    const auto got = answer(A, B, on_cuda(), Op::none, over_B), other = answer(A, B, in_general(on_cuda()));
    expect_outcome(got.solved.outcome, other.solved.outcome.kind, other.solved.outcome.at);
    EXPECT_EQ(got.solved.backward_error.has_value(), other.solved.backward_error.has_value());
  }
}

TEST_F(SmallSystemsOnCuda, have_a_condition_number_when_it_is_asked_for) {
  for (const bool check : {true, false})
    for (const std::int64_t n : {1, 40, 128}) {
      Options o = on_cuda();
      o.check = check;
      for (const Matrix<double>& A :
           {random_matrix(n, n), random_with_condition(n, 1000, true), indefinite<double>(n, n / 2)}) {
        const Matrix<double> B = random_matrix(n, 1, 3);
        const auto one = answer(A, B, o, Op::none, false, true),
                   other = answer(A, B, in_general(o), Op::none, false, true);
        EXPECT_EQ(one.rcond, other.rcond);
      }
    }
}

/// Without a check A is not read again by anybody.
TEST_F(SmallSystemsOnCuda, are_solved_when_A_is_gone) {
  Options o = on_cuda();
  o.check = false;
  Queue<Cuda> q(0);
  for (const std::int64_t n : {3, 64, 128})
    for (const std::int64_t nrhs : {1, 8, 300}) {
      const Matrix<double> A = random_matrix(n, n, 3), B = random_matrix(n, nrhs, 4);
      Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, B), dX = upload(q, B);
      Factorization<double> factors(std::as_const(dA).view(), o);
      copy<double>(q, matrix_of<double>(n, n, [](auto, auto) { return std::nan(""); }), dA.view());
      q.finish();
      for (const Op op : {Op::none, Op::transpose}) {
        EXPECT_TRUE(factors.solve(std::as_const(dB).view(), dX.view(), op).outcome.ok());
        EXPECT_LT((hpl_residual<double>({A.view(), op}, B.view(), download(q, dX))), hpl_threshold);
      }
    }
}

TEST_F(SmallSystemsOnCuda, are_taken_in_place_with_the_same_bits) {
  Queue<Cuda> q(0);
  for (const std::int64_t n : {10, 64, 128}) {
    const Matrix<double> A = random_matrix(n, n, 3), B = random_matrix(n, 2, 4);
    const Matrix<double, Cuda> dB = upload(q, B);
    Matrix<double, Cuda> dX = upload(q, B);
    Factorization<double> factors(upload(q, A), on_cuda());
    const Report report = factors.solve(dB.view(), dX.view());
    EXPECT_TRUE(says(notes_of(report), "not checked"));
    EXPECT_FALSE(report.backward_error.has_value());
    EXPECT_TRUE(same_bits(download(q, dX), answer(A, B, on_cuda()).X));
    EXPECT_EQ(factors.rcond(), answer(A, B, in_general(on_cuda()), Op::none, false, true).rcond);
    EXPECT_TRUE(says(notes_of(factors.report()), "not checked"));
    EXPECT_EQ(factors.report().notes.size(), 1u);
  }
}

TEST_F(SmallSystemsOnCuda, are_taken_from_the_host) {
  for (const std::int64_t n : {1, 40, 128}) {
    const Matrix<double> A = dominant_matrix<double>(n), B = right_hand_sides<double>(A.view(), 2);
    Matrix<double> X(n, 2);
    Factorization<double> factors(A.view(), on_cuda());
    const Report report = factors.solve(B.view(), X.view());
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_LT((hpl_residual<double>(A.view(), B.view(), X.view())), hpl_threshold);
    EXPECT_GT(report.phases.seconds_of(Phase::to_device), 0);
    EXPECT_GT(report.phases.seconds_of(Phase::to_host), 0);
    EXPECT_GT(report.phases.seconds_of(Phase::solve), 0);
    EXPECT_GT(factors.report().phases.seconds_of(Phase::to_device), 0);
  }
}

TEST_F(SmallSystemsOnCuda, are_those_of_which_nothing_special_is_asked) {
  const Matrix<double> A = random_matrix(20, 20), B = random_matrix(20, 1, 2);
  const auto is_small = [&](const Options& o) { return was_small(answer(A, B, o).factored); };
  EXPECT_TRUE(is_small(on_cuda()));
  Options named = with(Method::lu), tuned = on_cuda(), others[6], alike[2] = {on_cuda(), on_cuda()};
  named.gemm = std::string("cublas");
  EXPECT_TRUE(is_small(named));
  tuned.tuning = tuning_of(tuned.device);
  EXPECT_TRUE(is_small(tuned)) << "with the same values";
  for (Options& o : others) o = on_cuda();
  others[0].precision = Precision::fp32;
  others[1].block_size = 7;
  others[2].schedule = Schedule::recursive;
  others[3].refine = Refine::classical;
  others[4].tuning = tuned.tuning, others[4].tuning->small_system_order = 19;
  others[5].tuning = tuned.tuning, others[5].tuning->lu.columns[0] = 16;
  double done = 0;
  alike[0].condition = true;
  alike[1].progress = [&](double share) { done = share; };
  for (const Options& o : alike) EXPECT_TRUE(is_small(o)) << &o - alike;
  EXPECT_EQ(done, 1);
  for (const Options& o : others) EXPECT_FALSE(is_small(o)) << &o - others;
}

TEST_F(SmallSystemsOnCuda, are_square) {
  Queue<Cuda> q(0);
  const Matrix<double, Cuda> A = upload(q, random_matrix(100, 50));
  for (const auto& [m, n] : {std::pair(100, 1), {5, 8}, {100, 50}}) {
    const MatrixView<const double, Cuda> part(A.view().data(), m, n, 100);
    EXPECT_THROW(Factorization<double>(part, on_cuda()), std::invalid_argument) << m << " × " << n;
  }
}

TEST_F(SmallSystemsOnCuda, are_as_before_when_a_solve_throws_or_takes_the_general_way) {
  Queue<Cuda> q(0);
  const Matrix<double> A = random_matrix(40, 40), B = random_matrix(40, 1, 2);
  Matrix<double> bad = random_matrix(40, 1, 2);
  bad(3, 0) = std::nan("");
  const Matrix<double, Cuda> dA = upload(q, A), dB = upload(q, B), d_bad = upload(q, bad);
  Matrix<double, Cuda> dX = upload(q, B);
  Factorization<double> factors(dA.view(), on_cuda());
  const Report before = factors.report();
  EXPECT_TRUE(factors.solve(dB.view(), dX.view()).outcome.ok());
  const Matrix<double> X = download(q, dX);
  EXPECT_THROW(factors.solve(d_bad.view(), dX.view()), std::invalid_argument);
  EXPECT_TRUE(factors.solve(dB.view().columns(0, 0), dX.view().columns(0, 0)).outcome.ok());
  const double rcond = factors.rcond();
  EXPECT_EQ(factors.report().rcond, rcond);
  EXPECT_EQ(factors.report().total_seconds, before.total_seconds);
  const Report report = factors.solve(dB.view(), dX.view());
  EXPECT_EQ(report.rcond, rcond);
  EXPECT_TRUE(same_bits(download(q, dX), X));
}

TEST_F(SmallSystemsOnCuda, give_the_same_bits_again) {
  for (const std::int64_t n : {33, 64, 128}) {
    const Matrix<double> A = random_matrix(n, n, 8), B = random_matrix(n, 4, 9);
    const Matrix<double> first = answer(A, B, on_cuda()).X;
    std::vector<std::thread> all;
    for (int t = 0; t < 4; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < 10; ++i) EXPECT_TRUE(same_bits(answer(A, B, on_cuda()).X, first));
      });
    for (auto& thread : all) thread.join();
  }
}

TEST_F(SmallSystemsOnCuda, report_times_that_add_up) {
  const Matrix<double> A = random_matrix(64, 64), B = random_matrix(64, 1, 2);
  const auto got = answer(A, B, on_cuda());
  for (const Report& report : {got.factored, got.solved}) {
    double sum = 0;
    for (const double seconds : report.phases.seconds) sum += seconds;
    EXPECT_GT(report.phases.seconds_of(Phase::check), 0);
    EXPECT_NEAR(sum - report.phases.seconds_of(Phase::check), report.total_seconds, 1e-12);
  }
  EXPECT_GT(got.factored.factor_gflops, 0);
  EXPECT_GT(got.solved.solve_seconds, 0);
}

}  // namespace
}  // namespace lasolve::test
