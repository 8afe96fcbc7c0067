// How much of a solution can be trusted: condition numbers from factors, and what is said about them.
#include "conditions.hpp"
#include "solvers/refine/estimated_norms.hpp"

namespace lasolve::test {
namespace {

TEST(EstimatedNorms, are_below_the_norms_and_nearly_always_within_a_factor_of_three_by_at_most_three_products) {
  int exact_ones = 0, near_infinities = 0, all = 0;
  for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 7, 10, 33, 130})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(testing::Message() << "n = " << n << ", seed " << seed);
      const Matrix<double> A = random_matrix(n, n, seed);
      const Eigen::MatrixXd M = Eigen::MatrixXd(as_eigen(A.view())).inverse();
      int products = 0;
      const EstimatedNorms its = estimated_norms(n, [&](MatrixView<double> X, Op op) {
        EXPECT_LE(X.cols(), 4);
        ++products;
        as_eigen(X) = (op == Op::none ? M : Eigen::MatrixXd(M.transpose())) * as_eigen(X).eval();
      });
      EXPECT_LE(products, 3);
      const auto part_of = [&](double estimate, double truth) {
        EXPECT_LE(estimate, truth * (1 + 1e-12));
        EXPECT_GE(estimate, truth / 3);
        EXPECT_TRUE(n > 4 || estimate > truth * (1 - 1e-12));
        return estimate / truth;
      };
      exact_ones += part_of(its.one, M.cwiseAbs().colwise().sum().maxCoeff()) > 1 - 1e-12;
      near_infinities += part_of(its.infinity, M.cwiseAbs().rowwise().sum().maxCoeff()) > 0.8;
      ++all;
    }
  EXPECT_GT(exact_ones, 0.8 * all);
  EXPECT_GT(near_infinities, 0.8 * all);
}

TEST(EstimatedNorms, of_what_is_not_finite_are_not_finite) {
  for (const std::int64_t n : {2, 50})
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (const Op where : {Op::none, Op::transpose}) {
        const EstimatedNorms its = estimated_norms(n, [&](MatrixView<double> X, Op op) {
          if (op == where) X(n - 1, 0) = bad;
        });
        EXPECT_TRUE((n == 2 && where == Op::transpose) || !std::isfinite(its.one));
        EXPECT_TRUE((n == 2 && where == Op::none) || !std::isfinite(its.infinity));
      }
}

/// Not above the truth and at least a third of it, but for what the roundings in the factors make of A⁻¹.
void expect_estimate(double rcond, long double condition, double u, std::int64_t n) {
  const double slack = std::min(0.9, 4 * double(n) * u * double(condition));
  if (slack > 0.5) {  // then only the size is known
    EXPECT_LT(rcond, 100 * double(n) * u);
    return;
  }
  EXPECT_GE(rcond * double(condition), 1 - 1e-6 - slack);
  EXPECT_LE(rcond * double(condition), 3 * (1 + slack));
}

TEST_P(Condition, is_estimated_for_each_matrix_type) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto expect_all = [&](const auto& types, Method method) {
      for (const MatrixType& type : types)
        for (const std::int64_t n : {1, 2, 5, 33, 130}) {
          SCOPED_TRACE(testing::Message() << type.name << ", n = " << n << ", method " << int(method));
          const Matrix<T> A = rounded<T>(type.make(n, floating_point<T>));
          Factorization<T> factors(A.view(), judged(method));
          const double rcond = factors.rcond();
          if (type.zero_column) {
            EXPECT_EQ(rcond, 0);
            EXPECT_FALSE(factors.report().rcond.has_value());
            continue;
          }
          EXPECT_EQ(factors.report().rcond, rcond);
          expect_estimate(rcond, true_condition(A), unit_roundoff<T>, n);
        }
    };
    expect_all(general_types, Method::lu);
    expect_all(positive_definite_types, Method::cholesky);
  });
}

