// Options::condition left automatic: which systems are in doubt, and that these are judged as those that are asked about.
#include "conditions.hpp"
#include "lasolve/lasolve.h"
#include "solvers/recipe.hpp"

namespace lasolve::test {
namespace {

class Doubt : public Condition {
 protected:
  /// The same, with the condition estimated.
  template <class T>
  Solved<T> expect_judged_alike(const Matrix<T>& A, Options o, Op op = Op::none) {
    auto left = solve_random(A, 2, o, op);
    o.condition = true;
    auto asked = solve_random(A, 2, o, op);
    EXPECT_EQ(left.report.outcome.kind, asked.report.outcome.kind) << left.report.outcome.message();
    EXPECT_EQ(left.report.rcond, asked.report.rcond);
    EXPECT_EQ(left.report.rcond_of_scaled_rows, asked.report.rcond_of_scaled_rows);
    EXPECT_EQ(left.report.rcond_of_scaled_columns, asked.report.rcond_of_scaled_columns);
    EXPECT_EQ(left.report.digits, asked.report.digits);
    EXPECT_EQ(notes_of(left.report), notes_of(asked.report));
    EXPECT_TRUE(same_bits(left.X, asked.X));
    return asked;
  }
  Options by(Method method) const {
    Options o = options();
    o.factorization = method;
    return o;
  }
};

constexpr Method methods[] = {Method::automatic, Method::lu, Method::cholesky};

TEST_P(Doubt, is_where_pivots_are_far_apart) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const bool wide = std::is_same_v<T, double>;
    for (const Method method : methods) {
      SCOPED_TRACE(int(method));
      const auto lost = expect_judged_alike(rounded<T>(hilbert(wide ? 12 : 6)), by(method));
      EXPECT_EQ(lost.report.outcome.kind, Outcome::ill_conditioned) << *lost.report.rcond;
      const auto poor = expect_judged_alike(rounded<T>(hilbert(wide ? 11 : 5)), by(method));
      expect_solved(poor);
      EXPECT_LT(*poor.report.digits, 4);
    }
    for (const std::int64_t n : {100, 300}) {  // which no leaf holds
      const auto lost = expect_judged_alike(rounded<T>(of_rank(n, n / 2, 3)), by(Method::lu), Op::transpose);
      EXPECT_EQ(lost.report.outcome.kind, Outcome::ill_conditioned);
    }
  });
}

TEST_P(Doubt, is_kept_with_factors_and_needs_no_check) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {14, 200}) {
      Options o = options();
      for (const bool check : {true, false}) {
        o.check = check;
        const Matrix<T> A = rounded<T>(hilbert(n)), B = right_hand_sides<T>(A.view(), 2);
        Matrix<T> X(n, 2);
        for (const bool in_place : {false, true}) {
          auto factors = in_place ? Factorization<T>(rounded<T>(A), by(Method::lu)) : Factorization<T>(A.view(), o);
          ASSERT_TRUE(factors.report().rcond.has_value()) << n << check << in_place;
          const Report report = factors.solve(B.view(), X.view());
          EXPECT_EQ(report.outcome.kind, Outcome::ill_conditioned);
          EXPECT_EQ(report.rcond, factors.report().rcond);
          EXPECT_EQ(*report.digits, 0);
        }
      }
    }
  });
}

TEST_P(Doubt, is_not_where_nothing_is_to_be_doubted) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto expect_none = [&](const Matrix<T>& A, Method method) {
      const auto solved = solve_random(A, 1, by(method));
      expect_solved(solved);
      EXPECT_FALSE(solved.report.rcond || solved.report.digits) << "n = " << A.rows();
    };
    for (const std::int64_t n : {1, 4, 12, 40, 64, 100, 128, 300, 1000, 2000}) {
      expect_none(random_matrix<T>(n, n, std::uint64_t(n)), Method::automatic);
      if (n <= 300) expect_none(rounded<T>(random_with_condition(n, 100)), Method::lu);
      if (n <= 300) expect_none(rounded<T>(random_with_condition(n, 100, true)), Method::automatic);
    }
  });
}

