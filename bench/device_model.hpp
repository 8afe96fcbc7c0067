// Comparisons as a CUDA device gives them, without a clock: to see how often verdicts on them are wrong.
#pragma once

#include "bench/machine_model.hpp"
#include "compare/common_movement.hpp"
#include "compare/launches.hpp"
#include "compare/verdict.hpp"

namespace lasolve::compare {

/// Backends at one size. Numbers are standard deviations of logarithms where nothing else is said: 0.01 is 1 %.
struct DeviceModel {
  double run = 0.005;   ///< of each run for itself
  double visit = 0;     ///< of what all runs of a visit share
  double session = 0;   ///< of what all runs of a session share
  double shown = 0;     ///< of launches in a session, which the yardstick shows
  double launches = 0;  ///< the same, in each visit
  double share = 1;     ///< of launches in a solve: so much of what becomes of them it follows
  int backends = 9;
};

/// `planted` is how much longer the first backend takes, `solver` how much longer all do.
inline Comparison session_of(const DeviceModel& device, std::mt19937_64& random, double planted = 1,
                             double solver = 1) {
  std::normal_distribution<double> normal;
  constexpr double seconds = 5e-4, one_launch = 4e-6, error = 0.003;
  const double shown = device.shown * normal(random), session = device.share * shown + device.session * normal(random);
  Size size{704, "a", "b"};
  std::vector<double> visits(std::size_t(bench::Visits().most));
  for (double& v : visits) {
    const double launches = device.launches > 0 ? device.launches * normal(random) : 0;
    v = std::exp(session + device.share * launches + device.visit * normal(random));
    size.yardstick.launches.push_back(launches_of_a_chain * one_launch *
                                      std::exp(shown + launches + error * normal(random)));
  }
  Comparison all;
  all.sizes = {size};
  for (int b = 0; b < device.backends; ++b) {
    Row row;
    row.key = {std::string(1, char('a' + b)), "fp64", "cuda:0", size.n};
    const double factor = seconds * (1 + b) * solver * (b == 0 ? planted : 1);
    row.seconds = bench::medians_of_session({.spread = device.run}, factor, random, visits).seconds;
    row.visits.assign(row.seconds.size(), 1);
    all.rows.push_back(std::move(row));
  }
  return all;
}

/// Of verdicts on pairs of sessions, in per cent.
struct VerdictShares {
  double wrong = 0;         ///< FASTER or SLOWER without a change
  double decided = 0;       ///< SAME, and not UNKNOWN, without a change
  double found = 0;         ///< SLOWER where the backend is by 3 %, and nothing else
  double missed = 0;        ///< SAME, and not UNKNOWN, then
  double wrong_beside = 0;  ///< FASTER or SLOWER of the others then
  double solver = 0;        ///< SLOWER where all are by 3 %
};
/// The baseline has so many sessions.
inline VerdictShares shares_of_verdicts(const DeviceModel& device, int pairs, int sessions = 1) {
  constexpr double slowdown = 1.03;
  std::mt19937_64 random(1);
  VerdictShares shares;
  for (int pair = 0; pair < pairs; ++pair) {
    Comparison before = session_of(device, random);
    for (int s = 1; s < sessions; ++s) add_session(before, session_of(device, random));
    const Comparison same = session_of(device, random), planted = session_of(device, random, slowdown),
                     solver = session_of(device, random, 1, slowdown);
    const auto of = [&](const Comparison& after, std::size_t b) { return *verdict(before, after, after.rows[b].key); };
    const auto is_same = [](const bench::Change& change) { return change.kind == bench::Change::same; };
    const auto is_slower = [](const bench::Change& change) { return change.kind == bench::Change::slower; };
    const std::size_t rows = same.rows.size();
    const double one = 100.0 / pairs, of_all = one / double(rows), of_others = one / double(rows - 1);
    const bench::Change of_planted = of(planted, 0);
    shares.found += one * is_slower(of_planted);
    shares.missed += one * (is_same(of_planted) && tells(of_planted));
    for (std::size_t b = 0; b < rows; ++b) {
      const bench::Change without = of(same, b);
      shares.wrong += of_all * !is_same(without);
      shares.decided += of_all * (is_same(without) && tells(without));
      shares.solver += of_all * is_slower(of(solver, b));
      if (b > 0) shares.wrong_beside += of_others * !is_same(of(planted, b));
    }
  }
  return shares;
}

}  // namespace lasolve::compare
