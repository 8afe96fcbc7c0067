// What is factored while A is looked at gives what it gives behind the look. A Cholesky computes nothing where A is not for it.
#include "lasolve/gemm.hpp"
#include "solvers/cholesky/cuda/leaf.cuh"
#include "solvers/devices/cuda/matrix_facts.cuh"
//
#include "answers.hpp"

namespace lasolve::test {
namespace {

Options with_order(Options o, std::int64_t tried) {
  o.tuning = tuning_of({Device::cuda, 0});
  o.tuning->cholesky_tried_order = tried;
  o.tuning->small_system_order = 0;
  return o;
}

/// The host waits for what it has A looked at for, before that is factored.
Options with_waits(Options o) {
  o = with_order(std::move(o), 0);
  o.tuning->waited_copy_bytes = 0;
  return o;
}

class TriedCholeskyOnCuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  }
};

template <class T>
void expect_as_behind_a_look(const Matrix<T>& A, const Options& o) {
  const Matrix<T> B = random_matrix<T>(A.rows(), 2, 5);
  for (const Op op : {Op::none, Op::transpose}) {
    const auto one = answer(A, B, with_order(o, never), op), other = answer(A, B, with_order(o, 0), op);
    EXPECT_EQ(one.thrown, other.thrown);
    if (!one.thrown.empty()) continue;
    expect_same_report(one.factored, other.factored);
    expect_same_report(one.solved, other.solved);
    EXPECT_TRUE(same_bits(one.X, other.X));
  }
}

template <class T>
void expect_as_behind_looks() {
  Options unchecked = on_cuda(), coarse = on_cuda(), allowed = on_cuda(), by_rcond = on_cuda();
  unchecked.check = false, coarse.precision = Precision::fp32, allowed.allow_nonfinite = true,
  by_rcond.condition = true;
  for (const std::int64_t n : {1, 33, 128, 129, 200, 256, 300, 600})
    for (const Options& o : {on_cuda(), unchecked, coarse, allowed, by_rcond}) {
      SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, n = " << n);
      expect_as_behind_a_look(random_matrix<T>(n, n), o);
      expect_as_behind_a_look(dominant_matrix<T>(n), o);
      expect_as_behind_a_look(rounded<T>(random_with_condition(n, 100, true)), o);
      expect_as_behind_a_look(indefinite<T>(n, n - 1), o);
      Matrix<T> bad = rounded<T>(random_with_condition(n, 100, true));
      bad(n / 2, n / 2) = std::numeric_limits<T>::quiet_NaN();
      expect_as_behind_a_look(bad, o);
    }
}
template <class T>
Matrix<T> with_entry(Matrix<T> A, T entry) {
  A(A.rows() / 2, A.cols() / 3) = entry;
  return A;
}

/// A is on the device, or comes from the host, and B and X with it.
template <class T>
void expect_as_with_waits() {
  constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  for (const std::int64_t n : {150, 400}) {
    const Matrix<T> B = random_matrix<T>(n, 2, 5);
    const auto definite = [&] { return rounded<T>(random_with_condition(n, 100, true)); };
    std::vector<Matrix<T>> all;
    all.push_back(random_matrix<T>(n, n));
    all.push_back(definite());
    all.push_back(indefinite<T>(n, n - 1));
    for (const T entry : {nan, inf}) all.push_back(with_entry<T>(random_matrix<T>(n, n), entry));
    for (const T entry : {nan, T(3)}) all.push_back(with_entry<T>(definite(), entry));
    for (const Matrix<T>& A : all)
      for (const Method method : {Method::automatic, Method::lu, Method::cholesky})
        for (const bool checked : {true, false}) {
          SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes, n = " << n << ", method " << int(method));
          Options o = on_cuda();
          o.factorization = method, o.check = checked;
          const bool with_rcond = checked || !as_eigen(A.view()).array().isInf().any();
          for (const auto& from : {answer<T>, answer_from_host<T>}) {
            const auto one = from(A, B, with_order(o, 0), Op::none, false, with_rcond);
            const auto other = from(A, B, with_waits(o), Op::none, false, with_rcond);
            EXPECT_EQ(one.thrown, other.thrown);
            if (!one.thrown.empty()) continue;
            expect_same_report(one.factored, other.factored);
            expect_same_report(one.solved, other.solved);
            EXPECT_TRUE(same_bits(one.X, other.X));
            EXPECT_TRUE(one.rcond == other.rcond || (std::isnan(one.rcond) && std::isnan(other.rcond)));
          }
        }
  }
}
TEST_F(TriedCholeskyOnCuda, is_as_with_a_wait_for_each_look_in_fp64) { expect_as_with_waits<double>(); }
TEST_F(TriedCholeskyOnCuda, is_as_with_a_wait_for_each_look_in_fp32) { expect_as_with_waits<float>(); }

TEST_F(TriedCholeskyOnCuda, knows_no_condition_in_place_where_sums_are_infinite) {
  const std::int64_t n = 200;
  const Matrix<double> A = matrix_of<double>(n, n, [](auto i, auto j) { return i == j ? 1.2e308 : 5e305; });
  Options o = on_cuda();
  o.factorization = Method::lu, o.check = false;
  Factorization<double> factors(A, o);
  EXPECT_EQ(factors.report().outcome.kind, Outcome::solved);
  EXPECT_THROW(factors.rcond(), std::invalid_argument);
  o.condition = true;
  const double rcond = Factorization<double>(A, o).rcond();
  EXPECT_TRUE(0.01 < rcond && rcond < 1) << rcond;
}

TEST_F(TriedCholeskyOnCuda, gives_what_it_gives_behind_a_look_in_fp64) { expect_as_behind_looks<double>(); }
TEST_F(TriedCholeskyOnCuda, gives_what_it_gives_behind_a_look_in_fp32) { expect_as_behind_looks<float>(); }

TEST_F(TriedCholeskyOnCuda, computes_nothing_where_A_is_not_symmetric) {
  Queue<Cuda> q(0);
  const Gemm<double, Cuda> gemm(*gemm_backends<Cuda>()[0]);
  const std::int64_t n = 60;  // a leaf on every card
  for (const bool symmetric : {true, false}) {
    Matrix<double> A = random_with_condition(n, 100, true);
    if (!symmetric) A(n - 1, 0) += 1;
    Matrix<double, Cuda> there = upload(q, A);
    Matrix<std::int64_t, Cuda> status(1, 1);
    fill(q, std::int64_t(17), status.view());
    Matrix<double, Cuda> copied(n, n);
    auto look = copy_and_measure<double, double>(q, std::as_const(there).view(), copied.view(), status.view());
    EXPECT_EQ(look->may_be_positive_definite, symmetric);
    EXPECT_TRUE(same_bits(download(q, copied), A));
    EXPECT_EQ(look->row_sums.size(), std::size_t(n));
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(look->row_sums[std::size_t(i)], as_eigen(A.view()).row(i).cwiseAbs().sum(), 1e-12);
    EXPECT_EQ(download(q, status)(0, 0), symmetric ? -1 : 0);
    panel_cholesky_leaf(q, gemm, there.view(), Minors<Cuda>{status, 0, true});
    EXPECT_EQ(same_bits(download(q, there), A), !symmetric);
  }
}

}  // namespace
}  // namespace lasolve::test
