// A = L Lᵀ and what is solved with it, on the CPU and on CUDA.
#include "core/choose.hpp"
#include "core/symmetric.hpp"
#include "devices.hpp"
#include "systems.hpp"

namespace lasolve::test::cholesky_test {
namespace {

/// Symmetric, with every leading minor positive but those from order `at` + 1 on.
template <class T>
Matrix<T> positive_definite_up_to(std::int64_t n, std::int64_t at) {
  Matrix<T> A = rounded<T>(random_with_condition(n, 2, true));
  A(at, at) = T(0.01);  // below what is needed, yet positive: only elimination can tell
  for (std::int64_t i = 0; i < n; ++i)
    if (i != at) A(i, at) = A(at, i) = T(i % 2 == 0 ? 0.5 : -0.5);
  return A;
}

class Cholesky : public OnTarget {
 protected:
  Options cholesky(std::int64_t block_size = 0) const {
    Options o = options(block_size);
    o.factorization = Method::cholesky;
    return o;
  }
};

TEST_P(Cholesky, solves_sizes_around_the_block_size) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::uint64_t turn = 0;
    for (std::int64_t nb : {1, 7, 32, 64, 160, 0})
      for (std::int64_t n : {1, 2, 3, 5, 10, 16, 31, 32, 33, 63, 64, 65, 67, 131, 333}) {
        const std::int64_t nrhs = std::vector{1, 2, 15, 16, 40}[turn++ % 5];
        const Op op = turn % 2 == 0 ? Op::none : Op::transpose;
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb << ", nrhs = " << nrhs);
        const auto solved = solve_random(rounded<T>(random_with_condition(n, 100, true)), nrhs, cholesky(nb), op);
        expect_solved(solved);
        EXPECT_EQ(solved.report.method, Method::cholesky);
      }
  });
}

TEST_P(Cholesky, solves_with_every_schedule) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    expect_every_schedule_solves(cholesky(),
                                 [](std::int64_t n) { return rounded<T>(random_with_condition(n, 100, true)); });
  });
}

/// On CUDA at the larger sizes.
TEST_P(Cholesky, solves_where_rows_go_apart) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {1, 129, 700, 1300}) {
      SCOPED_TRACE(testing::Message() << "n = " << n);
      Options o = cholesky(n < 1000 ? 96 : 0);
      o.tuning = tuning_of(o.device);
      o.tuning->cholesky_product_binds = 300'000;
      for (const Schedule schedule : {Schedule::left_looking, Schedule::right_looking, Schedule::recursive}) {
        o.schedule = schedule;
        expect_solved(solve_random(rounded<T>(random_with_condition(n, 10, true)), 2, o));
      }
    }
  });
}

TEST_P(Cholesky, solves_sizes_around_leaves_and_panels) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (std::int64_t n : {127, 128, 129, 191, 255, 256, 257, 320, 511, 512, 513, 700, 1025})
      for (std::int64_t nb : {0, 96, 512}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb);
        const Matrix<T> A = rounded<T>(random_with_condition(n, 100, true));
        const auto solved = solve_random(A, 2, cholesky(nb));
        expect_solved(solved);
        const auto again = solve_random(A, 2, cholesky(nb));
        EXPECT_TRUE(same_bits(solved.X, again.X));
      }
  });
}

TEST_P(Cholesky, solves_each_positive_definite_type) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const MatrixType& type : positive_definite_types)
      for (std::int64_t n : {1, 2, 10, 33, 130}) {
        SCOPED_TRACE(testing::Message() << type.name << ", n = " << n);
        expect_solved(solve_random(rounded<T>(type.make(n, floating_point<T>)), 3, judged_by_residual(cholesky(32))));
      }
    expect_solved(solve_random(rounded<T>(hilbert(std::is_same_v<T, double> ? 10 : 4)), 2, cholesky()));
  });
}

