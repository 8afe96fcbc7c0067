// Verdicts of `lasolve compare --baseline`, on times that are made up: what is a change, and what the machine may have done.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "bench/device_model.hpp"
#include "compare/common_movement.hpp"
#include "compare/verdict.hpp"

namespace lasolve::compare {
namespace {

/// Ten visits of one run, which differ by 1 %.
Row row(std::int64_t n, double seconds, const std::string& device) {
  Row r;
  r.key = {"a", "fp64", device, n};
  for (int i = 0; i < 10; ++i) r.seconds.push_back(seconds * (1 + 0.001 * i));
  r.visits = std::vector<int>(10, 1);
  return r;
}

/// A comparison of one row, whose visits have one run each.
Comparison of_one(const Size& size, const Row& row) {
  Comparison all;
  all.sizes = {size}, all.rows = {row};
  return all;
}

TEST(Verdict, compares_visits_and_allows_for_the_machine) {
  Row before = row(100, 1, "cpu"), after = before;
  for (double& s : after.seconds) s *= 1.1;
  Size then{100, "m", "h"}, now = then;
  const auto kind = [&](const Size& a, const Size& b) {
    return verdict(of_one(a, before), of_one(b, after), after.key)->kind;
  };
  EXPECT_EQ(kind(then, now), bench::Change::slower);
  then.yardstick = {std::vector<double>(10, 1.0), std::vector<double>(10, 1.0)};
  now.yardstick = {std::vector<double>(10, 1.0), std::vector<double>(10, 1.15)};
  EXPECT_EQ(kind(then, now), bench::Change::same);
  EXPECT_EQ(kind(now, then), bench::Change::slower);
  now = then;
  now.other_processors = 0.5;
  EXPECT_EQ(kind(then, now), bench::Change::same) << "other programs may have done it";
  EXPECT_GT(verdict(of_one(then, before), of_one(now, after), after.key)->visible, 0.5);
  EXPECT_EQ(kind(now, then), bench::Change::slower);
  before.key.device = after.key.device = "cuda:0";
  EXPECT_EQ(kind(then, now), bench::Change::slower) << "that yardstick is of the host";
  after.visits = {5, 5};
  EXPECT_EQ(kind(then, now), bench::Change::slower) << "runs, where visits are few";
  EXPECT_FALSE(verdict(of_one(then, before), of_one(now, after), {"b", "fp64", "cpu", 100}));
  EXPECT_FALSE(verdict({}, of_one(now, after), after.key));
}

/// Five rows on a machine whose other programs make visits 1 to 4 times as long by the clock, and sessions differ by `session`. The row
/// "a" takes `planted` times as long. Processor times hardly notice.
Comparison loaded_session(std::mt19937_64& random, double session, double planted = 1, int rows = 5) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  Comparison all;
  all.sizes = {Size{500, "m", "h"}};
  all.sizes[0].other_processors = 1.5;
  for (int r = 0; r < rows; ++r) {
    Row row;
    row.key = {std::string(1, char('a' + r)), "fp64", "cpu", 500};
    row.visits = std::vector<int>(40, 1);
    all.rows.push_back(row);
  }
  for (int v = 0; v < 40; ++v) {
    const double visit = session * std::exp(1.4 * uniform(random));
    for (int r = 0; r < rows; ++r) {
      const double work = 0.004 * (1 + 0.3 * r) * (r == 0 ? planted : 1);
      all.rows[std::size_t(r)].seconds.push_back(work * visit * std::exp(0.15 * normal(random)));
      all.rows[std::size_t(r)].processor_seconds.push_back(work * std::exp(0.06 * normal(random)));
    }
  }
  return all;
}

TEST(VerdictOnBusyHost, is_found_beside_the_other_rows_of_the_same_visits) {
  std::mt19937_64 random(1);
  int wrong = 0, twice = 0, fifth = 0, others = 0;
  for (int pair = 0; pair < 40; ++pair) {
    const Comparison before = loaded_session(random, 1), same = loaded_session(random, 1.4),
                     slower = loaded_session(random, 1.4, 1.2), slow = loaded_session(random, 0.7, 2);
    for (const Row& row : same.rows) wrong += verdict(before, same, row.key)->kind != bench::Change::same;
    for (const Row& row : slower.rows)
      (row.key.gemm == "a" ? fifth : others) += verdict(before, slower, row.key)->kind == bench::Change::slower;
    twice += verdict(before, slow, slow.rows[0].key)->kind == bench::Change::slower;
  }
  EXPECT_LE(wrong, 2) << "of 200";
  EXPECT_LE(others, 2) << "of 160";
  EXPECT_GE(fifth, 38);
  EXPECT_EQ(twice, 40);
}

TEST(VerdictOnBusyHost, is_left_open_where_clock_and_processor_time_do_not_agree) {
  std::mt19937_64 random(1);
  const Comparison before = loaded_session(random, 1);
  Comparison after = loaded_session(random, 1);
  for (double& s : after.rows[0].seconds) s *= 8;  // a run that no longer fits into a slice of time
  const bench::Change change = *verdict(before, after, after.rows[0].key);
  EXPECT_EQ(bench::word_of(change), std::string("unknown"));
  after.rows[0].processor_seconds = before.rows[0].processor_seconds;
  for (double& s : after.rows[0].processor_seconds) s *= 2;
  EXPECT_EQ(verdict(before, after, after.rows[0].key)->kind, bench::Change::slower);
}

TEST(VerdictOnBusyHost, of_two_rows_is_of_the_one_that_has_moved) {
  std::mt19937_64 random(1);
  const Comparison before = loaded_session(random, 1, 1, 2), after = loaded_session(random, 1, 2, 2);
  EXPECT_EQ(verdict(before, after, after.rows[0].key)->kind, bench::Change::slower);
  EXPECT_EQ(verdict(before, after, after.rows[1].key)->kind, bench::Change::same) << "not faster";
}

TEST(VerdictOnDevice, allows_for_launches_as_far_as_a_solve_has_them) {
  Row before = row(400, 4e-4, "cuda:0"), after = before;
  for (double& s : after.seconds) s *= 1.04;
  const auto chain = [](double factor) { return std::vector<double>(10, factor * 192 * 4e-6); };
  Size then{400, "m", "h"}, now = then;
  then.yardstick.launches = chain(1), now.yardstick.launches = chain(1.04);
  const auto judged = [&] { return *verdict(of_one(then, before), of_one(now, after), after.key); };
  EXPECT_EQ(judged().kind, bench::Change::same);
  now.yardstick.launches = chain(0.96);
  EXPECT_EQ(judged().kind, bench::Change::slower) << "launches are faster";
  now.yardstick.launches = {};
  EXPECT_EQ(judged().kind, bench::Change::slower) << "nobody knows";
  now.yardstick.launches = chain(1.04);
  for (Row* r : {&before, &after})
    for (double& s : r->seconds) s *= 100;
  EXPECT_EQ(judged().kind, bench::Change::slower) << "launches are one per cent of this solve";
}

TEST(VerdictOnDevice, knows_what_visits_of_a_session_and_rows_of_a_size_share) {
  for (const DeviceModel& device :
       {DeviceModel{}, DeviceModel{.run = 0.01}, DeviceModel{.visit = 0.003, .session = 0.003},
        DeviceModel{.visit = 0.01}, DeviceModel{.visit = 0.01, .session = 0.008},
        DeviceModel{.visit = 0.003, .session = 0.003, .shown = 0.02}}) {
    const std::string which = fmt::format("runs {}, visits {}, sessions {}, shown {}", device.run, device.visit,
                                          device.session, device.shown);
    const VerdictShares shares = shares_of_verdicts(device, 60);
    EXPECT_LE(shares.wrong, 1) << which;
    EXPECT_GE(shares.found, 95) << which;
    EXPECT_LE(shares.wrong_beside, 1) << which;
    if (device.visit < 0.005 && device.shown == 0) {
      EXPECT_GE(shares.solver, 95) << which;
    }
  }
}

TEST(VerdictOnDevice, finds_one_of_two_rows_where_launches_differ_and_solves_do_not) {
  for (const double shown : {0.05, 0.5}) {  // the visits show the first; of the second, only the other row tells
    const VerdictShares shares =
        shares_of_verdicts({.run = 0.002, .shown = shown, .launches = 0.12, .share = 0.005, .backends = 2}, 200);
    EXPECT_GE(shares.found, 90) << shown;
    EXPECT_LE(shares.wrong, 1) << shown;
    EXPECT_LE(shares.wrong_beside, 1) << shown;
  }
}

TEST(VerdictOnDevice, allows_two_rows_to_follow_launches_of_sessions) {
  for (const DeviceModel& device :
       {DeviceModel{.shown = 0.2, .backends = 2}, DeviceModel{.run = 0.0005, .shown = 0.2, .share = 0.1, .backends = 2},
        DeviceModel{.shown = 0.2, .launches = 0.12, .share = 0.3, .backends = 2},
        DeviceModel{.shown = 0.2, .launches = 0.03, .share = 0.1, .backends = 2}}) {
    const VerdictShares shares = shares_of_verdicts(device, 200);
    EXPECT_LE(shares.wrong, 1) << device.share << " of launches that differ by " << device.launches;
    EXPECT_LE(shares.wrong_beside, 1) << device.share << " of launches that differ by " << device.launches;
  }
}

TEST(VerdictOnDevice, is_told_of_rows_that_stand_with_most_others_whatever_launches_did) {
  for (const int backends : {2, 3, 4}) {
    const DeviceModel device{
        .visit = 0.005, .session = 0.005, .shown = 0.1, .launches = 0.1, .share = 0.1, .backends = backends};
    const VerdictShares shares = shares_of_verdicts(device, 200);
    EXPECT_LE(shares.wrong, 1) << backends;
    EXPECT_GE(shares.decided, 95) << backends;
    EXPECT_LE(shares.missed, 5) << backends;
    EXPECT_LE(shares.wrong_beside, 1) << backends;
  }
  std::mt19937_64 random(1);
  const Comparison before = session_of({.shown = 0.2, .backends = 2}, random),
                   after = session_of({.session = 0.03, .backends = 2}, random);
  for (const Row& row : after.rows) {
    const bench::Change change = *verdict(before, after, row.key);
    EXPECT_EQ(bench::word_of(change), std::string("same"));
    const double moved = bench::spread_of(row.seconds).median / bench::spread_of(before.find(row.key)->seconds).median;
    EXPECT_GT(std::abs(moved - 1), 0.02) << "the machine has moved";
    EXPECT_NEAR((1 + change.shift) * (1 + change.machine), moved, 0.004);
  }
}

TEST(Sessions, of_a_baseline_are_added_up) {
  std::mt19937_64 random(1);
  const DeviceModel quiet{.visit = 0.001};
  const Comparison first = session_of(quiet, random);
  Comparison second = session_of(quiet, random, 1, 1.03), all = first;
  second.sizes[0].other_processors = 0.5;
  second.rows[1].failure = "no";
  second.rows[2].visits.clear();
  add_session(all, second);
  EXPECT_EQ(all.rows[0].seconds.size(), first.rows[0].seconds.size() + second.rows[0].seconds.size());
  EXPECT_EQ(all.rows[0].visits.size(), all.rows[0].seconds.size());
  EXPECT_EQ(all.rows[1].seconds, first.rows[1].seconds) << "it failed";
  EXPECT_EQ(all.rows[2].seconds, first.rows[2].seconds) << "it has no visits";
  EXPECT_EQ(all.sizes[0].yardstick.launches.size(),
            first.sizes[0].yardstick.launches.size() + second.sizes[0].yardstick.launches.size());
  EXPECT_EQ(all.sizes[0].other_processors, 0.5);
  const auto of = [](const Comparison& c) {
    std::vector<const Row*> rows = c.at(704);
    return spread_of_movement(common_movement(rows));
  };
  EXPECT_LT(of(first), 0.002);
  EXPECT_GT(of(all), 0.01) << "sessions differ";
  const Comparison third = session_of(quiet, random, 1, 1.025);
  EXPECT_EQ(verdict(first, third, third.rows[0].key)->kind, bench::Change::slower);
  EXPECT_EQ(verdict(all, third, third.rows[0].key)->kind, bench::Change::same) << "so do sessions of the baseline";
}

TEST(Sessions, of_a_baseline_have_the_same_visits_in_all_rows) {
  std::mt19937_64 random(1);
  const Comparison first = session_of({.visit = 0.001}, random), second = session_of({.visit = 0.001}, random, 1, 1.05);
  Comparison all = first;
  for (auto* times : {&all.rows[0].seconds, &all.rows[0].factor_seconds, &all.rows[0].gemm_seconds_of_runs})
    times->resize(std::min<std::size_t>(7, times->size()));
  all.rows[0].visits.resize(7);
  add_session(all, second);
  for (const Row* row : all.at(704)) {
    ASSERT_GE(row->seconds.size(), 8u);
    EXPECT_EQ(row->visits.size(), 7 + second.find(row->key)->visits.size());
    EXPECT_GT(row->seconds[7] / row->seconds[6], 1.03) << "the second session begins";
  }
}

TEST(VerdictOnDevice, says_what_it_cannot_tell_from_the_machine) {
  std::mt19937_64 random(1);
  const DeviceModel wandering{.visit = 0.01}, quiet{.visit = 0.001};
  const Comparison before = session_of(wandering, random), after = session_of(wandering, random, 1, 1.035);
  for (const Row& r : after.rows) EXPECT_EQ(verdict(before, after, r.key)->kind, bench::Change::same);
  const auto remarks = remarks_on_changes(before, after);
  ASSERT_EQ(remarks.size(), 1u);
  EXPECT_NE(remarks[0].find("n = 704: all rows moved together by +3."), std::string::npos) << remarks[0];
  const Comparison then = session_of(quiet, random), now = session_of(quiet, random, 1, 1.035);
  for (const Row& r : now.rows) EXPECT_EQ(verdict(then, now, r.key)->kind, bench::Change::slower);
  EXPECT_TRUE(remarks_on_changes(then, now).empty()) << "verdicts say it";
  EXPECT_TRUE(remarks_on_changes(then, then).empty());
}

/// The last row is a baseline solver, which takes as long as before where ours take `solver` times as long.
Comparison beside_a_baseline_solver(Comparison all, double solver = 1) {
  all.rows.back().is_baseline_solver = true;
  for (double& s : all.rows.back().seconds) s /= solver;
  return all;
}

TEST(VerdictOnDevice, of_all_rows_is_found_beside_a_baseline_solver) {
  std::mt19937_64 random(1);
  constexpr int sessions = 20, rows = 3;
  constexpr double slower = 1.05;
  for (const double visit : {0.001, 0.015}) {
    SCOPED_TRACE(visit);
    const DeviceModel device{.visit = visit, .backends = rows + 1};
    int found = 0, wrong = 0, alone_open = 0, alone_found = 0;
    for (int i = 0; i < sessions; ++i) {
      const Comparison before = session_of(device, random), same = session_of(device, random),
                       after = session_of(device, random, 1, slower), solver_before = beside_a_baseline_solver(before),
                       solver_same = beside_a_baseline_solver(same),
                       solver_after = beside_a_baseline_solver(after, slower);
      for (int r = 0; r < rows; ++r) {
        const Key& key = after.rows[std::size_t(r)].key;
        found += verdict(solver_before, solver_after, key)->kind == bench::Change::slower;
        wrong += verdict(solver_before, solver_same, key)->kind != bench::Change::same;
        const bench::Change alone = *verdict(before, after, key);
        alone_open += bench::word_of(alone) == std::string("unknown");
        alone_found += alone.kind == bench::Change::slower;
      }
      EXPECT_TRUE(remarks_on_changes(solver_before, solver_after).empty()) << "verdicts say it";
      EXPECT_EQ(verdict(solver_before, solver_after, after.rows.back().key)->kind, bench::Change::same);
    }
    EXPECT_GE(found, 57) << "of 60";
    EXPECT_LE(wrong, 1) << "of 60";
    EXPECT_EQ(alone_open + alone_found, sessions * rows) << "it was called SAME";
    EXPECT_GE(visit < 0.01 ? alone_found : alone_open, 57) << "of 60";
  }
}

/// Ours take 5 % longer; the yardstick says that the machine may have done it.
TEST(VerdictOnQuietHost, of_all_rows_is_found_beside_a_baseline_solver_and_else_left_open) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto session = [&](double slower, double yardstick) {
    Comparison all;
    all.sizes = {Size{500, "m", "h"}};
    all.sizes[0].yardstick = {std::vector<double>(40, 1.0), std::vector<double>(40, yardstick)};
    for (int r = 0; r < 4; ++r) {
      Row row;
      row.key = {std::string(1, char('a' + r)), "fp64", "cpu", 500};
      row.visits = std::vector<int>(40, 1);
      for (int v = 0; v < 40; ++v) row.seconds.push_back(0.004 * (1 + r) * slower * std::exp(0.005 * normal(random)));
      all.rows.push_back(row);
    }
    return all;
  };
  const Comparison before = session(1, 1), after = session(1.05, 1.06),
                   solver_before = beside_a_baseline_solver(before),
                   solver_after = beside_a_baseline_solver(after, 1.05);
  for (int r = 0; r < 3; ++r) {
    const Key& key = after.rows[std::size_t(r)].key;
    EXPECT_EQ(verdict(solver_before, solver_after, key)->kind, bench::Change::slower);
    EXPECT_EQ(bench::word_of(*verdict(before, after, key)), std::string("unknown"));
  }
  EXPECT_EQ(verdict(solver_before, solver_after, after.rows[3].key)->kind, bench::Change::same);
}

