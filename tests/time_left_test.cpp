// How far something is, and how long the rest takes.
#include <gtest/gtest.h>

#include <map>

#include "bench/time_left.hpp"
#include "solvers/refine/in_parts.hpp"
#include "solvers/watch.hpp"
#include "systems.hpp"

namespace lasolve::test {
namespace {

TEST(Pace, says_nothing_until_that_means_something) {
  bench::Pace pace;
  EXPECT_FALSE(pace.seconds_left(50, 0));        // what came before is no part of it
  EXPECT_FALSE(pace.seconds_left(50.5, 0.2));    // too soon
  EXPECT_FALSE(pace.seconds_left(51.5, 0.001));  // too little; and less than before, so it begins anew
  EXPECT_NEAR(pace.seconds_left(53.5, 0.101).value_or(0), 2 * 0.899 / 0.1, 1e-9);
  EXPECT_NEAR(pace.seconds_left(71.5, 1).value_or(-1), 0, 1e-9);
}

TEST(Pace, of_what_takes_hours_is_known_sooner_than_a_hundredth) {
  bench::Pace pace;
  pace.seconds_left(0, 0);
  EXPECT_FALSE(pace.seconds_left(20, 0.0005));
  EXPECT_NEAR(pace.seconds_left(40, 0.001).value_or(0), 40 * 999, 1);
}

/// What is heard of a solve, by steps.
std::map<Step, std::vector<double>> received_of(const Options& o, std::int64_t n, std::int64_t nrhs) {
  std::map<Step, std::vector<double>> received;
  const StepWatch watch([&](Step step, double share) { received[step].push_back(share); });
  const auto solved = solve_random(random_matrix<double>(n, n), nrhs, o);
  EXPECT_TRUE(solved.report.outcome.ok()) << solved.report.outcome.message();
  EXPECT_LT(solved.hpl, hpl_threshold);
  return received;
}

TEST(Steps, are_told_up_to_their_end) {
  Options o;
  o.device.kind = Device::cpu;
  o.condition = true;
  auto received = received_of(o, 200, 400);
  for (const Step step : {Step::solve, Step::check}) {
    ASSERT_GE(received[step].size(), 2u);
    EXPECT_EQ(received[step].front(), 0);
    EXPECT_TRUE(std::is_sorted(received[step].begin(), received[step].end()));
    EXPECT_EQ(received[step].back(), 1);
  }
  EXPECT_GE(received[Step::condition].size(), 2u);
  EXPECT_LE(received[Step::condition].back(), 1);
  EXPECT_TRUE(received[Step::refine].empty());
  o.precision = Precision::fp32;
  received = received_of(o, 200, 400);
  ASSERT_GE(received[Step::refine].size(), 5u);
  EXPECT_LT(*std::max_element(received[Step::refine].begin(), received[Step::refine].end()), 1);
  EXPECT_GT(received[Step::refine].back(), received[Step::refine].front());
}

TEST(Steps, of_many_right_hand_sides_are_told_by_parts_of_them) {
  Queue<Cpu> q(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  std::vector<double> received;
  const auto add = [&](std::int64_t first, std::int64_t count) { parts.emplace_back(first, count); };
  in_parts(
      q, Phase::solve, 100'000, 300, [&](double share) { received.push_back(share); }, add);
  EXPECT_EQ(parts, (std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 128}, {128, 128}, {256, 44}}));
  EXPECT_EQ(received, (std::vector<double>{0, 128 / 300., 256 / 300., 1}));
  parts.clear();
  in_parts(q, Phase::solve, 100'000, 300, {}, add);
  EXPECT_EQ(parts.size(), 1u) << "nobody hears, and so all are solved for at once";
}

TEST(Steps, are_not_told_on_a_thread_where_nobody_hears) {
  EXPECT_FALSE(progress_of(Step::solve));
  const StepWatch watch([](Step, double) {});
  EXPECT_TRUE(progress_of(Step::solve));
}

}  // namespace
}  // namespace lasolve::test
