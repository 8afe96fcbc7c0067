// What is decided of a system, on a laptop for any device.
#include "solvers/recipe_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

#include "core/device_properties.hpp"
#include "core/tuning.hpp"
#include "devices.hpp"
#include "lasolve/names.hpp"
#include "solvers/method.hpp"
#include "solvers/watch.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

const Tuning& of_card() {
  static const Tuning t = tuning_for(card("a100")).values;
  return t;
}

Means means(unsigned precisions = ~0u, bool fits_a_leaf = false) {
  return {.device = {Device::cuda, 0},
          .tuning = &of_card(),
          .backend = "cublas",
          .precisions = precisions,
          .fits_a_leaf = fits_a_leaf};
}

std::string all_of(const Recipes& recipes) {
  std::string text;
  for (const Recipe& r : recipes) text += text_of(r) + "\n";
  return text;
}

TEST(Recipes, of_several_cards_look_right_and_leave_nothing_to_the_looks_of_A) {
  Options o;
  o.device = {Device::cuda, 2}, o.cards = {2, 3};
  Means two = means();
  two.device = o.device, two.cards = cards_of(o);
  const Recipes recipes = resolve(o, {.n = 40000, .from_host = true}, two);
  EXPECT_EQ(recipes.first().executor, Executor::cards);
  EXPECT_EQ(recipes.first().method, Method::lu);
  EXPECT_EQ(recipes.first().schedule, Schedule::right_looking);
  EXPECT_FALSE(recipes.first().arrives || recipes.first().in_place);
  for (const Recipe& r : recipes) EXPECT_EQ(r.cards, two.cards);
  o.cards = {2};
  EXPECT_EQ(cards_of(o).count, 1U) << "one is the case of one";
}

TEST(Recipes, of_several_cards_look_left_where_each_has_room_for_L_and_panels_are_wide) {
  Options o;
  o.device = {Device::cuda, 0}, o.cards = {0, 1}, o.factorization = Method::cholesky;
  const auto schedule = [&](std::int64_t n, bool has_room, bool is_quick = false) {
    Means two = means();
    two.cards = cards_of(o), two.has_room_for_L = has_room, two.is_quick = is_quick;
    return resolve(o, {.n = n}, two).first().schedule;
  };
  EXPECT_EQ(schedule(40000, true), Schedule::left_looking);
  EXPECT_EQ(schedule(40000, false), Schedule::right_looking);
  EXPECT_EQ(schedule(20000, true), Schedule::right_looking);
  EXPECT_EQ(schedule(40000, true, true), Schedule::right_looking);
  o.precision = Precision::fp32;
  EXPECT_EQ(schedule(40000, true), Schedule::right_looking);
  o.schedule = Schedule::left_looking;
  EXPECT_EQ(schedule(20000, false), Schedule::left_looking);
  o.schedule = Schedule::recursive;
  EXPECT_THROW(schedule(20000, true), std::invalid_argument);
}

TEST(Recipes, out_of_core_are_left_looking_whatever_the_method) {
  for (const Method method : {Method::automatic, Method::lu, Method::cholesky, Method::lu_nopivot}) {
    Options o;
    o.factorization = method, o.schedule = Schedule::left_looking, o.device_memory = std::size_t(2) << 30;
    Means card = means();
    card.device_bytes = 2e9;
    const Recipe first = resolve(o, {.n = 40000}, card).first();
    EXPECT_EQ(first.executor, Executor::out_of_core);
    EXPECT_EQ(first.schedule, Schedule::left_looking);
    o.schedule = Schedule::right_looking;
    EXPECT_THROW(resolve(o, {.n = 40000}, card), std::invalid_argument);
  }
}