TEST_P(Cholesky, reports_the_order_of_the_first_minor_that_is_not_positive) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 140;
    for (std::int64_t nb : {1, 7, 32, 64, 0})
      for (std::int64_t at : {1, 2, 6, 7, 8, 31, 32, 33, 63, 64, 65, 127, 128, 139}) {
        SCOPED_TRACE(testing::Message() << "nb = " << nb << ", at " << at);
        const Matrix<T> A = positive_definite_up_to<T>(n, at);
        expect_outcome(Factorization<T>(A.view(), cholesky(nb)).report().outcome, Outcome::not_positive_definite,
                       at + 1);
      }
    for (const T first : {T(0), T(-1)}) {
      Matrix<T> A = rounded<T>(random_with_condition(n, 2, true));
      A(0, 0) = first;
      expect_outcome(Factorization<T>(A.view(), cholesky()).report().outcome, Outcome::not_positive_definite, 1);
    }
  });
}

TEST_P(Cholesky, finds_what_is_wrong_in_any_column_of_a_leaf_or_a_panel) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 700;
    const Matrix<T> definite = rounded<T>(random_with_condition(n, 2, true));
    Options o = cholesky();
    o.check = false;
    for (std::int64_t nb : {0, 96, 512}) {
      o.block_size = nb;
      for (std::int64_t at : {1, 30, 63, 64, 95, 96, 127, 128, 255, 256, 300, 511, 512, 639, 640, 699}) {
        SCOPED_TRACE(testing::Message() << "nb = " << nb << ", at " << at);
        Matrix<T> A = positive_definite_up_to<T>(n, at);
        expect_outcome(Factorization<T>(A.view(), o).report().outcome, Outcome::not_positive_definite, at + 1);
        A = rounded<T>(definite);
        A(at, at) = std::numeric_limits<T>::quiet_NaN();
        expect_outcome(Factorization<T>(A.view(), o).report().outcome, Outcome::not_positive_definite, at + 1);
      }
    }
  });
}

TEST_P(Cholesky, is_automatic_for_a_symmetric_matrix_with_a_positive_diagonal) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 150;
    const Matrix<T> symmetric = rounded<T>(random_with_condition(n, 2, true));
    expect_solved(solve_random(symmetric, 2, options()));
    EXPECT_EQ(Factorization<T>(symmetric.view(), options()).report().method, Method::cholesky);

    Matrix<T> skew = rounded<T>(symmetric);
    skew(n - 1, 0) += T(20 * unit_roundoff<T>);
    EXPECT_EQ(Factorization<T>(skew.view(), options()).report().method, Method::lu);
    Matrix<T> flat = rounded<T>(symmetric);
    flat(n - 1, n - 1) = 0;
    EXPECT_EQ(Factorization<T>(flat.view(), options()).report().method, Method::lu);
  });
}

/// As in a product M Mᵀ whose halves were summed in different orders, in any units: the check is of both halves.
TEST_P(Cholesky, is_automatic_where_the_halves_differ_by_roundoff) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Random random(3);
    for (const std::int64_t n : {2, 20, 50, 100, 150, 600})
      for (const bool in_units : {false, true}) {
        SCOPED_TRACE(testing::Message() << "n = " << n << ", in units " << in_units);
        Matrix<T> A = rounded<T>(random_with_condition(n, 2, true));
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t i = 0; i < j; ++i)
            A(i, j) += T(6 * unit_roundoff<T> * random() * std::sqrt(A(i, i) * A(j, j)));
        for (std::int64_t j = 0; in_units && j < n; ++j)
          for (std::int64_t i = 0; i < n; ++i) A(i, j) = std::ldexp(A(i, j), int(i % 5 + j % 5));
        const auto solved = solve_random(A, 2, options(), n % 20 == 0 ? Op::none : Op::transpose);
        expect_solved(solved);
        EXPECT_EQ(solved.report.method, Method::cholesky);
        EXPECT_EQ(notes_of(solved.report), "");
        Matrix<T> skew = rounded<T>(A);
        skew(n - 1, 0) += T(40 * unit_roundoff<T>) * std::sqrt(A(0, 0) * A(n - 1, n - 1));
        EXPECT_EQ(Factorization<T>(skew.view(), options()).report().method, Method::lu);
      }
  });
}

