// Settings against one another: by successive halving, or two of them until it is clear.
#pragma once

#include <functional>
#include <limits>

#include "bench/change.hpp"
#include "tuned/setting.hpp"

namespace lasolve::tuned {

/// What came of one solve: its seconds, or why it failed, or neither, where it was given up.
struct Run {
  std::optional<double> seconds = {};
  std::string failure = {};
};
/// Solves once. A solve that takes longer than `most_seconds` may be given up.
using Solve = std::function<Run(const Setting&, double most_seconds)>;

struct TimedSettings {
  std::vector<TimedSetting> all;  ///< in the order of the settings
  bool ran_out_of_time = false;   ///< the time ran out before all was known
};

/// Times settings in turns, each three times, and goes on with the faster half of them until the first and one other are left:
/// these run until their medians are known to 0.5 %, at least six times more, and at most nine. The first setting is never left out. A
/// solve that takes three times as long as the slowest of the first is given up. Ends after `seconds`, but for the run under way.
/// Source of the idea: Karnin, Koren & Somekh, Almost optimal exploration in multi-armed bandits (ICML 2013).
TimedSettings successive_halving(const std::vector<Setting>&, const Solve&, double seconds);

/// Two settings in turns until their medians are known to 0.3 %: at least 10 runs of each, and at most 40.
TimedSettings compare_pair(const Setting& first, const Setting& second, const Solve&, double seconds);

/// The fastest of those that are faster than the first by more than the noise, as bench::change_between() has it; 0, the first,
/// where none is. Those that failed or were given up are not looked at, nor those with too few runs.
std::size_t winner(const std::vector<TimedSetting>&);

}  // namespace lasolve::tuned