TEST(Recipes, have_a_schedule_that_their_method_has) {
  for (const auto method : {Method::automatic, Method::lu, Method::cholesky, Method::lu_nopivot})
    for (const double device_bytes : {0.0, 2e9}) {
      Options o;
      o.factorization = method, o.assume_suitable = true, o.check = false;
      Means card = means();
      card.device_bytes = device_bytes;
      const Recipes recipes = resolve(o, {.n = 20000, .from_host = true}, card);
      EXPECT_EQ(recipes.first().arrives, device_bytes == 0);
      for (const Recipe& r : recipes) EXPECT_TRUE(is_offered(r.method, r.schedule)) << text_of(r);
    }
}

TEST(Recipes, of_the_defaults_begin_with_a_look_for_symmetry) {
  const Recipes recipes = resolve({}, {.n = 4096}, means());
  const Recipe& first = recipes.first();
  EXPECT_EQ(first.method, Method::cholesky);
  EXPECT_EQ(first.symmetry, Symmetry::before);
  EXPECT_TRUE(first.check && first.finite && first.mends);
  const Recipe* const lu = recipes.after(first, Reason::not_positive_definite);
  ASSERT_TRUE(lu);
  EXPECT_EQ(lu->method, Method::lu);
  EXPECT_FALSE(recipes.after(*lu, Reason::not_positive_definite));
  EXPECT_FALSE(recipes.after(*lu, Reason::too_coarse));
  EXPECT_EQ(resolve({}, {.n = 100}, means()).first().symmetry, Symmetry::beside)
      << "in small matrices a try costs less";
}

TEST(Recipes, by_name_have_no_other_method) {
  Options o;
  for (const Method method : {Method::lu, Method::cholesky}) {
    o.factorization = method;
    const Recipes recipes = resolve(o, {.n = 1000}, means());
    EXPECT_EQ(recipes.first().method, method);
    EXPECT_EQ(recipes.first().symmetry, Symmetry::given);
    EXPECT_FALSE(recipes.after(recipes.first(), Reason::not_positive_definite));
  }
}

TEST(Recipes, in_coarse_precisions_end_in_that_of_A) {
  Options o;
  o.precision = Precision::fp32;
  const Recipes recipes = resolve(o, {.n = 5000}, means());
  for (const Recipe* const r : {&recipes.first(), recipes.after(recipes.first(), Reason::not_positive_definite)}) {
    EXPECT_EQ(r->precision.storage, Precision::fp32);
    EXPECT_TRUE(r->refines() && !r->mends);
    const Recipe* const finer = recipes.after(*r, Reason::too_coarse);
    ASSERT_TRUE(finer);
    EXPECT_EQ(finer->precision.storage, Precision::fp64);
    EXPECT_EQ(finer->method, r->method);
    EXPECT_FALSE(recipes.after(*finer, Reason::too_coarse));
  }
  const unsigned only_fp32 = 1u << unsigned(Precision::fp32);
  const Recipes alone = resolve(o, {.n = 5000}, means(only_fp32));
  EXPECT_FALSE(alone.after(alone.first(), Reason::too_coarse)) << "the backend has no fp64";
  EXPECT_THROW(resolve({}, {.n = 5000}, means(only_fp32)), std::invalid_argument);
  o.refine = Refine::none;
  const Recipes unrefined = resolve(o, {.n = 5000}, means());
  EXPECT_FALSE(unrefined.after(unrefined.first(), Reason::too_coarse));
}

TEST(Recipes, of_a_badly_scaled_matrix_scale_it_once_where_that_is_wanted) {
  const Recipes recipes = resolve({}, {.n = 300}, means());
  const Recipe* const scaled = recipes.after(recipes.first(), Reason::badly_scaled);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->scaled, Scaled::rows_and_columns);
  EXPECT_EQ(scaled->method, Method::cholesky);
  EXPECT_FALSE(recipes.after(*scaled, Reason::badly_scaled));
  const Recipe* const lu = recipes.after(*scaled, Reason::not_positive_definite);
  ASSERT_TRUE(lu);
  EXPECT_TRUE(lu->scaled == Scaled::rows_and_columns && lu->method == Method::lu);
  for (const bool always : {false, true}) {
    Options o;
    o.equilibrate = always;
    const Recipes by_wish = resolve(o, {.n = 300}, means());
    EXPECT_EQ(by_wish.first().scaled, always ? Scaled::rows_and_columns : Scaled::none);
    EXPECT_FALSE(by_wish.after(by_wish.first(), Reason::badly_scaled));
  }
}

