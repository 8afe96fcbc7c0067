// Timed runs in turns, so that none is helped or harmed by what runs before it, until they tell enough.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "bench/change.hpp"

namespace lasolve::bench {

/// Nothing for a while before a run, as long as the run before it took, within these seconds: threads of that run stop to spin for
/// work, and a device cools that was hot, and slower for it.
struct Rest {
  double least = 0, most = 0;
  double after(double seconds) const { return std::clamp(seconds, least, most); }
};

struct Turns {
  int warmup = 1, rounds = 5;  ///< rounds that are not counted, and then those that are, at most
  Rest rest = {};
  /// Who has run for so long is left out of further rounds, but for the first that are counted: see few_rounds.
  double enough_seconds = std::numeric_limits<double>::infinity();
  /// Who has made least_rounds counted runs, and whose noise_of() is at most this, is left out of further rounds. 0: nobody is.
  double noise = 0;
  int least_rounds = 1;
  int few_rounds = 1;      ///< who takes long makes so many counted runs all the same
  std::uint64_t seed = 1;  ///< of the order
};

/// The places 0, …, count − 1 in an order that depends on the generator alone, not on the standard library.
inline void shuffle(std::vector<std::size_t>& order, std::mt19937_64& random) {
  for (std::size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random() % left]);
}

/// The seconds of the counted runs of each of `count` contestants, where run(c, counted) makes one run of c and returns its
/// seconds, or nothing: then c has failed, and runs no more. Rounds that are not counted go from the first to the last; those
/// that are go in random order, so that what the machine does meanwhile is nobody's luck.
template <class Run>
std::vector<std::vector<double>> time_in_turns(const Turns& turns, std::size_t count, Run run) {
  std::vector<std::vector<double>> counted(count);
  std::vector<double> spent(count, 0);
  std::vector<bool> failed(count, false);
  std::vector<std::size_t> order(count);
  for (std::size_t c = 0; c < count; ++c) order[c] = c;
  std::mt19937_64 random(turns.seed);
  const auto is_done = [&](std::size_t c) {
    const int runs = int(counted[c].size());
    return failed[c] || (runs >= std::max(1, turns.few_rounds) && spent[c] > turns.enough_seconds) ||
           (runs >= turns.least_rounds && turns.noise > 0 && noise_of(counted[c]) <= turns.noise);
  };
  double seconds = 0;
  for (int round = -turns.warmup; round < turns.rounds; ++round) {
    if (round >= 0) shuffle(order, random);
    for (const std::size_t c : order) {
      if (is_done(c)) continue;
      std::this_thread::sleep_for(std::chrono::duration<double>(turns.rest.after(seconds)));
      const std::optional<double> took = run(c, round >= 0);
      failed[c] = !took;
      if (!took) continue;
      seconds = *took;
      spent[c] += seconds;
      if (round >= 0) counted[c].push_back(seconds);
    }
  }
  return counted;
}

}  // namespace lasolve::bench
