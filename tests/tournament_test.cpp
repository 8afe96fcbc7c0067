// Tournament pivoting: LU on the CPU and on CUDA, with bands of few rows, so that small matrices have many.
#include "core/choose.hpp"
#include "core/device_properties.hpp"
#include "core/tuning.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/kernel_limits.hpp"
#include "solvers/lower.hpp"
#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"
#include "solvers/recipe.hpp"
#include "systems.hpp"

namespace lasolve::test::tournament_test {
namespace {

class Tournament : public OnTarget {
 protected:
  Options by_tournament(std::int64_t block_size = 0, std::int64_t rows = 16) const {
    Options o = options(block_size);
    o.factorization = Method::lu, o.pivoting = Pivoting::tournament;
    o.tuning = tuning_of(o.device);
    o.tuning->lu_tournament_rows = rows;
    return o;
  }
};

template <class T>
Matrix<T> with_zero_columns(std::int64_t n, std::vector<std::int64_t> columns) {
  Matrix<T> A = random_matrix<T>(n, n, 7);
  for (const std::int64_t j : columns)
    for (std::int64_t i = 0; i < n; ++i) A(i, j) = 0;
  return A;
}

TEST_P(Tournament, solves_sizes_around_its_bands_and_blocks) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    std::uint64_t turn = 0;
    for (const std::int64_t nb : {1, 7, 32, 100, 128, 0})
      for (const std::int64_t n : {1, 2, 3, 15, 16, 17, 31, 33, 64, 129, 300, 511, 513, 1100}) {
        const Op op = ++turn % 2 == 0 ? Op::none : Op::transpose;
        SCOPED_TRACE(testing::Message() << "n = " << n << ", nb = " << nb);
        const auto solved =
            solve_random(random_matrix<T>(n, n, turn), 1 + std::int64_t(turn % 3), by_tournament(nb), op);
        expect_solved(solved);
        EXPECT_EQ(solved.report.pivoting, Pivoting::tournament);
        EXPECT_LT(solved.report.largest_multiplier.value(), 20);
      }
  });
}

TEST_P(Tournament, solves_with_every_schedule) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    expect_every_schedule_solves(by_tournament(), [](std::int64_t n) { return random_matrix<T>(n, n, 3); });
  });
}

TEST_P(Tournament, lets_elements_grow_a_little_more_than_partial_pivoting) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t n = 900;
    const auto grown = [&](Pivoting pivoting) {
      double sum = 0;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Options o = by_tournament();
        // One band for all rows is partial pivoting, and its growth is measured as well.
        if (pivoting == Pivoting::partial) o.tuning->lu_tournament_rows = n;
        const auto solved = solve_random(random_matrix<T>(n, n, seed), 1, o);
        expect_solved(solved);
        if (pivoting == Pivoting::partial) {
          EXPECT_LE(solved.report.largest_multiplier.value(), 1 + 4 * unit_roundoff<T>);
        }
        sum += solved.report.growth.value();
      }
      return sum;
    };
    EXPECT_LT(grown(Pivoting::tournament), 4 * grown(Pivoting::partial));
  });
}

TEST_P(Tournament, gives_the_same_bits_again) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(700, 700), B = random_matrix<T>(700, 2);
    const auto once = solve_for(A, B, by_tournament());
    EXPECT_TRUE(same_bits(once.X, solve_for(A, B, by_tournament()).X));
  });
}

TEST_P(Tournament, names_the_first_column_without_a_pivot) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t at : {0, 1, 31, 32, 127, 200, 599})
      for (const std::int64_t nb : {0, 24, 128}) {
        SCOPED_TRACE(testing::Message() << at << ", nb = " << nb);
        const Matrix<T> A = with_zero_columns<T>(600, {at, 599});
        expect_outcome(solve_for(A, random_matrix<T>(600, 1), by_tournament(nb)).report.outcome, Outcome::singular, at);
      }
    expect_outcome(solve_for(with_zero_columns<T>(1, {0}), random_matrix<T>(1, 1), by_tournament()).report.outcome,
                   Outcome::singular, 0);
  });
}

