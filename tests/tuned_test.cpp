// What `lasolve tune` chooses from times that are planted.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/backend_table.hpp"
#include "core/choose.hpp"
#include "core/tuning.hpp"
#include "devices.hpp"
#include "solvers/driver/engine.hpp"
#include "tuned/search.hpp"
#include "tuned/setting.hpp"

namespace lasolve::tuned {
namespace {

constexpr double microseconds = 1e-6;  // tests rest as long as these runs
constexpr double plenty = 60;

std::vector<double> samples(double seconds, int count, double spread, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> all;
  for (int i = 0; i < count; ++i) all.push_back(seconds * std::exp(spread * normal(random)));
  return all;
}

TimedSetting timed_setting(double seconds, int count = 20, double spread = 0.01) {
  static unsigned seed = 0;
  return {{"some"}, samples(seconds, count, spread, ++seed)};
}

TEST(Winner, is_faster_by_more_than_the_noise) {
  EXPECT_EQ(winner({timed_setting(1), timed_setting(1.2), timed_setting(0.9)}), 2u);
  EXPECT_EQ(winner({timed_setting(1), timed_setting(0.9), timed_setting(0.8)}), 2u);
  EXPECT_EQ(winner({timed_setting(1), timed_setting(0.995)}), 0u);
  EXPECT_EQ(winner({timed_setting(1, 20, 0.3), timed_setting(0.97, 20, 0.3)}), 0u);
}

TEST(Winner, has_not_failed_and_has_run_often_enough) {
  TimedSetting failed = timed_setting(0.5);
  failed.failure = "its answer is wrong";
  EXPECT_EQ(winner({timed_setting(1), failed, timed_setting(0.9)}), 2u);
  EXPECT_EQ(winner({timed_setting(1), failed}), 0u);
  TimedSetting given_up = timed_setting(0.5);
  given_up.given_up = true;
  EXPECT_EQ(winner({timed_setting(1), given_up}), 0u);
  EXPECT_EQ(winner({timed_setting(1), timed_setting(0.5, 5)}), 0u);
  EXPECT_EQ(winner({timed_setting(1, 5), timed_setting(0.5)}), 0u);
  EXPECT_EQ(winner({timed_setting(1), {}}), 0u);
}

/// A machine on which each setting takes its time, with a spread of 1 %.
struct Planted {
  std::function<Run(const Setting&, int run)> run;
  std::map<std::string, int> runs = {};  // of each backend
  std::mt19937_64 random{1};
  std::normal_distribution<double> normal{};

