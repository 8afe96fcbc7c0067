// Timed runs in turns, so that none is helped or harmed by what runs before it.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

namespace lasolve::bench {

/// Nothing for a while before a run, as long as the run before it took, within these seconds: threads of that run stop to spin for
/// work, and a device cools that was hot, and slower for it.
struct Rest {
  double least = 0, most = 0;
  double after(double seconds) const { return std::clamp(seconds, least, most); }
};

struct Turns {
  int warmup = 1, rounds = 5;  ///< rounds that are not counted, and then those that are
  Rest rest = {};
  /// Who has run for so long is left out of further rounds, but for the first that is counted.
  double enough_seconds = std::numeric_limits<double>::infinity();
};

/// The seconds of the counted runs of each of `count` contestants, where run(c) makes one run of c and returns its seconds. The
/// first round goes from the first to the last, and every other one backwards: nobody always runs after the same other one.
template <class Run>
std::vector<std::vector<double>> time_in_turns(const Turns& turns, std::size_t count, Run run) {
  std::vector<std::vector<double>> counted(count);
  std::vector<double> spent(count, 0);
  double seconds = 0;
  bool backwards = false;
  for (int round = -turns.warmup; round < turns.rounds; ++round, backwards = !backwards)
    for (std::size_t turn = 0; turn < count; ++turn) {
      const std::size_t c = backwards ? count - 1 - turn : turn;
      if (round > 0 && spent[c] > turns.enough_seconds) continue;
      std::this_thread::sleep_for(std::chrono::duration<double>(turns.rest.after(seconds)));
      seconds = run(c);
      spent[c] += seconds;
      if (round >= 0) counted[c].push_back(seconds);
    }
  return counted;
}

}  // namespace lasolve::bench