/// Of three hundred times the same two rows: in exact arithmetic nothing is left for the third column.
TEST_P(Tournament, finds_equal_rows) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto A = matrix_of<T>(600, 600, [](auto i, auto j) { return i % 2 == 0 ? 1 : j % 2 == 0 ? 2 : -1; });
    expect_outcome(solve_for(A, random_matrix<T>(600, 1), by_tournament()).report.outcome, Outcome::singular, 2);
  });
}

/// Only few bands have anything in the first columns, and some rows are pivots where their column is zero in their own band.
TEST_P(Tournament, solves_where_bands_are_mostly_zero) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    for (const std::int64_t n : {200, 700}) {
      SCOPED_TRACE(n);
      expect_solved(solve_random(matrix_of<T>(n, n, [n](auto i, auto j) { return T(i == (j + n / 2) % n); }), 2,
                                 by_tournament()));
      const Matrix<T> dense = random_matrix<T>(n, n);
      const auto banded =
          matrix_of<T>(n, n, [&](auto i, auto j) { return std::abs((i + n / 3) % n - j) < 9 ? dense(i, j) : T(0); });
      expect_solved(solve_random(banded, 2, judged_by_residual(by_tournament())));
      const auto signs = matrix_of<T>(n, n, [&](auto i, auto j) { return dense(i, j) < 0 ? -1 : 1; });
      expect_solved(solve_random(signs, 1, by_tournament()));
    }
  });
}

TEST_P(Tournament, never_hides_a_nan) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    Options unchecked = by_tournament(16);
    unchecked.check = false;
    for (const std::int64_t n : {70, 600})
      for (const std::int64_t at : {0, 15, 16, 33, 69}) {
        SCOPED_TRACE(testing::Message() << n << ", " << at);
        Matrix<T> A = random_matrix<T>(n, n);
        A(n - 1 - at, at) = std::numeric_limits<T>::quiet_NaN();
        const auto solved = solve_random(A, 2, unchecked);
        EXPECT_TRUE(!solved.report.outcome.ok() || std::isnan(infinity_norm(solved.X)));
      }
  });
}

TEST_P(Tournament, takes_pivots_that_are_subnormal_or_huge) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    constexpr std::int64_t n = 600;
    const Matrix<T> random = random_matrix<T>(n, n);
    for (const T scale : {std::numeric_limits<T>::min() * 64, std::numeric_limits<T>::max() / T(1 << 20)}) {
      const auto A = matrix_of<T>(n, n, [&](auto i, auto j) { return random(i, j) * scale; });
      const auto B = matrix_of<T>(n, 1, [&](auto i, auto) { return random(i, 3) * scale; });
      EXPECT_TRUE(solve_for(A, B, by_tournament()).report.outcome.ok());
    }
  });
}

TEST_P(Tournament, falls_back_to_partial_pivoting_where_elements_grow) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const auto solved = solve_for(rounded<T>(wilkinson(60)), random_matrix<T>(60, 2), by_tournament());
    EXPECT_EQ(solved.report.pivoting, Pivoting::partial);
    EXPECT_TRUE(says(notes_of(solved.report), "partial pivoting was used instead"));
    EXPECT_EQ(solved.report.largest_multiplier, 1.0) << "of those that gave the answer";
  });
}

TEST_P(Tournament, of_factors_that_are_refined) {
  if (GetParam().single) GTEST_SKIP() << "no factors are coarser";
  Options o = by_tournament();
  o.precision = Precision::fp32;
  const auto solved = solve_random(random_matrix<double>(700, 700), 3, o);
  expect_solved(solved);
  EXPECT_EQ(solved.report.pivoting, Pivoting::tournament);
  EXPECT_GT(solved.report.refine_iterations, 0);
  EXPECT_GT(solved.report.growth.value(), 1);
}

TEST_P(Tournament, overwrites_A) {
  with_element([&](auto zero) {
    using T = decltype(zero);
    const Matrix<T> A = random_matrix<T>(700, 700), B = right_hand_sides<T>({A.view(), Op::none}, 1);
    Matrix<T> X(700, 1);
    Factorization<T> factors(rounded<T>(A), by_tournament());
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_TRUE(factors.solve(B.view(), X.view()).outcome.ok());
    EXPECT_LT((hpl_residual<T>({A.view(), Op::none}, B.view(), X.view())), hpl_threshold);
  });
}

