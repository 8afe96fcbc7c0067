// The library as an embedder meets it: what it takes, and what it reports. What it refuses is in misuse_test.cpp.
#include <Eigen/Core>

#include <chrono>
#include <span>

#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

using Api = OnTarget;
constexpr std::int64_t n = 90;

// What it takes.

TEST_P(Api, takes_pointers_with_a_leading_dimension_and_leaves_what_is_between_columns) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T nan = std::numeric_limits<T>::quiet_NaN();
    const std::int64_t ld = n + 5;
    std::vector<T> a(std::size_t(ld * n), nan), b(std::size_t(ld * 2), nan), x(std::size_t(ld * 2), nan);
    Random random;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a[std::size_t(i + j * ld)] = T(random());
      for (std::int64_t j = 0; j < 2; ++j) b[std::size_t(i + j * ld)] = T(random());
    }
    const MatrixView<const T> A(a.data(), n, n, ld), B(b.data(), n, 2, ld);
    const MatrixView<T> X(x.data(), n, 2, ld);
    EXPECT_TRUE(solve(A, B, X, options()).outcome.ok());
    EXPECT_LT((hpl_residual<T>(A, B, X)), hpl_threshold);
    for (std::int64_t j = 0; j < 2; ++j)
      for (std::int64_t i = n; i < ld; ++i) EXPECT_TRUE(std::isnan(x[std::size_t(i + j * ld)]));
  });
}

/// HPL's measure of what was solved through any kind of matrix.
double judged(MatrixView<const double> A, MatrixView<const double> B, MatrixView<const double> X) {
  return hpl_residual<double>(A, B, X);
}

TEST_P(Api, takes_eigen_matrices_maps_and_blocks) {
  const Matrix<double> random = random_matrix(n + 4, n + 4);
  const Eigen::MatrixXd large = as_eigen(random.view()), B = Eigen::MatrixXd::Ones(n, 3);
  const auto block = large.block(2, 1, n, n);
  const Eigen::MatrixXd A = block;
  const Eigen::Map<const Eigen::MatrixXd> mapped(A.data(), n, n);
  Eigen::MatrixXd X(n, 3), Y(n + 4, 5), Z(n, 3);
  ASSERT_TRUE(solve(A, B, X, options()).outcome.ok());
  ASSERT_TRUE(solve(block, B, Y.block(4, 1, n, 3), options()).outcome.ok());
  ASSERT_TRUE(solve(mapped, B, Eigen::Map<Eigen::MatrixXd>(Z.data(), n, 3), options()).outcome.ok());
  EXPECT_LT(judged(A, B, X), hpl_threshold);
  EXPECT_LT(judged(A, B, Y.block(4, 1, n, 3)), hpl_threshold);
  EXPECT_LT(judged(A, B, Z), hpl_threshold);
}

TEST_P(Api, takes_vectors_as_spans_and_eigen_vectors) {
  const Matrix<double> A = random_matrix(n, n);
  const std::vector<double> b(n, 1.0);
  const Eigen::VectorXd ones = Eigen::VectorXd::Ones(n);
  std::vector<double> x(n);
  Eigen::VectorXd y(n);
  ASSERT_TRUE(solve(A, std::span(b), std::span(x), options()).outcome.ok());
  ASSERT_TRUE(solve(A, ones, y, options()).outcome.ok());
  EXPECT_LT(judged(A, std::span(b), std::span<const double>(x)), hpl_threshold);
  EXPECT_LT(judged(A, ones, y), hpl_threshold);
}

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
static_assert(!std::is_constructible_v<MatrixView<const double>, RowMajor&>, "row-major would be read transposed");
static_assert(!std::is_constructible_v<MatrixView<double>, const Eigen::MatrixXd&>, "const would be lost");
static_assert(!std::is_constructible_v<MatrixView<const double, Cuda>, Eigen::MatrixXd&>, "Eigen is on the host");
static_assert(!std::is_copy_constructible_v<Factorization<double>> && !std::is_copy_constructible_v<Matrix<double>>);

TEST_P(Api, factors_once_and_solves_many_also_after_a_move) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(n, n), before = rounded<T>(A);
    Factorization<T> first(A.view(), options());
    Factorization<T> factors = std::move(first);
    for (const std::int64_t nrhs : {1, 30, 4, 0})
      for (const Op op : {Op::none, Op::transpose}) {
        const Matrix<T> B = random_matrix<T>(n, nrhs, 5);
        Matrix<T> X(n, nrhs);
        const Report report = factors.solve(B.view(), X.view(), op);
        EXPECT_TRUE(report.outcome.ok());
        EXPECT_EQ(report.nrhs, nrhs);
        EXPECT_LT((hpl_residual<T>({A.view(), op}, B.view(), X.view())), hpl_threshold);
      }
    first = Factorization<T>(A.view(), options());
    factors = std::move(first);
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_TRUE(same_bits(A, before)) << "A was changed";
  });
}