TEST(EqualButForRoundoff, means_the_same_in_all_units) {
  for (const int power : {-1000, -600, -401, -399, 0, 499, 501, 900, 1020}) {
    const double d = std::ldexp(1.0, power), e = 4 * d, a = 0.7 * d;  // sqrt(d e) = 2 d
    EXPECT_TRUE(equal_but_for_roundoff(a, a + 14 * unit_roundoff<double> * d, d, e)) << power;
    EXPECT_FALSE(equal_but_for_roundoff(a, a + 18 * unit_roundoff<double> * d, d, e)) << power;
    EXPECT_FALSE(equal_but_for_roundoff(a, a + 14 * unit_roundoff<double> * d, d, d)) << power;
  }
  EXPECT_FALSE(equal_but_for_roundoff(1.0, std::nan(""), 1.0, 1.0));
}

TEST_P(Cholesky, takes_a_subnormal_pivot_for_the_positive_number_that_it_is) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const T tiny = std::numeric_limits<T>::min() / 16;
    for (const std::int64_t at : {0, 13, 69}) {
      const auto A = matrix_of<T>(70, 70, [=](auto i, auto j) { return i == j ? (i == at ? tiny : T(1)) : T(0); });
      Options unchecked = judged_by_residual(cholesky());
      unchecked.check = false;
      const auto B = matrix_of<T>(70, 1, [=](auto i, auto) { return i == at ? std::sqrt(tiny) : T(1); });
      const auto solved = solve_for(A, B, unchecked);
      EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
      EXPECT_NEAR(double(solved.X(at, 0) * std::sqrt(tiny)), 1, 1e-5);
    }
  });
}

TEST_P(Cholesky, falls_back_to_lu_with_a_note_when_it_was_not_asked_for_by_name) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto solved = solve_random(positive_definite_up_to<T>(150, 70), 3, options());
    expect_solved(solved);
    EXPECT_EQ(solved.report.method, Method::lu);
    EXPECT_NE(notes_of(solved.report).find("LU was used instead of Cholesky"), std::string::npos);
  });
}

TEST_P(Cholesky, reads_only_the_triangle_that_is_given) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const Uplo triangle : {Uplo::lower, Uplo::upper})
      for (const auto& [n, nb] : std::vector<std::pair<std::int64_t, std::int64_t>>{
               {20, 7}, {130, 32}, {350, 0}, {350, 160}, {700, 0}, {700, 64}, {1025, 0}})
        for (const std::int64_t nrhs : {1, 20}) {
          SCOPED_TRACE(testing::Message()
                       << "triangle " << int(triangle) << ", n = " << n << ", nb = " << nb << ", nrhs = " << nrhs);
          const OneTriangle<T> A(rounded<T>(random_with_condition(n, 10, true)), triangle);
          const Matrix<T> B = right_hand_sides<T>(A.whole.view(), nrhs);
          Options o = cholesky(nb);
          o.triangle = triangle;
          for (const bool check : {true, false}) {
            o.check = check;
            const auto solved = solve_for(A.half, B, o, n % 20 == 0 ? Op::none : Op::transpose);
            EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
            const double hpl = hpl_residual<T>(A.whole.view(), B.view(), solved.X.view());
            EXPECT_LT(hpl, hpl_threshold);
            EXPECT_NEAR(solved.report.hpl_residual.value_or(hpl), hpl, judged_by_report);
            EXPECT_EQ(solved.report.hpl_residual.has_value(), check);
          }
        }
  });
}

