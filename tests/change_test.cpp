// Whether two sets of times are told apart: how often wrongly, and how often when they ought to be.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>

#include "bench/machine_model.hpp"
#include "bench/yardstick.hpp"

namespace lasolve::bench {
namespace {

/// Times of one thing as machines give them: log-normal, some of them outliers, some of them drifting.
struct Machine {
  double spread = 0.01, outliers = 0.05, trend = 0, swing = 0;
  std::mt19937_64 random{1};

  std::vector<double> times(int count, double factor = 1) {
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    std::vector<double> all;
    const double turned = 2 * std::numbers::pi * uniform(random);
    for (int i = 0; i < count; ++i) {
      const double at = double(i) / count;
      double log = spread * normal(random) + trend * at + swing * std::sin(turned + 2 * std::numbers::pi * 3 * at);
      if (uniform(random) < outliers) log += 0.1 + 0.4 * uniform(random);
      all.push_back(factor * std::exp(log));
    }
    return all;
  }
};

/// How often, of a thousand pairs of sets, the verdict is `kind` where the second is `factor` of the first.
int thousandths(Machine machine, int count, double factor, Change::Kind kind) {
  int found = 0;
  for (int pair = 0; pair < 1000; ++pair) {
    const auto before = machine.times(count);
    found += change_between(before, machine.times(count, factor)).kind == kind;
  }
  return found;
}

TEST(Change, of_the_same_is_seldom_found) {
  for (const double spread : {0.003, 0.01, 0.02})
    for (const int count : {6, 10, 20, 40})
      for (const Machine& machine : {Machine{spread}, Machine{spread, 0.05, 0.02}, Machine{spread, 0.05, -0.02},
                                     Machine{spread, 0.05, 0, 0.01}, Machine{spread, 0.2}})
        EXPECT_GE(thousandths(machine, count, 1, Change::same), 990)
            << "spread " << spread << ", " << count << " samples, trend " << machine.trend << ", swing "
            << machine.swing;
}

TEST(Change, of_three_per_cent_is_found) {
  for (const Machine& machine : {Machine{0.01}, Machine{0.003, 0.05, 0, 0.01}}) {
    EXPECT_GE(thousandths(machine, 20, 1.03, Change::slower), 950) << machine.swing;
    EXPECT_GE(thousandths(machine, 20, 1 / 1.03, Change::faster), 950) << machine.swing;
  }
  EXPECT_GE(thousandths(Machine{0.02}, 35, 1.03, Change::slower), 950);
}

/// Of pairs of sessions as comparisons measure them: how many per cent are not SAME without a change, and SLOWER by 3 %; and what is
/// said to be visible, on average.
struct Verdicts {
  double wrong = 0, found = 0, visible = 0;
};
Verdicts verdicts(const MachineModel& machine) {
  std::mt19937_64 random(1);
  Verdicts all;
  constexpr int pairs = 500;
  for (int pair = 0; pair < pairs; ++pair) {
    const ModelSession before = medians_of_session(machine, 1, random);
    const Change same = verdict(before, medians_of_session(machine, 1, random));
    all.wrong += 100.0 * (same.kind != Change::same) / pairs;
    all.visible += 100 * same.visible / pairs;
    all.found += 100.0 * (verdict(before, medians_of_session(machine, 1.03, random)).kind == Change::slower) / pairs;
  }
  return all;
}

TEST(Verdict, is_seldom_wrong_and_finds_three_per_cent_on_machines_of_usual_noise) {
  for (const MachineModel& machine :
       {MachineModel{.spread = 0.005}, MachineModel{.spread = 0.01}, MachineModel{.spread = 0.02},
        MachineModel{.spread = 0.03}, MachineModel{.spread = 0.01, .outliers = 0.2},
        MachineModel{.spread = 0.01, .swing = 0.01}, MachineModel{.spread = 0.01, .visit = 0.01},
        MachineModel{.spread = 0.01, .session = 0.004}}) {
    const Verdicts all = verdicts(machine);
    EXPECT_LE(all.wrong, 1) << machine.spread << " " << machine.visit << " " << machine.session;
    EXPECT_GE(all.found, 95) << machine.spread << " " << machine.visit << " " << machine.session;
  }
}

TEST(Verdict, says_what_noise_hides) {
  for (const MachineModel& machine :
       {MachineModel{.spread = 0.01, .trend = 0.03}, MachineModel{.spread = 0.01, .visit = 0.03},
        MachineModel{.spread = 0.06}, MachineModel{.spread = 0.01, .shown = 0.1, .sensitivity = 1.15}}) {
    const Verdicts all = verdicts(machine);
    EXPECT_LE(all.wrong, 1) << machine.spread << " " << machine.visit << " " << machine.shown;
    EXPECT_LT(all.found, 95) << machine.spread << " " << machine.visit << " " << machine.shown;
    EXPECT_GT(all.visible, 3) << machine.spread << " " << machine.visit << " " << machine.shown;
  }
}

TEST(Change, allows_for_the_machine) {
  const std::vector<double> before(10, 1.0), after(10, 1.1);
  EXPECT_EQ(change_between(before, after).kind, Change::slower);
  EXPECT_EQ(change_between(before, after, {.machine = {-0.2, 0.05}}).kind, Change::slower);
  EXPECT_EQ(change_between(before, after, {.machine = {0, 0.09}}).kind, Change::same);
  EXPECT_EQ(change_between(after, before, {.machine = {0, 0.5}}).kind, Change::faster);
  EXPECT_EQ(change_between(after, before, {.machine = {-0.1, 0}}).kind, Change::same);
  EXPECT_GT(change_between(before, after, {.machine = {0, 0.09}}).visible, 0.1);
  EXPECT_THROW(change_between(before, after, {.machine = {0.1, 0}}), std::invalid_argument);
}

TEST(Change, is_without_what_the_machine_is_known_to_have_done) {
  const std::vector<double> before(10, 1.0), after(10, 1.1);
  const Change rest = change_between(before, after, {.machine = {.known = 0.06}});
  EXPECT_NEAR(rest.shift, 1.1 / 1.06 - 1, 1e-12);
  EXPECT_EQ(rest.machine, 0.06);
  EXPECT_EQ(rest.kind, Change::slower);
  EXPECT_EQ(change_between(before, after, {.machine = {.known = 0.09}}).kind, Change::same);
  EXPECT_EQ(change_between(before, after, {.machine = {.known = 0.2}}).kind, Change::faster);
  EXPECT_EQ(change_between(before, after, {.machine = {0, 0.03, 0.06}}).kind, Change::same);
  EXPECT_THROW(change_between(before, after, {.machine = {.known = -1}}), std::invalid_argument);
}

TEST(Change, counts_samples_that_follow_one_another_as_fewer) {
  std::vector<double> rising, mixed;
  for (int i = 0; i < 20; ++i) rising.push_back(1 + 0.001 * i), mixed.push_back(1 + 0.001 * (i * 7 % 20));
  EXPECT_GT(correlation_of({rising}), 0.9);
  EXPECT_LT(correlation_of({mixed}), 0.1);
  EXPECT_EQ(correlation_of({{1, 1, 1, 1}}), 0);
  EXPECT_EQ(correlation_of({{1, 2}, {}}), 0);
  const Change a = change_between(rising, rising), b = change_between(mixed, mixed);
  EXPECT_GT(a.high, 2 * b.high);
}

TEST(Yardstick, tells_how_the_machine_has_changed) {
  Yardstick before, after;
  before.measure(2);
  EXPECT_GT(before.alone.at(0), 0);
  EXPECT_GT(before.on_all_threads.at(0), 0);
  EXPECT_EQ(machine_between({}, before).slower, 0);
  before.alone = before.on_all_threads = after.on_all_threads = std::vector<double>(10, 1.0);
  after.alone = std::vector<double>(10, 1.2);
  EXPECT_NEAR(machine_between(before, after).slower, std::pow(1.2, 1.25) - 1, 1e-9);
  EXPECT_EQ(machine_between(before, after).faster, 0);
  EXPECT_NEAR(machine_between(after, before).faster, std::pow(1.2, -1.25) - 1, 1e-9);
  EXPECT_EQ(machine_between(before, after, times_of_cuda).slower, 0) << "there are no launches";
  before.launches = std::vector<double>(10, 1.0), after.launches = std::vector<double>(10, 1.1);
  EXPECT_NEAR(machine_between(before, after, times_of_cuda).slower, std::pow(1.1, 1.25) - 1, 1e-9);
}

TEST(Visits, take_turns_until_enough_is_known) {
  Visits visits{.most = 20, .least = 10, .runs = 3, .interval = 0, .noise = 0.003, .enough_seconds = 5, .few_runs = 2};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0.01, 0.02);
  int begun = 0, warm = 0, long_warm = 0;
  const auto runs = time_in_visits(
      visits, 5, [&](int visit) { EXPECT_EQ(visit, begun++); },
      [&](std::size_t c, bool counts) -> std::optional<double> {
        warm += c == 0 && !counts;
        long_warm += c == 2 && !counts;
        if (c == 4) return {};
        return c == 0 ? 0.01 : c == 1 ? uniform(random) : c == 2 ? 0.2 : 4.0;
      });
  EXPECT_EQ(runs[0], std::vector<int>(10, 3)) << "no noise";
  EXPECT_EQ(runs[1], std::vector<int>(20, 3)) << "much noise";
  EXPECT_EQ(runs[2], std::vector<int>(10, 1)) << "long runs";
  EXPECT_EQ(runs[3], std::vector<int>(2, 1)) << "very long runs: few";
  EXPECT_EQ(runs[4], std::vector<int>()) << "it failed";
  EXPECT_EQ(begun, 20);
  EXPECT_EQ(warm, 10);
  EXPECT_EQ(long_warm, 1);
  EXPECT_EQ(medians_of_visits({1, 5, 3, 2}, {3, 1}), (std::vector<double>{3, 2}));
  EXPECT_THROW(medians_of_visits({1}, {2}), std::invalid_argument);
}

TEST(Change, that_is_sure_but_small_is_none) {
  EXPECT_EQ(thousandths(Machine{0.001}, 40, 1.01, Change::same), 1000);
  EXPECT_EQ(thousandths(Machine{0.001}, 40, 1 / 1.01, Change::same), 1000);
  EXPECT_EQ(change_between({1, 1, 1, 1, 1, 1}, {1.01, 1.01, 1.01, 1.01, 1.01, 1.01}, {.least_effect = 0.005}).kind,
            Change::slower);
}

TEST(Change, has_the_shift_and_its_interval) {
  const std::vector<double> before = {1, 1.1, 0.9, 1.05, 0.95, 1}, after = {2, 2.2, 1.8, 2.1, 1.9, 2};
  const Change twice = change_between(before, after), half = change_between(after, before);
  EXPECT_EQ(twice.kind, Change::slower);
  EXPECT_NEAR(twice.shift, 1, 1e-12);
  EXPECT_GT(twice.low, 0.5);
  EXPECT_LT(twice.high, 1.6);
  EXPECT_EQ(half.kind, Change::faster);
  EXPECT_NEAR(1 + half.low, 1 / (1 + twice.high), 1e-12);
  int holds = 0;
  for (Machine machine{0.02}; holds < 1000; ++holds) {
    const auto a = machine.times(12);
    const Change change = change_between(a, machine.times(12, 1.2));
    ASSERT_LE(change.low, change.shift);
    ASSERT_LE(change.shift, change.high);
  }
}

TEST(ChangeOfPairs, is_without_what_the_two_of_a_pair_share) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  constexpr int sets = 2000;
  int wrong = 0, found = 0, held = 0;
  for (int set = 0; set < sets; ++set) {
    std::vector<double> a, same, slower;
    for (int v = 0; v < 12; ++v) {
      const double visit = std::exp(normal(random));  // the machine
      const auto once = [&] { return visit * std::exp(0.01 * normal(random)); };
      a.push_back(once()), same.push_back(once()), slower.push_back(1.05 * once());
    }
    const Change without = change_of_pairs(a, same), with = change_of_pairs(a, slower);
    wrong += without.kind != Change::same;
    found += with.kind == Change::slower;
    held += with.low <= 0.05 && 0.05 <= with.high;
  }
  EXPECT_LE(wrong, sets / 100);
  EXPECT_GE(found, sets * 95 / 100);
  EXPECT_GE(held, sets * 99 / 100) << "the interval is of 99.5 %";
  EXPECT_EQ(change_of_pairs(std::vector<double>(9, 1.0), std::vector<double>(9, 1.1)).kind, Change::slower);
  EXPECT_TRUE(std::isinf(change_of_pairs(std::vector<double>(8, 1.0), std::vector<double>(8, 1.1)).high));
  EXPECT_THROW(change_of_pairs({1, 2}, {1}), std::invalid_argument);
  EXPECT_THROW(change_of_pairs({}, {}), std::invalid_argument);
}

