// The search for a setting: one thing after the other, each by successive halving, and what was found against the default once more.
#pragma once

#include "bench/change.hpp"
#include "tuned/setting.hpp"

#include <functional>
#include <limits>

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

/// What there is to choose among, for one method at one size.
struct Space {
  std::int64_t n = 0;
  Setting by_default;
  /// The backends that may be chosen, in each precision that may be, with the default of both: where products are quick, other schedules
  /// serve.
  std::vector<Setting> by_backend;
  /// The schedules, with the block sizes that are their default.
  std::vector<std::pair<Schedule, std::int64_t>> schedules;
};

/// One comparison of the search.
struct Step {
  std::string what;  ///< "backends", "block sizes", "schedules", "small products", "against the default"
  std::vector<TimedSetting> timed;
  std::size_t winner = 0;
};

struct Found {
  Setting chosen;
  /// Where that is not the default: from the default to it, by runs that were made for this alone.
  bench::Change change;
  double default_seconds = 0, seconds = 0;  ///< medians of the runs that were made last
  std::vector<Step> steps;
  std::string failure;           ///< why the default cannot be run; then nothing is chosen
  bool ran_out_of_time = false;  ///< before all was tried

  bool is_default(const Space& space) const { return chosen == space.by_default; }
  /// Whether it is known what is best: nothing failed, and the default is no makeshift.
  bool is_known(const Space& space) const { return failure.empty() && !(is_default(space) && ran_out_of_time); }
};

/// Block sizes that are tried where `at` is the best so far: half of it, three quarters, one and a half, and twice as many columns,
/// in multiples of 8 from 8 to n.
std::vector<std::int64_t> block_sizes_around(std::int64_t at, std::int64_t n);

/// What products are small, in operations, that is tried where panels have nb columns, in ascending order: fewer than an update of nb / 2,
/// nb, 2 nb, 4 nb, … rows and columns has, 2 r² nb, where r < n / 2. Those of nb / 2 are within panels and triangular solves.
std::vector<double> small_products(std::int64_t nb, std::int64_t n);

/// Coordinate descent: first the backends; then block sizes, as long as the largest or the smallest of those tried wins; then
/// schedules; then another backend for small products. Each is by successive_halving(), in which something else takes the place of what is best so far only where it is faster by more than
/// the noise. What wins in the end has to win a compare_pair() with the default as well, since the best of many is also lucky.
/// It takes at most `seconds`, but for the run under way.
Found search(const Space&, const Solve&, double seconds);

}  // namespace lasolve::tuned