/// Each is in the list as it runs, whichever way leads there.
TEST(Recipes, are_all_in_the_list_and_lead_only_onwards) {
  constexpr std::array reasons = {Reason::not_positive_definite, Reason::too_coarse, Reason::elements_grew,
                                  Reason::too_small, Reason::badly_scaled};
  for (const Precision precision : {Precision::automatic, Precision::fp32})
    for (const Pivoting pivoting : {Pivoting::automatic, Pivoting::tournament}) {
      Options o;
      o.precision = precision, o.pivoting = pivoting;
      const Recipes recipes = resolve(o, {.n = 300}, means());
      for (const Recipe& tried : recipes) {
        EXPECT_EQ(&recipes.begin()[tried.number], &tried);
        for (const Reason why : reasons)
          if (const Recipe* const next = recipes.after(tried, why)) {
            EXPECT_GT(next->number, tried.number);
            EXPECT_LT(next, recipes.end());
            EXPECT_EQ(next->scaled, why == Reason::too_small      ? Scaled::up
                                    : why == Reason::badly_scaled ? Scaled::rows_and_columns
                                                                  : tried.scaled);
          }
        EXPECT_EQ(tried.after_stall().has_value(), tried.refines());
        EXPECT_EQ(tried.after_inaccuracy().has_value(), !tried.refines());
      }
    }
}

TEST(Recipes, of_a_scaled_matrix_do_not_scale_it_again) {
  Options o;
  o.factorization = Method::lu, o.pivoting = Pivoting::tournament, o.equilibrate = Wanted::on;
  const Recipes recipes = resolve(o, {.n = 300}, means());
  EXPECT_EQ(recipes.first().scaled, Scaled::rows_and_columns);
  EXPECT_EQ(recipes.after(recipes.first(), Reason::badly_scaled), nullptr);
}

TEST(Recipes, with_extra_residuals_refine) {
  Options o;
  o.residual = Residual::extra;
  EXPECT_EQ(resolve(o, {.n = 300}, means()).first().refine, Refine::classical);
  o.refine = Refine::none;
  EXPECT_THROW(resolve(o, {.n = 300}, means()), std::invalid_argument);
}

TEST(Recipes, of_what_comes_from_the_host_begin_before_all_is_there) {
  Problem problem{.n = 8192, .from_host = true, .glance = Method::cholesky};
  const Recipes likely = resolve({}, problem, means());
  EXPECT_TRUE(likely.first().arrives);
  EXPECT_EQ(likely.first().schedule, Schedule::left_looking);
  EXPECT_EQ(likely.first().symmetry, Symmetry::after);
  const Recipe* const scaled = likely.after(likely.first(), Reason::too_small);
  ASSERT_TRUE(scaled);
  EXPECT_EQ(scaled->scaled, Scaled::up);
  EXPECT_FALSE(scaled->arrives);
  Options scaled_always;
  scaled_always.equilibrate = true;
  EXPECT_FALSE(resolve(scaled_always, problem, means()).first().arrives) << "all of A is read before";
  problem.glance = Method::lu;
  const Recipes lu = resolve({}, problem, means());
  EXPECT_EQ(lu.first().method, Method::lu);
  EXPECT_FALSE(lu.first().in_place) << "A is read again";
  Options bare;
  bare.check = false;
  EXPECT_TRUE(resolve(bare, problem, means()).first().in_place);
  problem.n = 500;
  EXPECT_FALSE(resolve({}, problem, means()).first().arrives);
}

TEST(Recipes, in_place_check_nothing_and_refine_nothing) {
  const Recipes recipes = resolve({}, {.n = 1000, .handed_over = true}, means());
  EXPECT_TRUE(recipes.first().in_place && recipes.first().finite);
  EXPECT_FALSE(recipes.first().check);
  Options o;
  o.precision = Precision::fp32;
  EXPECT_THROW(resolve(o, {.n = 1000, .handed_over = true}, means()), std::invalid_argument);
}

