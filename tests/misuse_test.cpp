// What the library refuses, and what it says then.
#include <Eigen/Core>

#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test::misuse_test {
namespace {

using Misuse = OnTarget;
constexpr std::int64_t n = 90;

TEST_P(Misuse, refuses_in_place_what_needs_A_again) {
  Matrix<double> A = random_matrix(n, n);
  Options o = options();
  o.refine = Refine::classical;
  EXPECT_THROW(Factorization<double>(rounded<double>(A), o), std::invalid_argument);
  o = options();
  o.precision = Precision::fp32;
  EXPECT_THROW(Factorization<double>(rounded<double>(A), o), std::invalid_argument);
  A(3, 4) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Factorization<double>(std::move(A), options()), std::invalid_argument);
  const auto indefinite = [](auto i, auto j) { return i == j ? 1 : 2; };
  const Report report = Factorization<double>(matrix_of<double>(n, n, indefinite), options()).report();
  expect_outcome(report.outcome, Outcome::not_positive_definite, 2);
  EXPECT_TRUE(says(notes_of(report), "LU could not be tried"));
}

TEST_P(Misuse, refuses_sizes_that_do_not_agree) {
  const Matrix<double> A = random_matrix(5, 5), wide = random_matrix(5, 6), B = random_matrix(5, 2);
  Matrix<double> X(5, 2), narrow(5, 1), shallow(4, 2);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve(wide, B, X, options()); }), "not square"));
  EXPECT_THROW(Factorization<double>(wide.view(), options()), std::invalid_argument);
  const std::vector<double> rows(6);
  EXPECT_TRUE(says(
      complaint_of<std::invalid_argument>([&] { Factorization<double>(row_major(rows, 2, 3), options()); }), "2 × 3"));
  for (Matrix<double>* wrong : {&narrow, &shallow}) {
    EXPECT_THROW(solve(A, B, *wrong, options()), std::invalid_argument);
    EXPECT_THROW(solve(A, *wrong, X, options()), std::invalid_argument);
    EXPECT_THROW(Factorization<double>(A.view(), options()).solve(B.view(), wrong->view()), std::invalid_argument);
  }
  double x = 0;
  EXPECT_THROW(MatrixView<double>(&x, 3, 1, 2), std::invalid_argument);
  EXPECT_THROW(MatrixView<double>(&x, -1, 1, 1), std::invalid_argument);
  EXPECT_THROW(MatrixView<double>(nullptr, 1, 1, 1), std::invalid_argument);
}

TEST_P(Misuse, refuses_a_matrix_with_nan_or_infinity) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity()})
      for (const std::int64_t at : {std::int64_t(0), n - 1}) {
        Matrix<T> A = random_matrix<T>(n, n);
        A(at, n - 1 - at) = bad;
        const auto factor = [&] { Factorization<T>(A.view(), options()); };
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>(factor), "NaN or infinite"));
      }
  });
}

TEST_P(Misuse, refuses_a_right_hand_side_with_nan_or_infinity_and_says_so) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(n, n);
    Factorization<T> factors(A.view(), options());
    for (const T bad : {std::numeric_limits<T>::quiet_NaN(), -std::numeric_limits<T>::infinity()})
      for (const std::int64_t column : {0, 2}) {
        Matrix<T> B = random_matrix<T>(n, 3), X(n, 3);
        B(n - 1, column) = bad;
        const auto solve_it = [&] { factors.solve(B.view(), X.view()); };
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>(solve_it), "right-hand sides have an entry that is NaN"));
        B(n - 1, column) = 1;
        EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
      }
  });
}

/// B is found to be misuse when X is there: neither refinement that it stops nor a solve in place may hide that.
TEST_P(Misuse, refuses_such_a_right_hand_side_in_place_and_with_coarse_factors) {
  const Matrix<double> A = random_matrix(n, n);
  for (const Precision precision : {Precision::automatic, Precision::fp32})
    for (const bool in_place : {false, true})
      for (const Op op : {Op::none, Op::transpose}) {
        Options o = options();
        o.precision = precision;
        Factorization<double> factors(A.view(), o);
        Matrix<double> B = random_matrix(n, 2), X(n, 2);
        B(1, 1) = std::numeric_limits<double>::quiet_NaN();
        const MatrixView<double> to = in_place ? B.view() : X.view();
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(B.view(), to, op); }),
                         "right-hand sides have an entry that is NaN"));
        EXPECT_EQ(notes_of(factors.report()), "") << "the factors were replaced";
        const Matrix<double> good = random_matrix(n, 2);
        EXPECT_TRUE(factors.solve(good.view(), X.view(), op).outcome.ok());
        EXPECT_LT((hpl_residual<double>({A.view(), op}, good.view(), X.view())), hpl_threshold);
      }
}