TEST_P(Condition, is_estimated_when_it_is_asked_for_and_kept) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(70, 70), B = random_matrix<T>(70, 2);
    Matrix<T> X(70, 2);
    Factorization<T> factors(A.view(), options());
    EXPECT_FALSE(factors.report().rcond.has_value());
    EXPECT_FALSE(factors.solve(B.view(), X.view()).rcond.has_value());
    const double rcond = factors.rcond();
    EXPECT_EQ(factors.report().rcond, rcond);
    const double seconds = factors.report().phases.seconds_of(Phase::check);
    EXPECT_EQ(factors.rcond(), rcond);
    EXPECT_EQ(factors.report().phases.seconds_of(Phase::check), seconds) << "made again";
  });
}

TEST_P(Condition, of_nothing_is_one_and_of_what_is_not_positive_definite_is_not_known) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> nothing;
    EXPECT_EQ(Factorization<T>(nothing.view(), judged()).rcond(), 1);
    const auto indefinite = matrix_of<T>(5, 5, [](auto i, auto j) { return i == j ? 1 : 2; });
    EXPECT_TRUE(std::isnan(Factorization<T>(indefinite.view(), judged(Method::cholesky)).rcond()));
  });
}

TEST_P(Condition, is_known_in_place_unchecked_and_of_one_triangle) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 90;
    for (const bool check : {true, false})
      for (const bool condition : {true, false}) {
        Options o = judged();
        o.check = check;
        o.condition = condition;
        const Matrix<T> A = random_matrix<T>(n, n);
        Factorization<T> factors(rounded<T>(A), o);
        expect_estimate(factors.rcond(), true_condition(A), unit_roundoff<T>, n);
        for (const Method method : {Method::automatic, Method::lu}) {
          o.factorization = method;
          expect_estimate(Factorization<T>(A.view(), o).rcond(), true_condition(A), unit_roundoff<T>, n);
        }
        o.factorization = Method::cholesky;
        for (const Uplo triangle : {Uplo::lower, Uplo::upper}) {
          o.triangle = triangle;
          OneTriangle<T> S(rounded<T>(random_with_condition(n, 100, true)), triangle);
          const auto truth = true_condition(S.whole);
          expect_estimate(Factorization<T>(S.half.view(), o).rcond(), truth, unit_roundoff<T>, n);
          expect_estimate(Factorization<T>(std::move(S.half), o).rcond(), truth, unit_roundoff<T>, n);
        }
      }
  });
}

TEST_P(Condition, tells_how_many_digits_may_be_trusted) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::int64_t n = 80;
    for (const double kappa : {1e1, 1e3, 1e5}) {
      const Matrix<T> A = rounded<T>(random_with_condition(n, kappa));
      const auto solved = solve_random(A, 2, judged());
      expect_solved(solved);
      EXPECT_NEAR(*solved.report.digits, -std::log10(unit_roundoff<T> / *solved.report.rcond), 1e-12);
      const Matrix<T> truth = random_matrix<T>(n, 2, 11);
      const double error = (as_eigen(solved.X.view()) - as_eigen(truth.view())).cwiseAbs().maxCoeff() /
                           as_eigen(truth.view()).cwiseAbs().maxCoeff();
      EXPECT_LT(error, 10 * std::pow(10, -*solved.report.digits));
    }
  });
}