TEST(Recipes, go_by_a_leaf_where_one_holds_the_system_and_nothing_else_is_asked_for) {
  EXPECT_EQ(resolve({}, {.n = 30}, means(~0u, true)).first().executor, Executor::leaf);
  Options o;
  o.condition = true;
  o.progress = [](double) {};
  EXPECT_EQ(resolve(o, {.n = 30}, means(~0u, true)).first().executor, Executor::leaf);
  o.block_size = 8;
  EXPECT_EQ(resolve(o, {.n = 30}, means(~0u, true)).first().executor, Executor::plan);
}

/// A matrix that is supplied, and fits, goes as over several cards: to one.
TEST(Recipes, go_to_one_card_where_columns_are_supplied) {
  const Recipe one = resolve({}, {.n = 30, .by_columns = true}, means(~0u, true)).first();
  EXPECT_EQ(one.executor, Executor::cards);
  EXPECT_EQ(one.schedule, Schedule::right_looking);
  Options o;
  o.triangle = Uplo::lower;
  EXPECT_THROW(resolve(o, {.n = 30, .by_columns = true}, means()), std::invalid_argument);
}

TEST(Recipes, can_be_read) {
  Options o;
  o.precision = Precision::tf32;
  EXPECT_EQ(
      all_of(resolve(o, {.n = 64, .glance = Method::lu}, means())),
      "lu, right-looking, by plan, panels of 64, tf32, classical refinement, checked\n"
      "lu, right-looking, by plan, panels of 64, fp64, classical refinement, checked, condition in doubt\n"
      "lu, right-looking, by plan, panels of 64, tf32, classical refinement, scaled up, checked\n"
      "lu, right-looking, by plan, panels of 64, fp64, classical refinement, scaled up, checked, condition in doubt\n"
      "lu, right-looking, by plan, panels of 64, tf32, classical refinement, equilibrated, checked\n"
      "lu, right-looking, by plan, panels of 64, fp64, classical refinement, equilibrated, checked, condition in "
      "doubt\n");
  EXPECT_EQ(text_of(resolve({}, {.n = 4096}, means()).first()),
            "cholesky, left-looking, by plan, panels of 256, fp64, for A that is symmetric with a positive diagonal "
            "(found before), checked, condition in doubt");
}

/// Two recipes that differ in one thing differ in a field.
TEST(Recipes, tell_all_that_is_decided) {
  const auto told = [](const Recipe& r) {
    std::vector<RecipeValue> values;
    for (const auto& field : recipe_fields()) values.push_back(field.of(r));
    return values;
  };
  const Recipe usual = resolve({}, {.n = 5000}, means()).first();
  const std::function<void(Recipe&)> changes[] = {
      [](Recipe& r) {
        r.device = {Device::cpu, 0};
      },
      [](Recipe& r) { r.cards.count = 2, r.cards.indices[1] = 1; },
      [](Recipe& r) {
        r.cards.shares = {2, 1};
      },
      [](Recipe& r) { r.backend = "other"; },
      [](Recipe& r) { r.executor = Executor::cards; },
      [](Recipe& r) { r.method = Method::lu; },
      [](Recipe& r) { r.pivoting = Pivoting::tournament; },
      [](Recipe& r) { r.schedule = Schedule::recursive; },
      [](Recipe& r) { r.widths.panel = 8; },
      [](Recipe& r) { r.widths.step = 8; },
      [](Recipe& r) { r.precision.name = Precision::fp32; },
      [](Recipe& r) { r.precision.storage = Precision::bf16; },
      [](Recipe& r) { r.precision.residual = Precision::fp32; },
      [](Recipe& r) { r.refine = Refine::gmres; },
      [](Recipe& r) { r.by_coarse = true; },
      [](Recipe& r) { r.accuracy = 1e-9; },
      [](Recipe& r) { r.gmres_follows = !r.gmres_follows; },
      [](Recipe& r) { r.executor = Executor::leaf; },
      [](Recipe& r) { r.executor = Executor::ranks; },
      [](Recipe& r) { r.symmetry = Symmetry::after; },
      [](Recipe& r) { r.condition = Estimate::never; },
      [](Recipe& r) { r.asks_dominance = true, r.method = Method::lu_nopivot; },
      [](Recipe& r) { r.in_place = true; },
      [](Recipe& r) { r.arrives = true; },
      [](Recipe& r) { r.mirrors = true; },
      [](Recipe& r) { r.finite = false; },
      [](Recipe& r) { r.check = false; },
      [](Recipe& r) { r.bounds = true; },
      [](Recipe& r) { r.mends = false; },
  };
  for (const auto& change : changes) {
    Recipe other = usual;
    change(other);
    EXPECT_NE(told(other), told(usual)) << "change " << &change - changes;
  }
}