LASOLVE_ON_ALL_TARGETS(Tournament);

/// With panels of which blocks have several bands, and candidates of more bands than one match has.
TEST(TournamentOnCuda, solves_large_systems) {
  if (const std::string why = why_no(Device::cuda); !why.empty()) GTEST_SKIP() << why;
  for (const std::int64_t n : {3000, 9000}) {
    SCOPED_TRACE(n);
    Options o;
    o.factorization = Method::lu, o.pivoting = Pivoting::tournament;
    o.device.kind = Device::cuda;
    o.tuning = tuning_of(o.device);
    o.tuning->lu_tournament_rows = 1;
    expect_solved_on_cuda(random_matrix<float>(n, n), o);
    expect_solved_on_cuda(random_matrix<double>(n, n), o);
  }
}

Recipes resolved(const Options& o, std::int64_t n, Method glance = Method::automatic) {
  const Tuning tuning = cpu_tuning().values;
  return resolve(o, {.n = n, .glance = glance},
                 {.device = {Device::cuda, 0}, .tuning = &tuning, .backend = "test", .precisions = ~0u});
}

TEST(RecipesByTournament, lead_to_partial_pivoting) {
  Options o;
  o.pivoting = Pivoting::tournament, o.precision = Precision::fp32;
  const Recipes coarse = resolved(o, 900, Method::lu);
  EXPECT_EQ(coarse.first().pivoting, Pivoting::tournament);
  const auto partial = coarse.after(coarse.first(), Reason::elements_grew);
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->pivoting, Pivoting::partial);
  EXPECT_EQ(partial->precision.name, Precision::fp32);
  EXPECT_FALSE(coarse.after(*partial, Reason::elements_grew));
  EXPECT_EQ(coarse.after(coarse.first(), Reason::too_coarse)->pivoting, Pivoting::partial);

  o.precision = Precision::automatic;
  const Recipes general = resolved(o, 5000);
  EXPECT_EQ(general.first().pivoting, Pivoting::none) << "Cholesky comes first";
  const auto lu = general.after(general.first(), Reason::not_positive_definite);
  EXPECT_EQ(lu->pivoting, Pivoting::tournament);
  EXPECT_EQ(general.after(*lu, Reason::elements_grew)->pivoting, Pivoting::partial);
}

TEST(RecipesByTournament, are_of_LU) {
  const auto refuses = [&](Method method, Pivoting pivoting) {
    Options o;
    o.factorization = method, o.pivoting = pivoting;
    EXPECT_THROW(resolved(o, 50), std::invalid_argument);
  };
  refuses(Method::cholesky, Pivoting::tournament);
  refuses(Method::lu_nopivot, Pivoting::partial);
  refuses(Method::lu, Pivoting::none);
}

/// Registers need not hold all of its rows.
TEST(PlansByTournament, have_panels_of_one_width_at_any_height) {
  const DeviceProperties device = card("h200");
  const Tuning tuning = tuning_for(device).values;
  const Capabilities can = capabilities_of(device, tuning, Precision::fp32, 200000);
  Recipe by;
  by.pivoting = Pivoting::tournament;
  LuSteps steps({.n = 200000});
  steps.panel(four_lanes.chain, {0, 256});
  const Plan plan{.m = 200000, .n = 200000, .lanes = four_lanes, .tasks = std::move(steps).tasks()};
  const auto widest = [&](const Capabilities& of) {
    std::int64_t most = 0;
    for (const Task& task : lowered_lu(plan, of))
      if (task.type->picture == TaskType::panel) most = std::max(most, task.C.n);
    return most;
  };
  EXPECT_EQ(widest(can), tall_panel_columns);
  EXPECT_EQ(widest(for_recipe(can, by)), most_panel_columns);
}

}  // namespace
}  // namespace lasolve::test::tournament_test
