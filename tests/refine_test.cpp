// Factors coarser than A, refined to its accuracy: when that works, when it stalls, and what is said about it.
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

using Refinement = OnTarget;

/// fp32 factors of an fp64 matrix.
class CoarseFactors : public OnTarget {
 protected:
  Options coarse(Refine refine = Refine::automatic, Method method = Method::lu) const {
    Options o = options(32);
    o.factorization = method;
    o.precision = Precision::fp32;
    o.refine = refine;
    return o;
  }
};

TEST_P(CoarseFactors, are_refined_to_fp64) {
  for (double kappa : {1e1, 1e3, 1e5})
    for (Method method : {Method::lu, Method::cholesky})
      for (Op op : {Op::none, Op::transpose})
        for (std::int64_t nrhs : {1, 20}) {
          SCOPED_TRACE(testing::Message()
                       << "κ = " << kappa << ", method " << int(method) << ", op " << int(op) << ", nrhs = " << nrhs);
          const Matrix<double> A = random_with_condition(200, kappa, method == Method::cholesky);
          const auto solved = solve_random(A, nrhs, coarse(Refine::automatic, method), op);
          expect_solved(solved);
          EXPECT_EQ(solved.report.precision, Precision::fp32);
          EXPECT_EQ(solved.report.refine, Refine::classical);
          EXPECT_EQ(solved.report.method, method);
          EXPECT_GT(solved.report.refine_iterations, 0);
          const std::vector<double>& residuals = solved.report.refinement_residuals;
          ASSERT_EQ(residuals.size(), std::size_t(solved.report.refine_iterations + 1));
          EXPECT_LT(residuals.front(), 1e-3);
          EXPECT_LE(residuals.back(), 200 * unit_roundoff<double>);
          EXPECT_TRUE(std::is_sorted(residuals.rbegin(), residuals.rend()));
          EXPECT_EQ(notes_of(solved.report), "");
        }
}

struct Stubborn {
  const char* name;
  Matrix<double> (*make)();
  const char* note;
};
const Stubborn too_hard_for_fp32[] = {
    {"condition", [] { return random_with_condition(200, 1e12); }, "stalled"},
    {"overflow", [] { return scaled(1e200, random_with_condition(60, 10)); }, ""},
    {"underflow", [] { return scaled(1e-200, random_with_condition(60, 10)); }, "in fp32"},
    {"one large entry",
     [] {
       Matrix<double> A = random_with_condition(60, 10);
       A(30, 40) = 1e100;
       return A;
     },
     ""},
};

/// Though fp32 has no such numbers. A first update more is their solution.
TEST_P(CoarseFactors, take_right_hand_sides_of_any_size) {
  const std::int64_t n = 130;
  const Matrix<double> A = random_with_condition(n, 1e3);
  for (const Refine refine : {Refine::classical, Refine::gmres})
    for (const double accuracy : {0.0, 1e-15}) {
      Options o = coarse(refine);
      o.accuracy = accuracy;
      const Matrix<double> plain = right_hand_sides<double>(A.view(), 1);
      const auto usual = solve_for(A, plain, o);
      for (const int e : {-1020, -600, -130, -75, 0, 70, 130, 600, 1000}) {
        SCOPED_TRACE(testing::Message() << name_of(refine) << ", accuracy " << accuracy << ", times 2^" << e);
        const auto alone =
            solve_for(A, matrix_of<double>(n, 1, [&](auto i, auto) { return std::ldexp(plain(i, 0), e); }), o);
        expect_solved(alone);
        EXPECT_EQ(alone.report.precision, Precision::fp32) << notes_of(alone.report);
        EXPECT_LE(alone.report.refine_iterations, usual.report.refine_iterations + 1);
        const auto beside =
            solve_for(A,
                      matrix_of<double>(
                          n, 4, [&](auto i, auto j) { return j == 2 ? 0 : std::ldexp(plain(i, 0), j == 1 ? e : 0); }),
                      o);
        expect_solved(beside);
        EXPECT_EQ(beside.report.precision, Precision::fp32) << notes_of(beside.report);
        for (std::int64_t i = 0; i < n; ++i)
          EXPECT_NEAR(std::ldexp(beside.X(i, 1), -e), beside.X(i, 0), 1e-10 * std::abs(beside.X(i, 0)) + 1e-10);
      }
    }
}