TEST(Recipes, are_told_after_which_others_they_come) {
  Options o;
  o.precision = Precision::fp32;
  const Recipes recipes = resolve(o, {.n = 5000}, means());
  EXPECT_TRUE(those_before(recipes, recipes.first()).empty());
  for (const Recipe& r : recipes) {
    const auto before = those_before(recipes, r);
    EXPECT_EQ(before.empty(), r.number == 0);
    for (const Before& one : before) EXPECT_LT(one.number, r.number);
  }
}

TEST(Recipes, of_right_hand_sides_follow_from_that_of_the_factors) {
  Options o;
  o.bounds = true;
  const Recipe by = resolve(o, {.n = 30}, means(~0u, true)).first();
  const auto of = [&](RhsProblem rhs) { return resolve(by, (rhs.n = 30, rhs)); };
  EXPECT_EQ(of({.nrhs = 1}).executor, Executor::plan) << "bounds are no part of a leaf";
  EXPECT_EQ(of({.nrhs = 4}).bounded_at_once, 1);
  EXPECT_EQ(of({.nrhs = 5}).bounded_at_once, 5);
  EXPECT_TRUE(of({.nrhs = 1, .overwritten = true}).keeps_B) << "the check reads B";
  EXPECT_FALSE(of({.nrhs = 1}).keeps_B);
  const Recipe leaf = resolve({}, {.n = 30}, means(~0u, true)).first();
  EXPECT_EQ(resolve(leaf, {.n = 30, .nrhs = 30, .most_of_a_leaf = 30}).executor, Executor::leaf);
  EXPECT_EQ(resolve(leaf, {.n = 30, .nrhs = 31, .most_of_a_leaf = 30}).executor, Executor::plan);
  EXPECT_EQ(resolve(by, {.n = 10000, .nrhs = 1000}).at_once, 1000);
  EXPECT_EQ(resolve(by, {.n = 10000, .nrhs = 1000, .watched = true}).at_once, 128);
  EXPECT_EQ(text_of(of({.nrhs = 7, .overwritten = true})),
            "by plan, 7 at once, from a copy of B, error bounds of 7 at once");
}

/// Derived from one of the list, it has its number.
TEST(Recipes, that_are_taken_say_what_A_was_found_to_need) {
  Options o;
  o.device.kind = Device::cpu, o.factorization = Method::lu;
  for (const bool is_small : {false, true}) {
    const Matrix<double> A = matrix_of<double>(
        200, 200, [&](auto i, auto j) { return (i == j ? 4 : 1 / double(1 + i + j)) * (is_small ? 1e-310 : 1); });
    Resolved decided;
    const RecipeWatch watch({decided});
    const Factorization<double> factors(A, o);
    ASSERT_TRUE(decided.taken);
    EXPECT_TRUE(factors.report().outcome.ok());
    EXPECT_EQ(decided.taken->scaled, is_small ? Scaled::up : Scaled::none);
  }
}

}  // namespace
}  // namespace lasolve::test