TEST_P(Cholesky, is_meant_where_one_triangle_is_given_and_else_LU_of_the_symmetric_matrix) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const Uplo triangle : {Uplo::lower, Uplo::upper})
      for (const std::int64_t n : {2, 20, 130, 700})
        for (const bool positive : {true, false})
          for (const Method method : {Method::automatic, Method::lu}) {
            SCOPED_TRACE(testing::Message() << "triangle " << int(triangle) << ", n = " << n << ", positive "
                                            << positive << ", method " << int(method));
            Matrix<T> S = rounded<T>(random_with_condition(n, 10, true));
            if (!positive) as_eigen(S.view()).diagonal().array() -= T(0.3);
            const OneTriangle<T> A(std::move(S), triangle);
            const Matrix<T> B = right_hand_sides<T>(A.whole.view(), 2);
            Options o = options();
            o.triangle = triangle, o.factorization = method;
            const auto solved = solve_for(A.half, B, o, n % 20 == 0 ? Op::none : Op::transpose);
            EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
            EXPECT_LT(hpl_residual<T>(A.whole.view(), B.view(), solved.X.view()), hpl_threshold);
            EXPECT_LT(solved.report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
            const bool cholesky = method == Method::automatic && positive;
            EXPECT_EQ(solved.report.method, cholesky ? Method::cholesky : Method::lu);
            const bool said = notes_of(solved.report).find("LU was used instead of Cholesky") != std::string::npos;
            EXPECT_EQ(said, method == Method::automatic && !positive);
          }
  });
}

TEST_P(Cholesky, refines_in_place_and_refuses_with_the_triangle_that_is_given) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 150;
    for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
      SCOPED_TRACE(testing::Message() << "triangle " << int(triangle));
      OneTriangle<T> A(rounded<T>(random_with_condition(n, 10, true)), triangle);
      const Matrix<T> B = right_hand_sides<T>(A.whole.view(), 3);
      Options o = cholesky(32);
      o.triangle = triangle;
      o.refine = Refine::classical;
      if (std::is_same_v<T, double>) o.precision = Precision::fp32;
      const auto refined = solve_for(A.half, B, o);
      EXPECT_TRUE(refined.report.outcome.ok()) << refined.report.outcome.message();
      EXPECT_LT(hpl_residual<T>(A.whole.view(), B.view(), refined.X.view()), hpl_threshold);

      o = cholesky(32);
      o.triangle = triangle;
      Matrix<T> X(n, 3);
      EXPECT_TRUE(Factorization<T>(rounded<T>(A.half), o).solve(B.view(), X.view()).outcome.ok());
      EXPECT_LT(hpl_residual<T>(A.whole.view(), B.view(), X.view()), hpl_threshold);

      (triangle == Uplo::lower ? A.half(100, 7) : A.half(7, 100)) = std::numeric_limits<T>::infinity();
      EXPECT_TRUE(says(complaint_of<std::invalid_argument>([&] { Factorization<T>(A.half.view(), o); }), "NaN or inf"));
      // With both triangles there, NaN in any of them is misuse.
      o.triangle = Uplo::both;
      EXPECT_THROW(Factorization<T>(A.half.view(), o), std::invalid_argument);
    }
  });
}

/// In a narrow range A is scaled by its largest element, which is not looked for in the other triangle.
TEST_P(Cholesky, in_a_narrow_range_is_scaled_by_the_triangle_that_is_given) {
  Options o = cholesky();
  for (const Precision precision : {Precision::fp16, Precision::bf16})
    for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
      SCOPED_TRACE(testing::Message() << name_of(precision) << ", triangle " << int(triangle));
      o.precision = precision, o.triangle = triangle;
      OneTriangle<double> A(random_with_condition(150, 10, true), triangle);
      const Matrix<double> B = right_hand_sides<double>(A.whole.view(), 1);
      const auto expected = solve_for(A.half, B, o);
      EXPECT_LT(hpl_residual<double>(A.whole.view(), B.view(), expected.X.view()), hpl_threshold);
      EXPECT_EQ(expected.report.precision, precision);
      for (const double other : {1e30, 1e300, 0.0}) {
        for (std::int64_t j = 0; j < 150; ++j)
          for (std::int64_t i = 0; i < j; ++i) (triangle == Uplo::lower ? A.half(i, j) : A.half(j, i)) = other;
        EXPECT_TRUE(same_bits(solve_for(A.half, B, o).X, expected.X)) << other;
      }
    }
}