/// b has a size that fp32 has, and x has none.
TEST_P(CoarseFactors, take_right_hand_sides_whose_solutions_are_of_any_size) {
  for (const double scale : {1e-25, 1e25}) {
    const Matrix<double> A = scaled(scale, random_with_condition(100, 1e3));
    const auto solved =
        solve_for(A, scaled(1 / scale / scale, right_hand_sides<double>(A.view(), 2)), coarse(Refine::classical));
    expect_solved(solved);
    EXPECT_EQ(solved.report.precision, Precision::fp32) << notes_of(solved.report);
  }
}

TEST_P(CoarseFactors, that_stall_when_rows_were_scaled_are_replaced_too) {
  const std::int64_t n = 60;
  const auto rows_apart = [&](const Matrix<double>& M) {
    return matrix_of<double>(n, M.cols(), [&](auto i, auto j) { return std::ldexp(M(i, j), int(i * 37 % 121) - 60); });
  };
  for (const double kappa : {1e6, 1e8, 1e10}) {
    SCOPED_TRACE(testing::Message() << "condition " << kappa);
    const Matrix<double> A = random_with_condition(n, kappa), B = right_hand_sides<double>(A.view(), 3);
    Options o = coarse();
    o.precision = Precision::bf16, o.condition = true;
    const auto solved = solve_for(rows_apart(A), rows_apart(B), o);
    EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message() << notes_of(solved.report);
    EXPECT_LT(solved.report.hpl_residual.value_or(hpl_threshold), hpl_threshold);
  }
}

/// Near the ends of the range of fp32, too.
TEST_P(CoarseFactors, show_the_condition_of_matrices_of_any_size) {
  const Matrix<double> A = random_with_condition(60, 100), B = random_matrix(60, 1);
  Options o = coarse();
  o.condition = true, o.bounds = true;
  const Report usual = solve_for(A, B, o).report;
  for (const int e : {-115, -80, 80, 110, 120}) {
    SCOPED_TRACE(testing::Message() << "times 2^" << e);
    const auto solved = solve_for(scaled(std::ldexp(1, e), rounded<double>(A)), B, o);
    expect_solved(solved);
    EXPECT_EQ(solved.report.precision, Precision::fp32) << notes_of(solved.report);
    EXPECT_NEAR(solved.report.rcond.value_or(0) / *usual.rcond, 1, 1e-3);
    EXPECT_NEAR(std::log10(solved.report.forward_error_bound.value_or(1) / *usual.forward_error_bound), 0, 1);
  }
}

TEST_P(CoarseFactors, that_cannot_be_refined_are_replaced_with_a_note) {
  for (const Stubborn& matrix : too_hard_for_fp32)
    for (std::int64_t nrhs : {1, 3}) {
      SCOPED_TRACE(testing::Message() << matrix.name << ", nrhs = " << nrhs);
      const auto solved = solve_random(matrix.make(), nrhs, coarse());
      expect_solved(solved);
      EXPECT_EQ(solved.report.precision, Precision::fp64);
      EXPECT_NE(notes_of(solved.report).find("fp64 factors were used instead"), std::string::npos);
      EXPECT_NE(notes_of(solved.report).find(matrix.note), std::string::npos) << notes_of(solved.report);
    }
}

TEST_P(CoarseFactors, once_replaced_stay_so_for_the_next_right_hand_sides) {
  const Matrix<double> A = random_with_condition(120, 1e12), B = right_hand_sides<double>(A.view(), 2);
  Matrix<double> X(120, 2);
  Factorization<double> factors(A.view(), coarse());
  EXPECT_EQ(factors.report().precision, Precision::fp32);
  for (int solve = 0; solve < 2; ++solve) {
    const Report report = factors.solve(B.view(), X.view());
    EXPECT_TRUE(report.outcome.ok()) << report.outcome.message();
    EXPECT_EQ(report.precision, Precision::fp64);
    EXPECT_EQ(report.notes.size(), 1u) << notes_of(report);
    EXPECT_LT(hpl_residual<double>(A.view(), B.view(), X.view()), hpl_threshold);
  }
}