  Run operator()(const Setting& s, double most_seconds) {
    Run made = run(s, runs[s.gemm]++);
    if (!made.seconds) return made;
    *made.seconds *= microseconds * std::exp(0.01 * normal(random));
    return *made.seconds > most_seconds ? Run{} : made;
  }
};

Run takes(double seconds) { return {seconds, ""}; }
Run fails(const char* why) { return {{}, why}; }

TEST(SuccessiveHalving, goes_on_with_the_better_half) {
  std::vector<Setting> settings;
  for (const char* name : {"first", "a", "b", "c", "d", "best"}) settings.push_back({name});
  const std::map<std::string, double> times = {{"first", 20}, {"a", 14}, {"b", 15}, {"c", 16}, {"d", 17}, {"best", 10}};
  Planted machine{[&](const Setting& s, int) { return takes(times.at(s.gemm)); }};
  const TimedSettings timed = successive_halving(settings, std::ref(machine), plenty);
  EXPECT_FALSE(timed.ran_out_of_time);
  EXPECT_EQ(winner(timed.all), 5u);
  EXPECT_EQ(timed.all[4].seconds.size(), 3u) << "the worst is out after one heat";
  EXPECT_GE(timed.all[0].seconds.size(), 12u);
  EXPECT_GE(timed.all[5].seconds.size(), 12u);
}

TEST(SuccessiveHalving, gives_up_what_takes_long_and_drops_what_fails) {
  Planted machine{[&](const Setting& s, int run) {
    if (s.gemm == "wrong" && run == 2) return fails("its answer is wrong");
    return takes(s.gemm == "slow" ? 1e6 : s.gemm == "wrong" ? 5 : 10);
  }};
  const TimedSettings timed = successive_halving({{"first"}, {"slow"}, {"wrong"}}, std::ref(machine), plenty);
  EXPECT_EQ(machine.runs["slow"], 1) << "what takes a second where others take 10 us is not run again";
  EXPECT_EQ(timed.all[2].failure, "its answer is wrong");
  EXPECT_EQ(machine.runs["wrong"], 3);
  EXPECT_FALSE(timed.ran_out_of_time);
  EXPECT_EQ(winner(timed.all), 0u);
}

TEST(SuccessiveHalving, ends_when_the_time_is_over) {
  Planted machine{[](const Setting&, int) { return takes(10); }};
  const TimedSettings timed = successive_halving({{"first"}, {"other"}}, std::ref(machine), 0);
  EXPECT_TRUE(timed.ran_out_of_time);
  EXPECT_TRUE(machine.runs.empty());
}

Space space() {
  return {1000,
          {"usual", Schedule::right_looking, 128},
          {{"usual", Schedule::right_looking, 128},
           {"other", Schedule::right_looking, 128},
           {"third", Schedule::right_looking, 128}},
          {{Schedule::right_looking, 128}, {Schedule::left_looking, 128}, {Schedule::recursive, 128}}};
}

TEST(Search, finds_backend_then_block_size_then_schedule) {
  const auto time = [](const Setting& s) {
    const double columns = std::log2(double(s.block_size) / 384);  // 384 are best: two comparisons away
    return (s.gemm == "other" ? 9 : 10) * (1 + 0.2 * columns * columns) *
           (s.schedule == Schedule::left_looking ? 0.8 : 1);
  };
  Planted machine{[&](const Setting& s, int) { return takes(time(s)); }};
  const Space in = space();
  const Found found = search(in, std::ref(machine), plenty);
  EXPECT_EQ(found.chosen, (Setting{"other", Schedule::left_looking, 384}));
  EXPECT_TRUE(found.is_known(in));
  EXPECT_EQ(found.change.kind, bench::Change::faster);
  EXPECT_NEAR(1 + found.change.shift, time(found.chosen) / time(in.by_default), 0.02);
  EXPECT_NEAR(found.default_seconds, time(in.by_default) * microseconds, 0.05 * found.default_seconds);
  EXPECT_EQ(found.steps.back().what, "against the default");
}

TEST(Search, stays_with_the_default_where_nothing_is_faster) {
  for (const double gain : {1.0, 0.995}) {
    Planted machine{[=](const Setting& s, int) { return takes(s == space().by_default ? 10 : 10 * gain); }};
    const Space in = space();
    const Found found = search(in, std::ref(machine), plenty);
    EXPECT_TRUE(found.is_default(in));
    EXPECT_TRUE(found.is_known(in));
    EXPECT_GT(found.default_seconds, 0);
  }
}

TEST(Search, takes_nothing_that_was_only_lucky) {
  Planted machine{[](const Setting& s, int run) { return takes(s.gemm == "other" && run < 40 ? 5 : 10); }};
  const Space in = space();
  const Found found = search(in, std::ref(machine), plenty);
  ASSERT_EQ(found.steps.front().winner, 1u) << "it was no longer lucky in the first comparison";
  EXPECT_TRUE(found.is_default(in));
}

TEST(Search, never_chooses_what_fails) {
  Planted machine{[](const Setting& s, int) {
    if (s.gemm == "other" || s.schedule == Schedule::recursive) return fails("its answer is wrong");
    return takes(10);
  }};
  const Space in = space();
  EXPECT_TRUE(search(in, std::ref(machine), plenty).is_default(in));
}

TEST(Search, says_that_the_default_fails_or_that_time_ran_out) {
  Planted failing{[](const Setting& s, int) { return s.gemm == "usual" ? fails("no memory") : takes(10); }};
  const Space in = space();
  EXPECT_EQ(search(in, std::ref(failing), plenty).failure, "no memory");
  EXPECT_FALSE(search(in, std::ref(failing), plenty).is_known(in));
  Planted machine{[](const Setting&, int) { return takes(10); }};
  const Found found = search(in, std::ref(machine), 0);
  EXPECT_TRUE(found.ran_out_of_time);
  EXPECT_FALSE(found.is_known(in));
}

TEST(Search, needs_no_alternative) {
  Planted machine{[](const Setting&, int) { return takes(10); }};
  const Space alone{1, {"usual", Schedule::right_looking, 1}, {{"usual", Schedule::right_looking, 1}}, {}};
  const Found found = search(alone, std::ref(machine), plenty);
  EXPECT_TRUE(found.is_known(alone));
  EXPECT_GT(found.default_seconds, 0);
}

TEST(Search, takes_another_backend_for_small_products_where_that_is_faster) {
  for (const double gain : {0.9, 0.998}) {
    Planted machine{[=](const Setting& s, int) {
      if (s.small.empty()) return takes(s.gemm == "usual" ? 10 : 12);
      return takes(s.small == "third" && s.small_below < 2 * 300.0 * 300 * 128 ? 10 * gain : 11);
    }};
    const Space in = space();
    const Found found = search(in, std::ref(machine), plenty);
    ASSERT_EQ(found.steps.at(3).what, "small products");
    EXPECT_EQ(found.is_default(in), gain > 0.99);
    if (gain > 0.99) continue;
    EXPECT_EQ(found.chosen.gemm, "usual");
    EXPECT_EQ(found.chosen.small, "third");
    EXPECT_GE(found.chosen.small_below, 2 * 64.0 * 64 * 128);
    EXPECT_LE(found.chosen.small_below, 2 * 256.0 * 256 * 128);
    EXPECT_NEAR(1 + found.change.shift, gain, 0.02);
  }
}

/// Quick products have another schedule by default: with the one of the others their backend would be out at once.
TEST(Search, tries_a_backend_with_what_is_its_default) {
  Space in = space();
  in.by_backend[1].schedule = Schedule::left_looking, in.by_backend[1].block_size = 64;
  Planted machine{[](const Setting& s, int) {
    const bool at_home = s.schedule == Schedule::left_looking && s.block_size <= 96;
    return takes(s.gemm != "other" ? 10 : at_home ? 7 : 200);
  }};
  const Found found = search(in, std::ref(machine), plenty);
  EXPECT_EQ(found.chosen, (Setting{"other", Schedule::left_looking, 64}));
}

/// What is found in a precision stays in it, and has other panels than the default.
TEST(Search, goes_on_in_the_precision_that_is_faster) {
  Space in = space();
  for (const char* const backend : {"usual", "other"})
    in.by_backend.push_back({backend, Schedule::right_looking, 256, {}, 0, Precision::fp32});
  Planted machine{[](const Setting& s, int) {
    const double columns = std::log2(double(s.block_size) / 512);
    return takes(s.precision == Precision::fp32 ? (s.gemm == "other" ? 5 : 7) * (1 + 0.2 * columns * columns) : 10);
  }};
  const Found found = search(in, std::ref(machine), plenty);
  EXPECT_EQ(found.chosen, (Setting{"other", Schedule::right_looking, 512, {}, 0, Precision::fp32}));
  for (const TimedSetting& t : found.steps.at(3).timed) EXPECT_EQ(t.setting.precision, Precision::fp32);
}

TEST(QuickProducts, are_those_of_the_backend_that_is_refined_and_of_one_that_leaves_small_products_to_another) {
  static GemmBackend<Cpu> quick = test::some_backend<Cpu>();
  quick.name = "quick";
  backend_table<Cpu>().add({"quick", &quick, 0, 1});
  const auto is_quick = [](const Setting& s) {
    Record record;
    Options o;
    o.device.kind = Device::cpu, o.gemm = gemm_of(s, o.device, record);
    const Choice choice = choose(o);
    return means_of(*std::get<const GemmBackend<Cpu>*>(choice.backend), o, cpu_tuning().values, false).is_quick;
  };
  EXPECT_TRUE(is_quick({"quick"}));
  EXPECT_TRUE(is_quick({.gemm = "quick", .small = "tiled", .small_below = 1e5}));
  EXPECT_FALSE(is_quick({"tiled"}));
  EXPECT_FALSE(is_quick({.gemm = "tiled", .small = "quick", .small_below = 1e5}));
}

TEST(SmallProducts, are_those_of_up_to_half_of_the_matrix) {
  EXPECT_EQ(small_products(128, 1000),
            (std::vector<double>{2 * 64.0 * 64 * 128, 2 * 128.0 * 128 * 128, 2 * 256.0 * 256 * 128}));
  EXPECT_TRUE(small_products(128, 128).empty());
}

TEST(GemmOf, is_the_backend_or_both_as_one) {
  const Device cpu{Device::cpu, 0};
  Record record;
  EXPECT_EQ(std::get<std::string>(gemm_of({"tiled"}, cpu, record)), "tiled");
  const Setting two{"tiled", Schedule::right_looking, 8, "packed", 1e5};
  const auto* both = std::get<const GemmBackend<Cpu>*>(gemm_of(two, cpu, record));
  EXPECT_EQ(both, std::get_if<GemmBackend<Cpu>>(&record));
  EXPECT_STREQ(both->name, "tiled");
  EXPECT_STREQ(both->small->name, "packed");
  EXPECT_EQ(both->small_below, 1e5);
  Setting other = two;
  other.small = "nothing";
  EXPECT_THROW(gemm_of(other, cpu, record), UnknownName);
}

TEST(BlockSizes, are_around_the_best_so_far) {
  EXPECT_EQ(block_sizes_around(128, 1000), (std::vector<std::int64_t>{64, 96, 192, 256}));
  EXPECT_EQ(block_sizes_around(128, 200), (std::vector<std::int64_t>{64, 96, 192}));
  EXPECT_EQ(block_sizes_around(8, 1000), (std::vector<std::int64_t>{16}));
  EXPECT_TRUE(block_sizes_around(1, 1).empty());
}

}  // namespace
}  // namespace lasolve::tuned
