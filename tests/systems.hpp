// Systems with a known kind of matrix, solved and judged by the test itself.
#pragma once

#include <gtest/gtest.h>

#include <cstring>

#include "lasolve/lasolve.hpp"
#include "matrices.hpp"

namespace lasolve::test {

inline constexpr double judged_by_report = 1;  ///< the report's residual is itself computed with roundings

template <class T>
struct Solved {
  Matrix<T> X;
  Report report;
  double hpl;  ///< computed here, not from the report
};

/// B = op(A) X* for a random X*.
template <class T>
Matrix<T> right_hand_sides(Operand<T> A, std::int64_t nrhs, std::uint64_t seed = 11) {
  const Matrix<T> X = random_matrix<T>(A.cols(), nrhs, seed),
                  B = matrix_of<T>(A.rows(), nrhs, [](auto, auto) { return 0; });
  return rounded<T>(product<T>(T(1), A, X.view(), T(0), B));
}

template <class T>
Solved<T> solve_for(const Matrix<T>& A, const Matrix<T>& B, const Options& options, Op op = Op::none,
                    double eps = unit_roundoff<T>) {
  Matrix<T> X = matrix_of<T>(B.rows(), B.cols(), [](auto, auto) { return std::numeric_limits<T>::quiet_NaN(); });
  Report report = solve(A.view(), B.view(), X.view(), options, op);
  const double hpl = hpl_residual<T>({A.view(), op}, B.view(), X.view(), eps);
  return {std::move(X), std::move(report), hpl};
}

template <class T>
Solved<T> solve_random(const Matrix<T>& A, std::int64_t nrhs, const Options& options, Op op = Op::none) {
  return solve_for(A, right_hand_sides<T>({A.view(), op}, nrhs), options, op);
}

/// For matrices of which few digits are left: their solutions are judged by the residual alone.
inline Options judged_by_residual(Options o) {
  o.condition = false;
  return o;
}

/// A symmetric matrix, and what is there of it when the other triangle holds NaN.
template <class T>
struct OneTriangle {
  OneTriangle(Matrix<T> A, Uplo triangle)
      : whole(std::move(A)), half(matrix_of<T>(whole.rows(), whole.rows(), [&](auto i, auto j) {
          return i == j || (i > j) == (triangle == Uplo::lower) ? whole(i, j) : std::numeric_limits<T>::quiet_NaN();
        })) {}
  Matrix<T> whole, half;
};

/// It was solved, to HPL's accuracy, and the report says so.
template <class T>
void expect_solved(const Solved<T>& solved) {
  EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
  EXPECT_LT(solved.hpl, hpl_threshold);
  EXPECT_EQ(solved.report.n, solved.X.rows());
  EXPECT_EQ(solved.report.nrhs, solved.X.cols());
  ASSERT_TRUE(solved.report.hpl_residual.has_value());
  EXPECT_NEAR(*solved.report.hpl_residual, solved.hpl, judged_by_report);
}

/// On CUDA, judged by the report: a reference on the host would take minutes.
template <class T>
void expect_solved_on_cuda(const Matrix<T>& A, Options o) {
  o.device.kind = Device::cuda;
  const Matrix<T> B = random_matrix<T>(A.rows(), 1);
  Matrix<T> X(A.rows(), 1);
  const Report report = solve(A.view(), B.view(), X.view(), o);
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
  EXPECT_LT(report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
}

constexpr Schedule schedules[] = {Schedule::right_looking, Schedule::left_looking, Schedule::recursive};

/// make(n) is a Matrix<T>, n × n. Sizes and block sizes around each other, op and its transpose in turns.
template <class Make>
void expect_every_schedule_solves(Options options, Make make) {
  for (Schedule schedule : schedules)
    for (std::int64_t n : {1, 2, 33, 64, 65, 129, 200, 391})
      for (std::int64_t nb : {0, 1, 7, 64, 200}) {
        SCOPED_TRACE(testing::Message() << "schedule " << int(schedule) << ", n = " << n << ", nb = " << nb);
        options.schedule = schedule;
        options.block_size = nb;
        const auto solved = solve_random(make(n), 2, options, n % 2 == 0 ? Op::none : Op::transpose);
        expect_solved(solved);
        EXPECT_EQ(solved.report.schedule, schedule);
      }
}

/// One that the method is right for, and well conditioned if it is Cholesky's.
template <class T>
Matrix<T> matrix_for(Method method, std::int64_t n) {
  return method == Method::lu ? random_matrix<T>(n, n) : dominant_matrix<T>(n);
}

/// Outcome kind, and where.
inline void expect_outcome(const Outcome& outcome, Outcome::Kind kind, std::int64_t at) {
  EXPECT_EQ(outcome.kind, kind) << outcome.message();
  EXPECT_EQ(outcome.at, at) << outcome.message();
}

template <class T>
bool same_bits(const Matrix<T>& A, const Matrix<T>& B) {
  for (std::int64_t j = 0; j < A.cols(); ++j)
    if (std::memcmp(&A(0, j), &B(0, j), std::size_t(A.rows()) * sizeof(T)) != 0) return false;
  return A.rows() == B.rows() && A.cols() == B.cols();
}

inline std::string notes_of(const Report& report) {
  std::string text;
  for (const auto& note : report.notes) text += note + '\n';
  return text;
}

/// Over so many virtual cards, in narrow panels.
inline Options over(int cards, Method method = Method::lu) {
  Options o;
  o.device = {Device::cpu, 0};
  for (int card = 0; card < cards; ++card) o.cards.push_back(card);
  o.factorization = method;
  o.block_size = 16;
  return o;
}

}  // namespace lasolve::test