TEST_P(CoarseFactors, of_a_positive_definite_matrix_are_replaced_by_cholesky_in_fp64) {
  const auto solved =
      solve_random(random_with_condition(150, 1e12, true), 2, coarse(Refine::automatic, Method::cholesky));
  expect_solved(solved);
  EXPECT_EQ(solved.report.precision, Precision::fp64);
  EXPECT_EQ(solved.report.method, Method::cholesky);
}

TEST_P(CoarseFactors, of_a_singular_matrix_are_singular) {
  const auto solved = solve_random(with_zero_columns(random_matrix(70, 70), 33, 1), 2, coarse());
  expect_outcome(solved.report.outcome, Outcome::singular, 33);
}

TEST_P(CoarseFactors, without_refinement_are_judged_as_fp32) {
  const Matrix<double> A = random_with_condition(200, 100), B = right_hand_sides<double>(A.view(), 3);
  const auto solved = solve_for(A, B, coarse(Refine::none), Op::none, unit_roundoff<float>);
  expect_solved(solved);
  EXPECT_GT(hpl_residual<double>(A.view(), B.view(), solved.X.view()), hpl_threshold);
  EXPECT_EQ(solved.report.precision, Precision::fp32);
  EXPECT_EQ(solved.report.refine, Refine::none);
  EXPECT_EQ(solved.report.refine_iterations, 0);
  EXPECT_TRUE(solved.report.refinement_residuals.empty());
}

TEST_P(Refinement, of_factors_as_fine_as_A_converges) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = options(32);
    o.refine = Refine::classical;
    for (double kappa : {10.0, floating_point<T>.moderate()})
      for (Op op : {Op::none, Op::transpose}) {
        SCOPED_TRACE(testing::Message() << "κ = " << kappa << ", op " << int(op));
        const auto solved = solve_random(rounded<T>(random_with_condition(150, kappa)), 5, o, op);
        expect_solved(solved);
        EXPECT_EQ(solved.report.refine, Refine::classical);
      }
  });
}

TEST_P(Refinement, that_does_not_converge_says_so) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = options(16);
    o.refine = Refine::classical;
    // Growth 2¹⁹⁹ overflows in f32 and in f64 leaves no digit of the factors, so no update helps.
    const auto solved = solve_for(rounded<T>(wilkinson(200)), random_matrix<T>(200, 3), o);
    EXPECT_FALSE(solved.hpl < hpl_threshold);
    EXPECT_EQ(solved.report.outcome.kind, Outcome::not_converged);
    EXPECT_EQ(solved.report.outcome.at, solved.report.refine_iterations);
  });
}

/// Elements of U grow to 2ⁿ⁻¹, and a third of the digits is left.
template <class T>
constexpr std::int64_t order_of_growth = std::is_same_v<T, double> ? 40 : 20;

TEST_P(Refinement, mends_what_growth_has_done_where_a_check_failed) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = order_of_growth<T>;
    const Matrix<T> A = rounded<T>(wilkinson(n));
    for (const std::int64_t nb : {0, 8})
      for (const std::int64_t nrhs : {1, 5})
        for (const Op op : {Op::none, Op::transpose})
          for (const bool condition : {false, true}) {
            SCOPED_TRACE(testing::Message() << "nb = " << nb << ", nrhs = " << nrhs << ", op " << int(op));
            Options o = options(nb);
            o.condition = condition;
            const Matrix<T> B = random_matrix<T>(n, nrhs, 9);
            const auto solved = solve_for(A, B, o, op);
            expect_solved(solved);
            EXPECT_EQ(solved.report.refine, Refine::classical);
            EXPECT_GE(solved.report.refine_iterations, 1);
            EXPECT_EQ(solved.report.refinement_residuals.size(), std::size_t(solved.report.refine_iterations + 1));
            EXPECT_EQ(solved.report.growth, std::ldexp(1.0, int(n - 1)));
            EXPECT_TRUE(says(notes_of(solved.report), "the solution was refined"));
            EXPECT_FALSE(says(notes_of(solved.report), "badly scaled"));
            EXPECT_GT(solved.report.digits.value_or(99), -std::log10(unit_roundoff<T>) - 2);

            Matrix<T> X = rounded<T>(B);  // in the place of B
            EXPECT_TRUE(solve(A.view(), X.view(), X.view(), o, op).outcome.ok());
            EXPECT_TRUE(same_bits(X, solved.X));
            o.refine = Refine::none;
            const auto coarse = solve_for(A, B, o, op);
            EXPECT_EQ(coarse.report.outcome.kind, Outcome::inaccurate);
            EXPECT_EQ(coarse.report.refine_iterations, 0);
            EXPECT_TRUE(says(notes_of(coarse.report), "refinement may mend that"));
          }
    const auto quiet = solve_random(random_matrix<T>(n, n), 1, options());
    EXPECT_FALSE(quiet.report.growth.has_value()) << "nothing failed";
    EXPECT_EQ(quiet.report.refine, Refine::none);
  });
}