TEST_P(Condition, that_is_near_singular_is_an_outcome_and_the_solution_is_there) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::vector<Matrix<T>> matrices;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) matrices.push_back(rounded<T>(of_rank(60, 30, seed)));
    matrices.push_back(rounded<T>(hilbert(100)));
    for (const Matrix<T>& A : matrices)
      for (const Op op : {Op::none, Op::transpose}) {
        Options o = options();
        const auto before = solve_random(A, 2, o, op);
        EXPECT_TRUE(says(notes_of(before.report), "the pivots")) << "without a word";
        o.condition = true;
        const auto solved = solve_random(A, 2, o, op);
        EXPECT_EQ(solved.report.outcome.kind, Outcome::ill_conditioned) << *solved.report.rcond;
        EXPECT_LT(*solved.report.rcond, unit_roundoff<T>);
        EXPECT_EQ(*solved.report.digits, 0);
        EXPECT_FALSE(solved.report.rcond_of_scaled_rows.has_value());
        EXPECT_FALSE(solved.report.rcond_of_scaled_columns.has_value());
        EXPECT_LT(solved.hpl, hpl_threshold);
        EXPECT_TRUE(same_bits(solved.X, before.X));
      }
  });
}

TEST_P(Condition, says_of_pivots_that_grew_that_they_grew) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = rounded<T>(wilkinson(std::is_same_v<T, double> ? 50 : 21));
    const std::string notes = notes_of(Factorization<T>(A.view(), judged()).report());
    EXPECT_TRUE(says(notes, "elements grew in the factorization"));
    EXPECT_FALSE(says(notes, "nearly singular"));
  });
}

/// In units of the least subnormal number, or a few more: what is computed has the bits that it has in other units.
TEST_P(Condition, of_a_subnormal_matrix_is_that_of_the_same_in_other_units) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const std::vector<Matrix<double>> all = [] {
      std::vector<Matrix<double>> some;
      some.push_back(matrix_of<double>(2, 2, [](auto i, auto j) { return i == j ? 0 : 1; }));
      some.push_back(matrix_of<double>(3, 3, [](auto i, auto j) { return i >= j ? 1 : 0; }));
      some.push_back(matrix_of<double>(2, 2, [](auto i, auto j) { return i != j ? 8 : i == 0 ? 2 : 1; }));
      for (const std::int64_t n : {3, 70, 200})
        some.push_back(matrix_of<double>(n, n, [](auto i, auto j) {
          return i == j ? 4 : std::abs(i - j) == 1 ? 1 : 0;
        }));
      Random random;
      some.push_back(matrix_of<double>(150, 150, [&](auto, auto) { return random.integer(9); }));
      return some;
    }();
    for (const Matrix<double>& of_integers : all)
      for (const int shift : {0, 5})
        for (const Op op : {Op::none, Op::transpose})
          for (const std::int64_t nrhs : {1, 3}) {
            const std::int64_t n = of_integers.rows();
            SCOPED_TRACE(testing::Message() << "n = " << n << ", shift " << shift << ", op " << int(op));
            const T least = std::ldexp(std::numeric_limits<T>::denorm_min(), shift);
            const auto in_units_of = [&](T unit, const Matrix<double>& M) {
              return matrix_of<T>(M.rows(), M.cols(), [&](auto i, auto j) { return T(M(i, j)) * unit; });
            };
            const T near_1 = std::ldexp(T(1), -std::ilogb(infinity_norm(of_integers)) - 1);
            Random random(7);
            const auto rhs = matrix_of<double>(n, nrhs, [&](auto, auto) { return random.integer(5); });
            const Matrix<T> A = in_units_of(near_1, of_integers), B = in_units_of(near_1, rhs),
                            tiny_A = in_units_of(least, of_integers), tiny_B = in_units_of(least, rhs);
            const Options o = judged(Method::automatic);
            const auto solved = solve_for(A, B, o, op), tiny = solve_for(tiny_A, tiny_B, o, op);
            EXPECT_TRUE(solved.report.outcome.ok());
            EXPECT_TRUE(tiny.report.outcome.ok()) << tiny.report.outcome.message();
            EXPECT_TRUE(same_bits(tiny.X, solved.X));
            EXPECT_EQ(tiny.report.rcond, solved.report.rcond);
            EXPECT_EQ(tiny.report.digits, solved.report.digits);
            EXPECT_EQ(tiny.report.backward_error, solved.report.backward_error);
            EXPECT_EQ(tiny.report.method, solved.report.method);
            EXPECT_TRUE(says(notes_of(tiny.report), "below the least normal number"));
            EXPECT_FALSE(says(notes_of(tiny.report), "pivots"));
            Matrix<T> X = rounded<T>(tiny_B);  // in the place of B
            EXPECT_TRUE(solve(tiny_A.view(), X.view(), X.view(), options(32), op).outcome.ok());
            EXPECT_TRUE(same_bits(X, solved.X));
            Factorization<T> in_place(rounded<T>(tiny_A), o);
            if (!in_place.report().outcome.ok()) continue;  // a Cholesky in vain
            EXPECT_TRUE(in_place.solve(tiny_B.view(), X.view(), op).outcome.ok());
            EXPECT_TRUE(same_bits(X, solved.X));
            if (GetParam().device != Device::cpu)
              continue;  // where A is then factored in the place of its copy, unseen
            Options unchecked = options(32);
            unchecked.check = false;
            EXPECT_EQ(Factorization<T>(tiny_A.view(), unchecked).rcond(), solved.report.rcond);
          }
    const Matrix<T> A =
        matrix_of<T>(2, 2, [](auto i, auto j) { return i == j ? std::numeric_limits<T>::denorm_min() : 0; });
    const Matrix<T> B = matrix_of<T>(2, 1, [](auto, auto) { return 1; });
    EXPECT_EQ(solve_for(A, B, judged(Method::lu)).report.outcome.kind, Outcome::inaccurate) << "X overflows";
  });
}

