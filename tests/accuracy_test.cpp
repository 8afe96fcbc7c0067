// An accuracy that is asked for: what is chosen for it, what it takes, and what is said where it is not reached.
#include "core/tuning.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/recipe.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

using Accuracy = OnTarget;

/// Coarse factors from the beginning on.
Options with_accuracy(double accuracy, Options o) {
  o.tuning = tuning_of(o.device.kind == Device::cuda ? Device{Device::cuda} : Device{Device::cpu});
  o.tuning->refined_from = 0;
  o.accuracy = accuracy;
  return o;
}

TEST_P(Accuracy, is_reached_by_coarse_factors_where_these_do) {
  for (const double kappa : {1e1, 1e6, 1e9})
    for (const double accuracy : {1e-10, 1e-15, 3e-16}) {
      SCOPED_TRACE(testing::Message() << "κ = " << kappa << ", " << accuracy);
      const auto solved = solve_random(random_with_condition(200, kappa), 3, with_accuracy(accuracy, options()));
      EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
      EXPECT_LE(*solved.report.backward_error, accuracy);
      EXPECT_EQ(solved.report.precision, Precision::fp32);
    }
}

/// If GMRES stopped as soon as ‖M⁻¹r‖ is small enough, half of these would fall back to fp64.
TEST_P(Accuracy, is_reached_by_gmres_where_little_is_to_be_gained) {
  int coarse = 0;
  for (std::int64_t n = 100; n < 200; n += 10) {
    const auto solved = solve_random(random_with_condition(n, 3e9), 3, with_accuracy(1e-10, options()));
    EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
    coarse += solved.report.precision == Precision::fp32;
  }
  EXPECT_GE(coarse, 9);
}

TEST_P(Accuracy, is_reached_by_fine_factors_where_coarse_ones_do_not) {
  const auto solved = solve_random(random_with_condition(100, 1e14), 2, with_accuracy(1e-15, options()));
  EXPECT_LE(*solved.report.backward_error, 1e-15);
  EXPECT_EQ(solved.report.precision, Precision::fp64);
  EXPECT_TRUE(says(notes_of(solved.report), "fp64 factors were used instead"));
}

/// Where a device shares them out: panels beside products have some, and the products the others.
TEST_P(Accuracy, is_reached_with_multiprocessors_shared_out) {
  const Matrix<double> A = random_with_condition(700, 1e3);
  for (const std::int64_t multiprocessors : {0, 40}) {
    Options o = with_accuracy(1e-15, options());
    o.tuning->lu_panels_are_the_bottleneck = 256, o.tuning->lu_panel_multiprocessors = multiprocessors;
    const auto solved = solve_random(A, 2, o), again = solve_random(A, 2, o);
    EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
    EXPECT_LE(*solved.report.backward_error, 1e-15);
    EXPECT_TRUE(same_bits(solved.X, again.X));
  }
}

/// Elements grow to 2⁵⁹, and the HPL check allows more than what is asked for.
TEST_P(Accuracy, takes_refinement_of_fine_factors_too) {
  Options o = options();
  o.factorization = Method::lu, o.precision = Precision::fp64, o.accuracy = 2e-16;
  const auto grown = solve_random(wilkinson(30), 1, o);
  EXPECT_TRUE(grown.report.outcome.ok()) << grown.report.outcome.message();
  EXPECT_LE(*grown.report.backward_error, 2e-16);
  EXPECT_NE(grown.report.refine, Refine::none);
}

TEST_P(Accuracy, that_is_not_reached_has_an_outcome_of_its_own) {
  Options o = options();
  o.precision = Precision::fp32, o.refine = Refine::none, o.accuracy = 1e-12;
  const auto solved = solve_random(random_with_condition(100, 10), 1, o);
  EXPECT_EQ(solved.report.outcome.kind, Outcome::accuracy_not_reached);
  EXPECT_GT(*solved.report.backward_error, 1e-12);
  EXPECT_TRUE(says(solved.report.outcome.message(), "larger than was asked for"));
}

TEST_P(Accuracy, of_less_than_the_roundoff_is_refused) {
  for (const double accuracy : {1e-17, -1.0, 1.0, std::nan("")}) {
    Options o = options();
    o.accuracy = accuracy;
    EXPECT_TRUE(
        says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "accuracy"));
  }
  Options o = options();
  o.accuracy = 1e-15, o.check = false;
  EXPECT_TRUE(
      says(complaint_of<std::invalid_argument>([&] { solve_random(random_matrix(5, 5), 1, o); }), "not checked"));
}

TEST(AccuracyRecipes, are_coarse_only_where_that_is_faster) {
  const Tuning tuning = cpu_tuning().values;
  const Means means{.device = {Device::cpu},
                    .tuning = &tuning,
                    .backend = "any",
                    .precisions = 1u << unsigned(Precision::fp64) | 1u << unsigned(Precision::fp32)};
  Options o;
  o.accuracy = 1e-15;
  const auto precision_of_first = [&](std::int64_t n) { return resolve(o, {.n = n}, means).first().precision.name; };
  EXPECT_EQ(precision_of_first(tuning.refined_from - 1), Precision::fp64);
  EXPECT_EQ(precision_of_first(tuning.refined_from), Precision::fp32);
  Means other = means;
  other.precisions = 1u << unsigned(Precision::fp64), other.coarse = "other";
  const Recipes recipes = resolve(o, {.n = tuning.refined_from}, other);
  EXPECT_TRUE(recipes.first().by_coarse && recipes.first().quick_products);
  EXPECT_STREQ(recipes.first().backend, "other");
  const Recipe* const finer = recipes.after(recipes.first(), Reason::too_coarse);
  ASSERT_TRUE(finer);
  EXPECT_FALSE(finer->by_coarse || finer->quick_products);
  o.block_size = -1;
  EXPECT_THROW(resolve(o, {.n = tuning.refined_from}, other), std::invalid_argument);
  EXPECT_EQ(finer->precision.name, Precision::fp64);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Accuracy, testing::Values(Target{Device::cpu, false}), name_of_target);
INSTANTIATE_TEST_SUITE_P(Cuda, Accuracy, testing::Values(Target{Device::cuda, false}), name_of_target);

}  // namespace
}  // namespace lasolve::test