/// Neither where it is left out, nor by a call that asks for rcond() afterwards.
TEST_P(Doubt, is_not_where_nobody_wants_to_know) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options o = options();
    o.condition = false;
    for (const std::int64_t n : {14, 200}) {
      const Matrix<T> A = rounded<T>(hilbert(n)), B = right_hand_sides<T>(A.view(), 1);
      Matrix<T> X(n, 1);
      Factorization<T> factors(A.view(), o);
      EXPECT_FALSE(factors.report().rcond.has_value());
      EXPECT_LT(factors.rcond(), unit_roundoff<T>);
      EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
    }
  });
}

/// Rows of different size leave pivots far apart, and do no harm where only they are.
TEST_P(Doubt, of_rows_of_different_size_is_resolved_as_if_it_was_asked_for) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const int k : {1, 20, 40, 60})
      for (const std::int64_t n : {5, 30, 100}) {
        SCOPED_TRACE(testing::Message() << "k = " << k << ", n = " << n);
        const Matrix<T> R = random_matrix<T>(n, n, 5);
        const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return std::ldexp(R(i, j), i % 2 == 0 ? k : -k); });
        const auto solved = solve_random(A, 2, by(Method::lu));
        EXPECT_EQ(solved.report.rcond.has_value(), k > 1);
        if (k > 1) expect_judged_alike(A, by(Method::lu));
      }
  });
}

/// Kahan's matrix, whose pivots are sⁱ: they do not show that its inverse grows like (1 + c)ⁿ. This is the limit of what pivots tell.
Matrix<double> kahan(std::int64_t n, double c) {
  const double s = std::sqrt(1 - c * c);
  return matrix_of<double>(n, n, [=](auto i, auto j) {
    return (i == j ? 1 : i < j ? -c : 0) * std::pow(s, double(i)) * (1 + 1e-15 * double(n - j) * double(i == j));
  });
}

TEST_P(Doubt, is_not_seen_where_pivots_do_not_show_it) {
  if (GetParam().single) GTEST_SKIP() << "of one type is enough";
  const Matrix<double> A = kahan(90, 0.285);
  Options o = by(Method::lu);
  EXPECT_FALSE(solve_random(A, 1, o).report.rcond.has_value());
  Factorization<double> factors(A.view(), o);
  const double rcond = factors.rcond();
  EXPECT_LT(rcond, 1e-10);
  o.condition = true;
  const double again = solve_random(A, 1, o).report.rcond.value_or(0);
  // A kernel adds in another order than the host, which estimates for one small system.
  EXPECT_NEAR(again, rcond, GetParam().device == Device::cpu ? 0 : 1e-12 * rcond);
}

/// Of κ = 10 / u, with all singular values but one large, all but one small, in a geometric and in an arithmetic series: all are found.
/// Of random matrices 1 of 1000 is accused at most.
TEST_P(Doubt, finds_nearly_all_and_accuses_few) {
  if (GetParam().device != Device::cpu) GTEST_SKIP() << "of one device is enough";
  with_element([&](auto zero) {
    using T = decltype(zero);
    constexpr double kappa = 10 / unit_roundoff<T>;
    const auto value = [=](int mode, std::int64_t i, std::int64_t n) {
      const double x = double(i) / double(n - 1);
      return mode == 0   ? (i == 0 ? 1 : 1 / kappa)
             : mode == 1 ? (i == n - 1 ? 1 / kappa : 1)
             : mode == 2 ? std::pow(kappa, -x)
                         : 1 - x * (1 - 1 / kappa);
    };
    int found = 0, bad = 0, accused = 0, good = 0;
    for (const std::int64_t n : {4, 12, 40, 100})
      for (std::uint64_t seed = 1; seed <= 1600 / std::uint64_t(n); ++seed) {
        for (int mode = 0; mode < 4; ++mode) {
          Eigen::MatrixXd D = Eigen::MatrixXd::Zero(n, n);
          for (std::int64_t i = 0; i < n; ++i) D(i, i) = value(mode, i, n);
          const auto orthogonal = [&](std::uint64_t of) {
            const Matrix<double> R = random_matrix(n, n, of);
            return Eigen::MatrixXd(Eigen::MatrixXd(as_eigen(R.view())).householderQr().householderQ());
          };
          const Eigen::MatrixXd M = orthogonal(2 * seed) * D * orthogonal(2 * seed + 1);
          const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return T(M(i, j)); });
          const Factorization<T> factors(A.view(), by(Method::lu));
          found += factors.report().rcond.has_value() || factors.report().outcome.kind == Outcome::singular;
          ++bad;
        }
        for (int more = 0; more < 4; ++more) {
          const Matrix<T> R = random_matrix<T>(n, n, 4 * seed + std::uint64_t(more));
          accused += Factorization<T>(R.view(), by(Method::lu)).report().rcond.has_value();
          ++good;
        }
      }
    RecordProperty("found", std::to_string(found) + " of " + std::to_string(bad));
    RecordProperty("accused", std::to_string(accused) + " of " + std::to_string(good));
    EXPECT_GE(found, 0.99 * bad) << found << " of " << bad;
    EXPECT_LE(accused, 0.002 * good) << accused << " of " << good;
  });
}