TEST(VerdictOnDevice, says_of_two_rows_what_both_moved_by) {
  std::mt19937_64 random(1);
  constexpr int sessions = 20;
  int left_open = 0, remarks = 0, remarks_on_one = 0;
  for (int i = 0; i < sessions; ++i) {
    const DeviceModel two{.visit = 0.001, .backends = 2};
    const Comparison before = session_of(two, random);
    Comparison both = session_of(two, random, 1, 1.05), one = session_of(two, random, 1.035);
    for (Comparison* after : {&both, &one})
      for (double& launches : after->sizes[0].yardstick.launches) launches *= 1.1;
    for (const Row& r : both.rows) left_open += bench::word_of(*verdict(before, both, r.key)) == std::string("unknown");
    remarks += !remarks_on_changes(before, both).empty(), remarks_on_one += !remarks_on_changes(before, one).empty();
  }
  EXPECT_GE(left_open, 2 * sessions - 2);
  EXPECT_EQ(remarks, sessions);
  EXPECT_EQ(remarks_on_one, 0);
}

TEST(VerdictOnDevice, does_not_believe_others_that_have_moved_further_than_the_machine_may) {
  std::mt19937_64 random(1);
  const DeviceModel quiet{.visit = 0.001};
  const Comparison before = session_of(quiet, random);
  Comparison after = session_of(quiet, random);
  for (std::size_t b = 1; b < after.rows.size(); ++b)
    for (double& s : after.rows[b].seconds) s *= 0.8;
  EXPECT_EQ(verdict(before, after, after.rows[0].key)->kind, bench::Change::same);
  EXPECT_EQ(verdict(before, after, after.rows[1].key)->kind, bench::Change::faster);
}

}  // namespace
}  // namespace lasolve::compare