TEST_P(Api, takes_the_adjoint_of_a_real_matrix_for_its_transpose) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t order : {1, 5, 200})
      for (const Precision precision : {Precision::automatic, Precision::fp32}) {
        const Matrix<T> A = random_matrix<T>(order, order), B = random_matrix<T>(order, 1, 5);
        Matrix<T> X(order, 1), Y(order, 1);
        Options o = options();
        o.precision = precision;
        EXPECT_TRUE(solve(A.view(), B.view(), X.view(), o, Op::transpose).outcome.ok());
        EXPECT_TRUE(solve(A.view(), B.view(), Y.view(), o, Op::conjugate_transpose).outcome.ok());
        EXPECT_TRUE(same_bits(X, Y)) << "n = " << order;
      }
  });
}

TEST_P(Api, solves_for_no_rows_however_many_columns_they_have) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t many = 1'000'000'000'000'000;
    for (const Refine refine : {Refine::none, Refine::classical}) {
      Options o = options();
      o.refine = refine;
      const Report report = solve(MatrixView<const T>(nullptr, 0, 0, 0), MatrixView<const T>(nullptr, 0, many, 0),
                                  MatrixView<T>(nullptr, 0, many, 0), o);
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.nrhs, many);
      EXPECT_EQ(report.backward_error, 0.0);
    }
  });
}

TEST_P(Api, overwrites_B) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 3);
    for (const auto& [check, refine] :
         {std::pair(false, Refine::none), {true, Refine::none}, {true, Refine::classical}}) {
      Options o = options();
      o.check = check;
      o.refine = refine;
      Matrix<T> X = rounded<T>(B);
      const Report report = solve(A.view(), X.view(), X.view(), o);
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.hpl_residual.has_value(), check);
      EXPECT_LT((hpl_residual<T>(A.view(), B.view(), X.view())), hpl_threshold);
    }
  });
}

TEST_P(Api, factors_in_place_what_is_handed_over) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const Method method : {Method::lu, Method::cholesky}) {
      const Matrix<T> A = rounded<T>(random_with_condition(n, 10, true)), B = random_matrix<T>(n, 3);
      Options o = options();
      o.factorization = method;
      Matrix<T> X(n, 3), Y(n, 3);
      ASSERT_TRUE(solve(A.view(), B.view(), X.view(), o).outcome.ok());
      Factorization<T> factors(rounded<T>(A), o);
      const Report report = factors.solve(B.view(), Y.view());
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_FALSE(report.backward_error.has_value());
      EXPECT_TRUE(says(notes_of(report), "not checked"));
      EXPECT_TRUE(same_bits(X, Y));
      Matrix<T> own = rounded<T>(A);
      Factorization<T> in_mine(Matrix<T>::lent(own), o);  // which is not released
      EXPECT_TRUE(in_mine.solve(B.view(), Y.view()).outcome.ok());
      EXPECT_TRUE(same_bits(X, Y));
      EXPECT_EQ(same_bits(own, A), GetParam().device != Device::cpu);  // where the factors are elsewhere
      o.check = false;
      EXPECT_EQ(Factorization<T>(rounded<T>(A), o).report().notes.size(), 0u);
    }
  });
}

// How it judges.

TEST_P(Api, judges_solutions_whose_norms_and_products_would_overflow) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const bool wide = std::is_same_v<T, double>;
    const T max = std::numeric_limits<T>::max(), large = wide ? T(3e200) : T(3e20), half = wide ? T(1e150) : T(1e30);
    struct System {
      const char* name;
      Matrix<T> A, B;
    };
    const auto all = [](auto m, auto k, auto element) { return matrix_of<T>(m, k, element); };
    std::vector<System> systems;
    const auto diagonal = [=](auto i, auto j) { return i != j ? T(0) : i == 0 ? large : T(3); };
    systems.push_back({"products", all(2, 2, diagonal), all(2, 1, [=](auto i, auto) { return i == 0 ? T(1) : half; })});
    systems.push_back(
        {"10 x", all(1, 1, [](auto, auto) { return 10; }), all(1, 1, [=](auto, auto) { return max / T(1.12); })});
    systems.push_back({"norm of A", all(9, 9, [=](auto i, auto j) { return i == j ? max : max / 8; }),
                       all(9, 2, [=](auto i, auto j) { return j == 0 ? T(i) : max / T(1 + i); })});
    systems.push_back({"one column of three", all(3, 3, [=](auto i, auto j) { return i == j ? large : T(1); }),
                       all(3, 3, [=](auto i, auto j) { return j == 1 ? max / T(2 + i) : T(i - j); })});
    for (const System& system : systems)
      for (const Refine refine : {Refine::none, Refine::classical})
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(testing::Message() << system.name << ", refine " << int(refine) << ", op " << int(op));
          Options o = options();
          o.refine = refine;
          const auto solved = solve_for(system.A, system.B, o, op);
          EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
          EXPECT_LT(solved.hpl, hpl_threshold);
          EXPECT_NEAR(solved.report.hpl_residual.value_or(99), solved.hpl, judged_by_report);
        }
  });
}