TEST(DoubtOfFactors, that_are_coarse_is_left_to_refinement) {
  Options o;
  o.device = {Device::cpu, 0};
  o.precision = Precision::fp32;
  const auto fine = solve_random(random_with_condition(60, 1e5), 1, o);
  expect_solved(fine);
  EXPECT_EQ(fine.report.precision, Precision::fp32);
  EXPECT_FALSE(fine.report.rcond.has_value());
  const auto lost = solve_random(rounded<double>(hilbert(60)), 1, o);  // factored in fp64 when refinement has stalled
  EXPECT_EQ(lost.report.outcome.kind, Outcome::ill_conditioned);
}

TEST(DoubtOfFactors, is_asked_for_by_a_number_in_C) {
  const std::int64_t n = 12;
  const Matrix<double> A = hilbert(n), B = right_hand_sides<double>(A.view(), 1);
  Matrix<double> X(n, 1);
  lasolve_options options = LASOLVE_OPTIONS_INIT;
  const auto status = [&](int condition) {
    options.device = "cpu", options.condition = condition;
    return lasolve_dsolve(n, 1, A.data(), A.ld(), B.data(), B.ld(), X.data(), X.ld(), &options, nullptr);
  };
  EXPECT_EQ(status(0), LASOLVE_INACCURATE);
  EXPECT_EQ(status(1), LASOLVE_INACCURATE);
  EXPECT_EQ(status(-1), LASOLVE_OK);
}

TEST(DoubtOfFactors, is_decided_of_a_recipe) {
  const Tuning t = tuning_of({Device::cpu, 0});
  const auto of = [&](lasolve::Condition condition, std::int64_t n, bool in_place = false) {
    Options o;
    o.condition = condition;
    return resolve(o, {.n = n, .handed_over = in_place, .glance = Method::lu}, {.tuning = &t, .precisions = ~0u})
        .first()
        .condition;
  };
  for (const std::int64_t n : {1, 1000, 100000}) {
    EXPECT_EQ(of(true, n), Estimate::always);
    EXPECT_EQ(of(false, n), Estimate::never);
    EXPECT_EQ(of({}, n), Estimate::in_doubt);
  }
  EXPECT_EQ(of({}, 1000000), Estimate::always) << "where it costs next to nothing";
  EXPECT_EQ(of({}, 1000000, true), Estimate::in_doubt);
  const Recipe in_doubt{.condition = Estimate::in_doubt};
  const double u = unit_roundoff<double>;
  EXPECT_TRUE(in_doubt.estimates_condition(7e-12, u));
  EXPECT_FALSE(in_doubt.estimates_condition(8e-12, u));
  EXPECT_TRUE(in_doubt.estimates_condition(2.4e-4, unit_roundoff<float>));
  EXPECT_FALSE(in_doubt.estimates_condition(2.5e-4, unit_roundoff<float>));
  EXPECT_FALSE(in_doubt.estimates_condition(std::nan(""), u)) << "what is not finite, by the caller's wish";
}

LASOLVE_ON_ALL_TARGETS(Doubt);

}  // namespace
}  // namespace lasolve::test
