// Timed runs in visits: some runs of each contestant, and later some again, so that what the machine does meanwhile is seen as noise.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>

#include "bench/product.hpp"
#include "bench/turns.hpp"
#include "core/stopwatch.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::bench {

/// Runs of one visit share where their memory is, and what other programs do. So visits are what is independent, not runs.
struct Visits {
  int most = 40, least = 10;  ///< visits: who is not known well enough after the least goes on
  int runs = 5;               ///< counted runs of each contestant in a visit, at most
  int warmup = 1;  ///< runs that are not counted before those of the first visit, and one before those of the others
  double interval = 0.15;  ///< seconds from the beginning of a visit to that of the next, at the least
  double long_run =
      0.1;           ///< who has run for so many seconds in a visit leaves it, and is not warmed up in those that come
  double noise = 0;  ///< see tells_enough(). 0: nothing is
  /// Who has run for so long makes no further visits, but for the first few_runs counted runs.
  double enough_seconds = std::numeric_limits<double>::infinity();
  int few_runs = 1;
  Rest rest = {};
  std::uint64_t seed = 1;
};

/// The median of each visit, where counts[v] samples are of visit v.
inline std::vector<double> medians_of_visits(const std::vector<double>& samples, const std::vector<int>& counts) {
  std::vector<double> medians;
  auto at = samples.begin();
  for (const int count : counts) {
    require(count > 0 && count <= samples.end() - at, "the runs of visits are not those that there are");
    medians.push_back(spread_of({at, at + count}).median);
    at += count;
  }
  return medians;
}

/// Whether the medians of visits are enough to stop: noise_of() them is at most `noise`, and a change of 2.3 % could be seen against a
/// baseline that is as noisy.
inline bool tells_enough(const std::vector<double>& medians, double noise) {
  constexpr double small = 0.023;
  return noise_of(medians) <= noise && change_between(medians, medians).visible <= small;
}

/// How many runs each of `count` contestants made in its visits, where run(c, counted) makes one as in time_in_turns() does, and
/// begin(visit) is called before the runs of a visit.
template <class Begin, class Run>
std::vector<std::vector<int>> time_in_visits(const Visits& visits, std::size_t count, Begin begin, Run run) {
  struct Contestant {
    std::vector<double> seconds;
    std::vector<int> runs;
    double spent = 0, last = 0;
    bool failed = false;
  };
  std::vector<Contestant> all(count);
  const auto is_done = [&](const Contestant& c) {
    if (c.failed || (int(c.seconds.size()) >= visits.few_runs && c.spent > visits.enough_seconds)) return true;
    return int(c.runs.size()) >= visits.least && visits.noise > 0 &&
           tells_enough(medians_of_visits(c.seconds, c.runs), visits.noise);
  };
  for (int visit = 0; visit < visits.most; ++visit) {
    std::vector<std::size_t> here;
    for (std::size_t c = 0; c < count; ++c)
      if (!is_done(all[c])) here.push_back(c);
    if (here.empty()) break;
    const Stopwatch watch;
    begin(visit);
    const auto seconds = time_in_turns({.warmup = visit == 0 ? visits.warmup : std::min(visits.warmup, 1),
                                        .rounds = visits.runs,
                                        .rest = visits.rest,
                                        .enough_seconds = visits.long_run,
                                        .seed = visits.seed + std::uint64_t(visit)},
                                       here.size(), [&](std::size_t h, bool counts) -> std::optional<double> {
                                         Contestant& c = all[here[h]];
                                         if (!counts && visit > 0 && c.last > visits.long_run) return 0;
                                         const std::optional<double> took = run(here[h], counts);
                                         c.failed = !took;
                                         if (took) c.spent += *took, c.last = *took;
                                         return took;
                                       });
    for (std::size_t h = 0; h < here.size(); ++h) {
      Contestant& c = all[here[h]];
      c.seconds.insert(c.seconds.end(), seconds[h].begin(), seconds[h].end());
      if (!seconds[h].empty()) c.runs.push_back(int(seconds[h].size()));
    }
    if (visit + 1 < visits.most)
      std::this_thread::sleep_for(std::chrono::duration<double>(visits.interval - watch.seconds()));
  }
  std::vector<std::vector<int>> runs;
  for (const Contestant& c : all) runs.push_back(c.runs);
  return runs;
}

}  // namespace lasolve::bench