TEST_P(Cholesky, with_one_triangle_is_judged_by_the_residual_of_the_whole_matrix) {
  Options o = options();
  o.factorization = Method::cholesky;
  o.precision = Precision::fp32;  // so that the residual is far above the roundoff with which it is computed
  o.refine = Refine::none;
  for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
    o.triangle = triangle;
    const OneTriangle<double> A(random_with_condition(200, 1e3, true), triangle);
    const Matrix<double> B = right_hand_sides<double>(A.whole.view(), 2);
    const auto solved = solve_for(A.half, B, o);
    const double hpl = hpl_residual<double>(A.whole.view(), B.view(), solved.X.view());
    EXPECT_GT(hpl, 1e3);
    EXPECT_NEAR(solved.report.backward_error.value_or(0) / (200 * unit_roundoff<double>) / hpl, 1, 1e-5);
  }
}

TEST_P(Cholesky, of_a_matrix_that_is_not_symmetric_says_so_in_its_outcome) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    // With the largest scale ‖A‖∞ overflows, which must not make the backward error look like zero.
    for (const T scale : {T(1), std::numeric_limits<T>::max() / 8}) {
      const auto A = matrix_of<T>(50, 50, [=](auto i, auto j) { return i == j || (i == 3 && j > i) ? scale : T(0); });
      const Report report = solve_random(A, 2, cholesky()).report;
      EXPECT_EQ(report.outcome.kind, Outcome::not_symmetric) << "scale " << scale;
      EXPECT_TRUE(says(report.outcome.message(), "not symmetric"));
      EXPECT_FALSE(report.digits.has_value());
    }
    const auto two = matrix_of<T>(2, 2, [](auto i, auto j) { return std::vector{2, 1, 5, 2}[std::size_t(i + 2 * j)]; });
    EXPECT_EQ(solve_random(two, 1, cholesky()).report.outcome.kind, Outcome::not_symmetric);
  });
}

TEST_P(Cholesky, gives_the_same_bits_again_with_every_backend) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = rounded<T>(random_with_condition(400, 100, true)), B = random_matrix<T>(400, 20);
    for (const std::string& name : runnable_backends(options().device, precision_of<T>)) {
      SCOPED_TRACE(name);
      Options o = cholesky();
      o.gemm = name;
      const auto solved = solve_for(A, B, o);
      expect_solved(solved);
      EXPECT_TRUE(same_bits(solved.X, solve_for(A, B, o).X));
    }
  });
}

LASOLVE_ON_ALL_TARGETS(Cholesky);

/// Where the rows of panels go apart, at first because they are many, then because the products bind, and at last do not.
template <class T>
void expect_large_solved(std::int64_t nb) {
  const std::int64_t n = 6600;
  const Matrix<T> R = random_matrix<T>(n, n);
  const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return i == j ? T(n) : R(std::max(i, j), std::min(i, j)); });
  Options o;
  o.factorization = Method::cholesky;
  o.schedule = Schedule::left_looking;
  o.block_size = nb;
  expect_solved_on_cuda(A, o);
}

TEST(CholeskyOnCuda, solves_a_large_system) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const std::int64_t nb : {0, 300, 700}) {
    SCOPED_TRACE(testing::Message() << "nb = " << nb);
    expect_large_solved<double>(nb);
    expect_large_solved<float>(nb);
  }
}

}  // namespace
}  // namespace lasolve::test::cholesky_test