TEST_P(Api, finds_a_wrong_solution_whose_products_would_overflow) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    // Cholesky factors the lower triangle, and the matrix is not symmetric.
    const T large = std::numeric_limits<T>::max() / 4;
    const auto A = matrix_of<T>(3, 3, [=](auto i, auto j) { return i == j || j == i + 1 ? large : T(0); });
    const auto B = matrix_of<T>(3, 1, [=](auto, auto) { return 2 * large; });
    Options o = options();
    o.factorization = Method::cholesky;
    EXPECT_EQ(solve_for(A, B, o).report.outcome.kind, Outcome::not_symmetric);
  });
}

// What it reports.

/// The share of the total time that is in phases, checking left out. They may overlap on a device, and then add up to more.
double share_in_phases(const Report& report) {
  double sum = 0;
  for (const double seconds : report.phases.seconds) {
    EXPECT_GE(seconds, 0);
    sum += seconds;
  }
  return (sum - report.phases.seconds_of(Phase::check)) / report.total_seconds;
}

TEST_P(Api, reports_what_was_done_and_how_long_it_took) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = options(48);
    o.threads = 2;
    const auto start = std::chrono::steady_clock::now();
    const auto solved = solve_random(random_matrix<T>(400, 400), 3, o);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const Report& report = solved.report;
    expect_solved(solved);
    EXPECT_EQ(report.method, Method::lu);
    EXPECT_EQ(report.precision, GetParam().single ? Precision::fp32 : Precision::fp64);
    EXPECT_EQ(report.refine, Refine::none);
    EXPECT_EQ(report.block_size, 48);
    const bool on_cpu = GetParam().device == Device::cpu;
    EXPECT_EQ(report.device, on_cpu ? "cpu" : "cuda:0");
    EXPECT_TRUE(!on_cpu || report.threads == 2) << report.threads;
    EXPECT_TRUE(report.gemm == "blas" || report.gemm == "packed" || report.gemm == "cublas");

    EXPECT_GT(report.total_seconds, 0);
    EXPECT_LE(report.total_seconds, wall);
    double share = share_in_phases(report);
    EXPECT_TRUE(!on_cpu || share <= 1.01) << share;
    // While a device works for other programs, no phase of ours runs: the best of ten solves counts.
    for (int i = 1; i < 10 && share < 0.99; ++i)
      share = std::max(share, share_in_phases(solve_random(random_matrix<T>(400, 400), 3, o).report));
    EXPECT_GE(share, 0.99);
    EXPECT_GT(report.factor_seconds, 0);
    EXPECT_LE(report.factor_seconds, report.total_seconds * 1.01 + 1e-3);
    EXPECT_GT(report.solve_seconds, 0);
    EXPECT_NEAR(report.factor_gflops * report.factor_seconds, 2.0 / 3 * 400 * 400 * 400 * 1e-9, 1e-9);
    EXPECT_GT(report.phases.seconds_of(Phase::panel), 0);
    EXPECT_GT(report.phases.seconds_of(Phase::gemm), 0);
    EXPECT_NEAR(report.phases.flops_of(Phase::solve), 2.0 * 400 * 400 * 3, 1);
  });
}

TEST_P(Api, reports_progress_from_nothing_to_all) {
  Options o = options(32);
  std::vector<double> fractions;
  o.progress = [&](double done) { fractions.push_back(done); };
  for (const Method method : {Method::lu, Method::cholesky})
    for (const std::int64_t size : {30, 400}) {
      SCOPED_TRACE(testing::Message() << "n = " << size << ", method " << int(method));
      o.factorization = method;
      fractions.clear();
      expect_solved(solve_random(random_with_condition(size, 10, true), 1, o));
      ASSERT_FALSE(fractions.empty());
      EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
      EXPECT_GE(fractions.front(), 0);
      EXPECT_LE(fractions.back(), 1);
      EXPECT_GT(fractions.back(), 0.99);
    }
}

TEST(Reports, of_a_factorization_and_a_solve_are_combined) {
  const Matrix<double> A = random_matrix(60, 60), B = random_matrix(60, 1);
  Matrix<double> X(60, 1);
  Factorization factors(A.view());
  const Report solved = factors.solve(B.view(), X.view()), both = combined(factors.report(), solved);
  EXPECT_EQ(both.factor_seconds, factors.report().factor_seconds);
  EXPECT_EQ(both.solve_seconds, solved.solve_seconds);
  EXPECT_DOUBLE_EQ(both.total_seconds, factors.report().total_seconds + solved.total_seconds);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  EXPECT_EQ(together(factors.report(), solved).total_seconds, both.total_seconds);  // its name of the release before
#pragma GCC diagnostic pop
}