/// As a binding passes on what it was given.
TEST_P(Misuse, refuses_what_is_no_enumerator) {
  const Matrix<double> A = random_matrix(5, 5), B = random_matrix(5, 1);
  Matrix<double> X(5, 1);
  const auto complains = [&](const char* what, auto set) {
    Options o = options();
    set(o);
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve(A, B, X, o); }), what));
  };
  complains("Options::device", [](Options& o) { o.device.kind = Device::Kind(3); });
  complains("Options::factorization", [](Options& o) { o.factorization = Method(77); });
  complains("Options::pivoting", [](Options& o) { o.pivoting = Pivoting(-1); });
  complains("Options::triangle", [](Options& o) { o.triangle = Uplo(-1); });
  complains("Options::precision", [](Options& o) { o.precision = Precision(6); });
  complains("Options::refine", [](Options& o) { o.refine = Refine(4); });
  complains("Options::residual", [](Options& o) { o.residual = Residual(2); });
  complains("Options::equilibrate", [](Options& o) { o.equilibrate = Wanted::Kind(-1); });
  complains("Options::storage", [](Options& o) { o.storage = Precision(-1); });
  complains("Options::schedule", [](Options& o) { o.schedule = Schedule(99); });
  Factorization<double> factors(A.view(), options());
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(B.view(), X.view(), Op(3)); }), "op"));
}

TEST_P(Misuse, of_names_and_of_what_is_not_finite_has_types_of_its_own) {
  Matrix<double> A = random_matrix(5, 5), B = random_matrix(5, 1), X(5, 1);
  Options o = options();
  o.gemm = std::string("tilde");
  EXPECT_THROW(solve(A, B, X, o), UnknownName);
  A(1, 2) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(A, B, X, options()), NotFinite);
}

TEST_P(Misuse, refuses_a_negative_block_size) {
  EXPECT_THROW(solve_random(random_matrix(5, 5), 1, options(-1)), std::invalid_argument);
}

TEST_P(Misuse, refuses_a_negative_number_of_threads) {
  Options o = options();
  o.threads = -1;
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "threads"));
}

TEST(MisuseOfBackends, is_a_record_that_is_not_there) {
  Options o;
  for (const GemmChoice& none : {GemmChoice(static_cast<const GemmBackend<Cpu>*>(nullptr)),
                                 GemmChoice(static_cast<const GemmBackend<Cuda>*>(nullptr))}) {
    o.gemm = none;
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "null"));
  }
}

TEST(MisuseOfDevices, is_an_index_of_what_is_not_numbered) {
  for (const Device device : {Device{Device::cpu, 3}, Device{Device::automatic, 1}}) {
    Options o;
    o.device = device;
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "index"));
    EXPECT_THROW(tuning_of(device), std::invalid_argument);
  }
}

TEST(MisuseOfDevices, of_the_right_hand_sides_is_that_of_the_factors) {
  Options o;
  o.device.kind = Device::cpu;
  const Matrix<double> A = random_matrix(5, 5);
  Matrix<double> X = random_matrix(5, 1);
  Factorization<double> factors(A.view(), o);
  const MatrixView<double, Cuda> elsewhere(X.data(), 5, 1, 5);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(elsewhere, elsewhere); }), "on the CPU"));
}

TEST_P(Misuse, refuses_all_that_is_asked_of_factors_that_were_moved_from) {
  const Matrix<double> A = random_matrix(5, 5), B = random_matrix(5, 2);
  Matrix<double> X(5, 2);
  Factorization<double> first(A.view(), options()), second = std::move(first);
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { first.report(); }), "moved from"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { first.solve(B.view(), X.view()); }), "moved from"));
  EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { first.rcond(); }), "moved from"));
  first = std::move(second);
  EXPECT_TRUE(first.solve(B.view(), X.view()).outcome.ok());
}

TEST_P(Misuse, refuses_solutions_that_overlap_their_right_hand_sides_and_takes_those_that_are_between_them) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t rows = 6, nrhs = 3, ld = 2 * rows + 1;
    const Matrix<T> A = random_matrix<T>(rows, rows), B = random_matrix<T>(rows, nrhs);
    Factorization<T> factors(A.view(), options());
    struct Layout {
      std::int64_t at, ld;  // of X; B is at 40 with the ld above
      bool fits;
    };
    for (const Layout& layout : {Layout{40, ld, true},
                                 {40, ld + 1, false},
                                 {40, rows, false},
                                 {41, ld, false},
                                 {39, ld, false},
                                 {40 + rows - 1, ld, false},
                                 {40 + rows, ld, true},
                                 {40 + rows + 1, ld, true},
                                 {40 + rows + 2, ld, false},
                                 {40 - rows - 2, ld, false},
                                 {40 - rows - 1, ld, true},
                                 {40 - rows, ld, true},
                                 {40 + ld, ld, false},
                                 {40 - ld + rows, ld, true},
                                 {40 + rows, ld + 1, false},
                                 {40 + 2 * ld + rows, ld + 1, true},
                                 {40 - nrhs * rows, rows, true},
                                 {40 - nrhs * rows + 1, rows, false}}) {
      SCOPED_TRACE(testing::Message() << "X at " << layout.at << ", ld " << layout.ld);
      std::vector<T> memory(200, T(0));
      const MatrixView<T> b(memory.data() + 40, rows, nrhs, ld), X(memory.data() + layout.at, rows, nrhs, layout.ld);
      as_eigen(b) = as_eigen(B.view());
      if (layout.fits) {
        EXPECT_TRUE(factors.solve(b, X).outcome.ok());
        EXPECT_LT((hpl_residual<T>(A.view(), B.view(), X)), hpl_threshold);
      } else {
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(b, X); }), "overlap"));
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { solve(A.view(), b, X, options()); }), "overlap"));
      }
    }
    Matrix<T> x = rounded<T>(B);  // of one column the leading dimension means nothing
    const MatrixView<T> column(x.data(), rows, 1, rows), same(x.data(), rows, 1, rows + 3);
    EXPECT_TRUE(factors.solve(column, same).outcome.ok());
    EXPECT_LT((hpl_residual<T>(A.view(), B.view().columns(0, 1), column)), hpl_threshold);
  });
}

