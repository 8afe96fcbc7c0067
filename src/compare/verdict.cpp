#include "compare/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/visits.hpp"
#include "compare/launches.hpp"

namespace lasolve::compare {

namespace {

using bench::MachineChange;

std::vector<double> independent(const Row& row) {
  if (row.visits.size() < bench::least_for_a_verdict) return row.seconds;
  return bench::medians_of_visits(row.seconds, row.visits);
}

/// Other programs that kept so much of the processors busy that medians of visits are of times with them.
MachineChange loaded(MachineChange machine, const Size& then, const Size& now) {
  if (then.is_loaded()) machine.faster = std::min(machine.faster, 1 / (1 + then.other_processors) - 1);
  if (now.is_loaded()) machine.slower = std::max(machine.slower, now.other_processors);
  return machine;
}

/// A row in both.
struct Pair {
  const Row *before, *after;
};

/// Those of a size on a device that were timed in both.
std::vector<Pair> pairs_of(const Comparison& before, const Comparison& after, std::int64_t n, const std::string& device) {
  std::vector<Pair> pairs;
  for (const Row* row : after.at(n))
    if (const Row* was = before.find(row->key); was && was->timed() && row->timed() && row->key.device == device)
      pairs.push_back({was, row});
  return pairs;
}

constexpr std::size_t least_to_move_together = 3;

/// By how much rows have moved together: 1 + shift, and its error. Peers count as well: none of our code is in them.
struct Movement {
  double ratio = 1, error = 0;
};
std::optional<Movement> movement_of(const std::vector<Pair>& pairs, const Row* except = nullptr) {
  std::vector<double> ratios;
  for (const Pair& p : pairs)
    if (p.after != except)
      ratios.push_back(1 + bench::change_between(independent(*p.before), independent(*p.after)).shift);
  if (ratios.size() < least_to_move_together) return std::nullopt;
  return Movement{bench::spread_of(ratios).median, bench::ChangeTest().z * bench::noise_of(ratios)};
}

/// Of a solve, the share that is launches, at the most: those of a kernel for each four columns, as long as they take in the chain.
/// Panels have fewer, and large systems hide them.
double share_of_launches(const Row& row, const bench::Yardstick& yardstick) {
  constexpr double columns_a_launch = 4;
  const double one = bench::spread_of(yardstick.launches).median / launches_of_a_chain;
  return std::min(1.0, one * double(row.key.n) / columns_a_launch / row.median());
}

/// Logarithms of what the times of a row may have been multiplied with by the machine. They contain 0.
struct Range {
  double low = 0, high = 0;
};

/// What all rows of a size on a CUDA device share.
class OnCuda {
 public:
  OnCuda(const Comparison& before, const Comparison& after, std::int64_t n, const std::string& device)
      : pairs_(pairs_of(before, after, n, device)), then_(*before.find_size(n)), now_(*after.find_size(n)) {
    const double z = bench::ChangeTest().z;
    const double spread = std::hypot(spread_of_visits_together(before, n, device), spread_of_visits_together(after, n, device));
    apart_ = std::max(0.0, z * spread - least_);
  }

  Range range_of(const Row& row) const {
    const MachineChange shown = bench::machine_between(then_.yardstick, now_.yardstick, bench::times_of_cuda);
    const double share = share_of_launches(row, now_.yardstick);
    return {share * std::log1p(shown.faster) - apart_, share * std::log1p(shown.slower) + apart_};
  }

  /// The others tell what of the range it was, unless they have moved by more than the machine can.
  MachineChange machine_of(const Row& row) const {
    Range range = range_of(row);
    double known = 0;
    if (const auto others = movement_of(pairs_, &row)) {
      const double moved = std::log(others->ratio), low = moved - others->error, high = moved + others->error;
      if (is_within(moved, range)) {
        range = {std::clamp(low, range.low, range.high), std::clamp(high, range.low, range.high)};
        known = std::clamp(0.0, range.low, range.high);
      }
    }
    return {std::expm1(range.low - known), std::expm1(range.high - known), std::expm1(known)};
  }

  /// What was hidden of all rows, in words; empty: nothing.
  std::string hidden() const {
    const auto all = movement_of(pairs_);
    if (!all || std::abs(std::log(all->ratio)) < least_) return "";
    Range range;
    for (const Pair& p : pairs_) {
      const Range its = range_of(*p.after);
      range = {std::min(range.low, its.low), std::max(range.high, its.high)};
    }
    if (!is_within(std::log(all->ratio), range)) return "";
    return fmt::format(
        "n = {}: all rows together moved by {:+.1f} %, which may be the machine's doing or the solver's: here sessions "
        "may differ by {:+.1f} to {:+.1f} %; verdicts are beside the other rows",
        now_.n, 100 * (all->ratio - 1), 100 * std::expm1(range.low - least_), 100 * std::expm1(range.high + least_));
  }

 private:
  static bool is_within(double moved, Range range) { return range.low - least_ < moved && moved < range.high + least_; }

  static inline const double least_ = std::log1p(bench::ChangeTest().least_effect);
  std::vector<Pair> pairs_;
  const Size &then_, &now_;
  double apart_ = 0;
};

}  // namespace

double spread_of_visits_together(const Comparison& all, std::int64_t n, const std::string& device) {
  std::vector<std::vector<double>> moved;  // of each visit: log of each row's time over its median
  for (const Row* row : all.at(n)) {
    if (!row->timed() || row->key.device != device || row->visits.size() < bench::least_for_a_verdict) continue;
    const std::vector<double> medians = independent(*row);
    const double middle = bench::spread_of(medians).median;
    if (moved.size() < medians.size()) moved.resize(medians.size());
    for (std::size_t v = 0; v < medians.size(); ++v) moved[v].push_back(std::log(medians[v] / middle));
  }
  std::vector<double> together;
  for (const auto& visit : moved)
    if (visit.size() >= least_to_move_together) together.push_back(bench::spread_of(visit).median);
  constexpr double quartiles_of_normal = 1.349;
  return together.size() < bench::least_for_a_verdict ? 0 : bench::quartiles_apart(together) / quartiles_of_normal;
}

std::optional<bench::Change> verdict(const Comparison& before, const Comparison& after, const Key& key) {
  const Row *was = before.find(key), *is = after.find(key);
  const Size *then = before.find_size(key.n), *now = after.find_size(key.n);
  if (!was || !is || !then || !now || !was->timed() || !is->timed()) return std::nullopt;
  bench::ChangeTest test;
  test.machine = key.device == "cpu" ? loaded(bench::machine_between(then->yardstick, now->yardstick), *then, *now)
                                     : OnCuda(before, after, key.n, key.device).machine_of(*is);
  return bench::change_between(independent(*was), independent(*is), test);
}

std::vector<std::string> remarks_on_changes(const Comparison& before, const Comparison& after) {
  std::vector<std::string> remarks;
  for (const Size& size : after.sizes) {
    if (!before.find_size(size.n)) continue;
    std::set<std::string> devices;
    for (const Row* row : after.at(size.n))
      if (row->key.device != "cpu" && devices.insert(row->key.device).second)
        if (auto words = OnCuda(before, after, size.n, row->key.device).hidden(); !words.empty())
          remarks.push_back(std::move(words));
  }
  return remarks;
}

}  // namespace lasolve::compare
