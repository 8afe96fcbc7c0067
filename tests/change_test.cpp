// Whether two sets of times are told apart: how often wrongly, and how often when they ought to be.
#include "bench/change.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>

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
  for (const Machine& machine : {Machine{0.01}, Machine{0.01, 0.05, 0.02}, Machine{0.003, 0.05, 0, 0.01}}) {
    EXPECT_GE(thousandths(machine, 20, 1.03, Change::slower), 950) << machine.trend;
    EXPECT_GE(thousandths(machine, 20, 1 / 1.03, Change::faster), 950) << machine.trend;
  }
  EXPECT_GE(thousandths(Machine{0.02}, 35, 1.03, Change::slower), 950);
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