TEST_P(Condition, is_no_worse_an_outcome_than_a_large_residual) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = rounded<T>(wilkinson(150)), B = random_matrix<T>(150, 2);
    EXPECT_EQ(solve_for(A, B, judged()).report.outcome.kind, Outcome::inaccurate);
  });
}

/// fp32 factors of an fp64 matrix.
class ConditionOfCoarseFactors : public Condition {};

TEST_P(ConditionOfCoarseFactors, is_that_of_the_factors_that_gave_the_answer) {
  Options o = judged();
  o.precision = Precision::fp32;
  for (const double kappa : {1e3, 1e12}) {
    SCOPED_TRACE(kappa);
    const Matrix<double> A = random_with_condition(120, kappa), B = right_hand_sides<double>(A.view(), 2);
    Matrix<double> X(120, 2);
    Factorization<double> factors(A.view(), o);
    EXPECT_EQ(factors.report().precision, Precision::fp32);
    const Report report = factors.solve(B.view(), X.view());
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_EQ(report.precision, kappa < 1e6 ? Precision::fp32 : Precision::fp64);
    const double truth = double(true_condition(A));
    EXPECT_NEAR(*report.rcond * truth, 1, 0.05);
    EXPECT_EQ(*report.rcond, factors.rcond());
    EXPECT_NEAR(*report.digits, -std::log10(unit_roundoff<double> * truth), 0.05);
  }
}

TEST_P(ConditionOfCoarseFactors, without_refinement_is_judged_by_the_roundoff_of_fp32) {
  Options o = judged();
  o.precision = Precision::fp32;
  o.refine = Refine::none;
  const Matrix<double> fine = random_with_condition(100, 1e3), coarse = random_with_condition(100, 1e11);
  const Matrix<double> B = random_matrix(100, 2);
  const Report solved = solve_for(fine, B, o).report, lost = solve_for(coarse, B, o).report;
  EXPECT_TRUE(solved.outcome.ok());
  EXPECT_NEAR(*solved.digits, -std::log10(unit_roundoff<float> / *solved.rcond), 1e-9);
  EXPECT_EQ(lost.outcome.kind, Outcome::ill_conditioned);
}

LASOLVE_ON_ALL_TARGETS(Condition);
INSTANTIATE_TEST_SUITE_P(Cpu, ConditionOfCoarseFactors, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, ConditionOfCoarseFactors, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
