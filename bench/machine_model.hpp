// Times as machines give them, without a clock: to see how often a verdict on them is wrong.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "bench/visits.hpp"

namespace lasolve::bench {

/// The logarithm of a time is the sum of what is named here. All but `outliers` are standard deviations of it, or parts of it: 0.01 is 1 %.
struct MachineModel {
  double spread = 0;       ///< of each run for itself
  double outliers = 0.05;  ///< share of the runs that take 10 to 50 % longer
  double trend = 0;        ///< from the beginning of a session to its end
  double swing = 0;        ///< half the height of three waves in a session
  double wander = 0;       ///< of what changes slowly: with the correlation 0.98 from run to run
  double visit = 0;        ///< of what is different in each visit, such as where the memory is
  double session = 0;      ///< of what is different in each session, and nothing in the session tells of
  double shown = 0;        ///< of what is different in each session, and a yardstick shows
  double sensitivity = 1;  ///< how much more, or less, than the yardstick suffers from that
};

/// One session.
struct ModelSession {
  std::vector<double> seconds;  ///< of each run, visit after visit; or the medians of the visits
  double shown = 0;             ///< the logarithm of what the yardstick shows
};

/// The runs of one session, each of which takes 1 where nothing happens, times `factor`.

inline ModelSession session_of(const MachineModel& machine, int visits, int runs_a_visit, double factor,
                               std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  constexpr double remembered = 0.98;
  ModelSession session;
  session.shown = machine.shown * normal(random);
  const double all = machine.session * normal(random) + machine.sensitivity * session.shown;
  const double turned = 2 * std::numbers::pi * uniform(random);
  double wandered = normal(random);
  const int count = visits * runs_a_visit;
  for (int v = 0; v < visits; ++v) {
    const double visit = machine.visit * normal(random);
    for (int r = 0; r < runs_a_visit; ++r) {
      const double at = double(v * runs_a_visit + r) / count;
      wandered = remembered * wandered + std::sqrt(1 - remembered * remembered) * normal(random);
      double log = all + visit + machine.spread * normal(random) + machine.wander * wandered + machine.trend * at +
                   machine.swing * std::sin(turned + 2 * std::numbers::pi * 3 * at);
      if (uniform(random) < machine.outliers) log += 0.1 + 0.4 * uniform(random);
      session.seconds.push_back(factor * std::exp(log));
    }
  }
  return session;
}

/// The medians of the visits that a comparison makes of it; each of them times what all contestants share in that visit.
inline ModelSession medians_of_session(const MachineModel& machine, double factor, std::mt19937_64& random,
                                       const std::vector<double>& shared = {}) {
  constexpr double noise = 0.003;
  const Visits visits;
  ModelSession session = session_of(machine, visits.most, visits.runs, factor, random);
  auto all = medians_of_visits(session.seconds, std::vector<int>(std::size_t(visits.most), visits.runs));
  for (std::size_t v = 0; v < shared.size(); ++v) all.at(v) *= shared[v];
  session.seconds.assign(all.begin(), all.begin() + visits.least);
  while (session.seconds.size() < all.size() && !tells_enough(session.seconds, noise))
    session.seconds.push_back(all[session.seconds.size()]);
  return session;
}

/// As that of a comparison with a baseline, but for the errors of the yardstick.
inline Change verdict(const ModelSession& before, const ModelSession& after) {
  const double moved = 1.25 * (after.shown - before.shown);
  ChangeTest test;
  test.machine = {std::expm1(std::min(0.0, moved)), std::expm1(std::max(0.0, moved))};
  return change_between(before.seconds, after.seconds, test);
}

}  // namespace lasolve::bench