TEST(Change, of_too_few_is_none_and_of_none_is_misuse) {
  const std::vector<double> least(least_for_a_verdict, 1.0), more(least_for_a_verdict, 9.0);
  EXPECT_EQ(change_between(least, more).kind, Change::slower);
  const Change few = change_between({1, 1, 1, 1, 1}, {9, 9, 9, 9, 9});
  EXPECT_EQ(few.kind, Change::same);
  EXPECT_EQ(few.low, -1);
  EXPECT_TRUE(std::isinf(few.high));
  EXPECT_THROW(change_between({}, {1}), std::invalid_argument);
  EXPECT_THROW(change_between({1}, {}), std::invalid_argument);
  EXPECT_THROW(change_between({1, 0}, {1}), std::invalid_argument);
  EXPECT_THROW(change_between({1}, {std::nan("")}), std::invalid_argument);
  EXPECT_EQ(std::string(name_of(Change::slower)), "slower");
}

TEST(Noise, is_the_standard_error_of_the_median) {
  EXPECT_TRUE(std::isinf(noise_of({})));
  EXPECT_TRUE(std::isinf(noise_of({1})));
  EXPECT_EQ(noise_of({2, 2, 2, 9}), 0) << "an outlier does not count";
  Machine machine{0.01, 0};
  double sum = 0;
  for (int i = 0; i < 200; ++i) sum += noise_of(machine.times(100));
  EXPECT_NEAR(sum / 200, 1.2533 * 0.01 / 10, 0.0002);
}

}  // namespace
}  // namespace lasolve::bench