TEST(Outcomes, have_a_name_and_one_sentence) {
  EXPECT_EQ(Outcome{}.name(), "solved");
  EXPECT_TRUE(Outcome{}.ok());
  for (const Outcome outcome :
       {Outcome{Outcome::singular, 17}, {Outcome::not_positive_definite, 17}, {Outcome::not_converged, 17}}) {
    EXPECT_FALSE(outcome.ok());
    EXPECT_TRUE(says(outcome.message(), "17"));
    EXPECT_NE(outcome.name(), "");
  }
  EXPECT_FALSE((Outcome{Outcome::inaccurate, 0}).ok());
}

TEST_P(Api, takes_no_right_hand_side_after_a_failure_and_says_it_again) {
  const Matrix<double> A = with_zero_columns(random_matrix(n, n), 40, 1), B = random_matrix(n, 2);
  Factorization<double> factors(A.view(), options());
  Matrix<double> X(n, 2);
  expect_outcome(factors.report().outcome, Outcome::singular, 40);
  expect_outcome(factors.solve(B.view(), X.view()).outcome, Outcome::singular, 40);
}

template <class T>
void expect_all_nan(const Matrix<T>& X) {
  EXPECT_TRUE(as_eigen(X.view()).array().isNaN().all());
}

TEST_P(Api, leaves_no_number_of_before_in_X_where_there_is_no_solution) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t order : {3, 40, 200})
      for (const Method method : {Method::lu, Method::cholesky, Method::automatic})
        for (const Op op : {Op::none, Op::transpose}) {
          SCOPED_TRACE(testing::Message() << "n = " << order << ", method " << int(method) << ", op " << int(op));
          Matrix<T> A = rounded<T>(random_with_condition(order, 2, true));
          for (std::int64_t i = 0; i < order; ++i) A(i, order / 2) = A(order / 2, i) = 0;
          Options o = options();
          o.factorization = method;
          Matrix<T> X = random_matrix<T>(order, 3);  // of which the last column has nothing to do with it
          EXPECT_FALSE(
              solve(A.view(), random_matrix<T>(order, 2), X.view().columns(0, 2), o, op).outcome.has_solution());
          expect_all_nan(rounded<T>(X.view().columns(0, 2)));
          EXPECT_TRUE(as_eigen(X.view().columns(2, 1)).array().isFinite().all());
          Matrix<T> both = random_matrix<T>(order, 2);
          EXPECT_FALSE(Factorization<T>(A.view(), o).solve(both.view(), both.view(), op).outcome.has_solution());
          expect_all_nan(both);
          EXPECT_FALSE(Factorization<T>(std::move(A), o).solve(both.view(), both.view(), op).outcome.has_solution());
        }
  });
}

/// Data that is on the device already.
class ApiOnDevice : public OnTarget {};
TEST_P(ApiOnDevice, takes_device_memory) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Queue<Cuda> q(0);
    const Matrix<T> A = random_matrix<T>(n, n), B = random_matrix<T>(n, 3);
    const auto dA = upload(q, A), dB = upload(q, B);
    auto dX = upload(q, B);
    Factorization<T> factors(dA.view(), options());
    EXPECT_TRUE(factors.solve(dB.view(), dX.view()).outcome.ok());
    EXPECT_LT((hpl_residual<T>(A.view(), B.view(), download(q, dX))), hpl_threshold);
  });
}
TEST_P(ApiOnDevice, factors_device_memory_in_place) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Queue<Cuda> q(0);
    for (const std::int64_t size : {n, std::int64_t(1500)}) {
      const Matrix<T> A = random_matrix<T>(size, size), B = random_matrix<T>(size, 3);
      const auto dA = upload(q, A), dB = upload(q, B);
      auto dX = upload(q, B), dY = upload(q, B);
      EXPECT_TRUE(Factorization<T>(dA.view(), options()).solve(dB.view(), dX.view()).outcome.ok());
      EXPECT_TRUE(Factorization<T>(upload(q, A), options()).solve(dB.view(), dY.view()).outcome.ok());
      EXPECT_TRUE(same_bits(download(q, dX), download(q, dY)));
    }
  });
}
INSTANTIATE_TEST_SUITE_P(Cuda, ApiOnDevice, testing::ValuesIn(targets(Device::cuda)), name_of_target);

LASOLVE_ON_ALL_TARGETS(Api);

}  // namespace
}  // namespace lasolve::test