/// In one memory of 3 n rows, whose first n are A.
TEST_P(Misuse, refuses_solutions_that_overlap_A_and_takes_those_that_are_between_its_columns) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t order : {5, 60}) {
      const std::int64_t ld = 3 * order;
      Matrix<T> whole(ld, order + 2, ld);
      const Matrix<T> B = random_matrix<T>(order, 2);
      const MatrixView<T> A = whole.view().block(0, 0, order, order);
      const Matrix<T> copy = random_matrix<T>(order, order);
      as_eigen(A) = as_eigen(copy.view());
      Options unchecked = options();
      unchecked.check = false;
      Options refined = unchecked;
      refined.refine = Refine::classical;
      Factorization<T> factors(A, options()), not_read_again(A, unchecked), read_to_refine(A, refined);
      struct Layout {
        std::int64_t row, column, columns, ld;
        bool fits;
      };
      for (const auto& [row, column, columns, its_ld, fits] : {Layout{0, 0, 2, ld, false},
                                                               {0, order - 1, 1, order, false},
                                                               {order - 1, 0, 2, ld, false},
                                                               {ld - 1, 0, 2, ld, false},
                                                               {order, 0, 2, ld, true},
                                                               {2 * order, 1, 1, order, true},
                                                               {order, order - 3, 2, ld, true},
                                                               {0, order, 2, ld, true},
                                                               {order, 0, 2, order, false}}) {
        SCOPED_TRACE(testing::Message() << "X at row " << row << ", column " << column << ", ld " << its_ld);
        const MatrixView<T> X(whole.data() + row + column * ld, order, columns, its_ld);
        const auto b = B.view().columns(0, columns);
        if (fits) {
          EXPECT_TRUE(factors.solve(b, X).outcome.ok());
          EXPECT_TRUE(solve(A, b, X, options()).outcome.ok());
        } else {
          EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { factors.solve(b, X); }), "overlap the matrix"));
          EXPECT_TRUE(
              says(complaint_of<std::invalid_argument>([&] { solve(A, b, X, unchecked); }), "overlap the matrix"));
        }
        EXPECT_TRUE(as_eigen(A) == as_eigen(copy.view()));
      }
      RowMajorView<T> X = row_major(whole.data(), order, 2);
      const auto rows = [&](auto& f) { return f.solve(row_major(B.data(), order, 2), X); };
      for (auto* reads_A : {&factors, &read_to_refine})
        EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { rows(*reads_A); }), "overlap the matrix"));
      EXPECT_TRUE(
          says(complaint_of<std::invalid_argument>([&] { solve(A, row_major(B.data(), order, 2), X, options()); }),
               "overlap the matrix"));
      EXPECT_TRUE(rows(not_read_again).outcome.ok()) << "A may go";
    }
  });
}

TEST(MisuseOfEigen, has_columns_that_do_not_overlap) {
  using Strided = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
  std::vector<double> memory(100, 1.0);
  double* const p = memory.data() + 50;
  const auto view = [](auto&& x) { return MatrixView<double>(x); };
  for (const Eigen::Index stride : {-10, -1, 0, 1, 4}) {
    SCOPED_TRACE(stride);
    Strided map(p, 5, 3, Eigen::OuterStride<>(stride));
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { view(map); }), "outer stride"));
    Strided one(p, 5, 1, Eigen::OuterStride<>(stride));  // nothing is a stride away
    EXPECT_EQ(view(one).ld(), 5);
  }
  EXPECT_EQ(view(Strided(p, 5, 3, Eigen::OuterStride<>(5))).ld(), 5);
  EXPECT_EQ(view(Strided(p, 5, 3, Eigen::OuterStride<>(9))).ld(), 9);
  using Vector = Eigen::Map<Eigen::VectorXd, 0, Eigen::InnerStride<>>;
  for (const Eigen::Index stride : {-1, 0, 2})
    EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { view(Vector(p, 5, Eigen::InnerStride<>(stride))); }),
                     "inner stride"));
  EXPECT_EQ(view(Vector(p, 5, Eigen::InnerStride<>(1))).ld(), 5);
  Eigen::RowVectorXd row(7);
  EXPECT_EQ(view(row).ld(), 1);
  EXPECT_EQ(view(row).cols(), 7);
}

LASOLVE_ON_ALL_TARGETS(Misuse);

}  // namespace
}  // namespace lasolve::test::misuse_test