/// The host asks for nothing more, and the report of the factors stays as it was.
TEST_P(Refinement, after_a_check_leaves_the_factorization_as_it_was) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = order_of_growth<T>;
    const Matrix<T> A = rounded<T>(wilkinson(n)), B = random_matrix<T>(n, 1, 9);
    Matrix<T> X(n, 1);
    Factorization<T> factors(A.view(), options());
    for (int turn = 0; turn < 2; ++turn) {
      EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
      EXPECT_EQ(factors.report().refine, Refine::none);
      EXPECT_FALSE(factors.report().growth.has_value());
    }
    Factorization<T> in_place(rounded<T>(A), options());
    const Report report = in_place.solve(B.view(), X.view());
    EXPECT_EQ(report.refine_iterations, 0);
    EXPECT_TRUE(says(notes_of(report), "A was overwritten"));
  });
}

/// Products with six digits.
void coarse_product(const void*, Queue<Cpu>& q, double alpha, Operand<double> A, Operand<double> B, double beta,
                    MatrixView<double> C) {
  some_backend<Cpu>()(q, alpha, A, B, beta, C);
  for (std::int64_t j = 0; j < C.cols(); ++j)
    for (std::int64_t i = 0; i < C.rows(); ++i) C(i, j) = double(float(C(i, j)));
}

TEST(RefinementOnTheCpu, does_not_hide_a_backend_that_is_wrong) {
  const GemmBackend<Cpu> wrong{"wrong", "has six digits", coarse_product};
  Options o;
  o.gemm = &wrong;
  o.block_size = 16;
  const auto solved = solve_random(random_matrix(300, 300), 1, o);
  EXPECT_EQ(solved.report.outcome.kind, Outcome::inaccurate);
  EXPECT_EQ(solved.report.refine, Refine::none);
  EXPECT_LT(*solved.report.growth, 300);
}

TEST_P(Refinement, never_hides_a_nan_in_a_right_hand_side) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const bool check : {true, false})
      for (const std::int64_t column : {0, 1, 2}) {
        SCOPED_TRACE(testing::Message() << "column " << column << ", check " << check);
        Options o = options();
        o.refine = Refine::classical;
        o.check = check;
        o.allow_nonfinite = true;
        Matrix<T> B = random_matrix<T>(40, 3);
        B(7, column) = std::numeric_limits<T>::quiet_NaN();
        EXPECT_FALSE(solve_for(rounded<T>(random_with_condition(40, 10)), B, o).report.outcome.ok());
      }
  });
}

TEST_P(Refinement, solves_for_a_right_hand_side_of_zeros) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = options();
    o.refine = Refine::classical;
    const Matrix<T> nothing = matrix_of<T>(40, 2, [](auto, auto) { return 0; });
    const auto solved = solve_for(rounded<T>(random_with_condition(40, 10)), nothing, o);
    expect_solved(solved);
    EXPECT_EQ(infinity_norm(solved.X), 0);
  });
}

TEST_P(CoarseFactors, are_the_finest_of_an_fp32_matrix) {
  Options o = options();
  o.precision = Precision::fp64;
  EXPECT_THROW(solve_random(random_matrix<float>(5, 5), 1, o), std::invalid_argument);
}

LASOLVE_ON_ALL_TARGETS(Refinement);
INSTANTIATE_TEST_SUITE_P(Cpu, CoarseFactors, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, CoarseFactors, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
