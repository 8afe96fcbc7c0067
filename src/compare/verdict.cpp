#include "compare/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "compare/beside.hpp"
#include "compare/common_movement.hpp"
#include "compare/launches.hpp"
#include "core/range.hpp"

namespace lasolve::compare {

namespace {

using bench::MachineChange;

/// Other programs that kept so much of the processors busy that medians of visits are of times with them.
MachineChange loaded(MachineChange machine, const Size& then, const Size& now) {
  if (then.is_loaded()) machine.faster = std::min(machine.faster, 1 / (1 + then.other_processors) - 1);
  if (now.is_loaded()) machine.slower = std::max(machine.slower, now.other_processors);
  return machine;
}

/// By the clock: by itself, and where that does not tell, beside the others.
bench::Change verdict_by_clock(const Comparison& before, const Comparison& after, const Row& was, const Row& is) {
  const Size &then = *before.find_size(is.key.n), &now = *after.find_size(is.key.n);
  bench::ChangeTest test;
  test.machine = loaded(bench::machine_between(then.yardstick, now.yardstick), then, now);
  const bench::Change alone = bench::change_between(independent_times(was), independent_times(is), test);
  if (alone.kind != bench::Change::same || tells(alone)) return alone;
  const auto among = change_beside_others(before, after, was, is);
  return among && (among->kind != bench::Change::same || among->visible < alone.visible) ? *among : alone;
}

/// By the time that runs had of processors, without others. Nothing where that is not known.
std::optional<bench::Change> change_of_processors(const Row& was, const Row& is) {
  const Times times = &Row::processor_seconds;
  if ((was.*times).size() != was.seconds.size() || (is.*times).size() != is.seconds.size()) return std::nullopt;
  return bench::change_between(independent_times(was, times), independent_times(is, times));
}

/// Where other programs run, the clock shows what they keep from a run, which is more for a longer one. So what the clock says has to
/// show in processor time, too; and what shows there, and the clock does not deny, is a change.
bench::Change verdict_on_cpu(const Comparison& before, const Comparison& after, const Row& was, const Row& is) {
  const bench::Change by_clock = verdict_by_clock(before, after, was, is);
  if (!before.find_size(is.key.n)->is_loaded() && !after.find_size(is.key.n)->is_loaded()) return by_clock;
  const auto among = change_beside_others(before, after, was, is, &Row::processor_seconds);
  const auto by_processors = among ? among : change_of_processors(was, is);
  if (!by_processors) return by_clock;
  if (by_clock.kind != bench::Change::same && by_clock.kind != by_processors->kind) return left_open(by_clock);
  return among && among->kind != bench::Change::same ? *among : by_clock;
}

/// The spread (σ of the logarithm) of visits within their sessions.
double spread_within(const std::vector<double>& then, const std::vector<double>& now) {
  std::vector<double> visits;
  for (const auto* times : {&then, &now}) {
    const double middle = bench::spread_of(*times).median;
    for (const double t : *times) visits.push_back(t / middle);
  }
  return spread_of_movement(visits);
}

/// The rows of a size on a CUDA device in two sessions. Changes are logarithms here.
class OnCuda {
 public:
  OnCuda(const Comparison& before, const Comparison& after, const Size& then, const Size& now,
         const std::string& device)
      : now_(now) {
    std::vector<const Row*> all_then = before.at(then.n), all_now = after.at(now.n);
    for (auto* rows : {&all_then, &all_now})
      std::erase_if(*rows, [&](const Row* r) { return r->key.device != device; });
    double fastest = std::numeric_limits<double>::infinity();
    for (const Row* row : all_now) {
      const Row* was = before.find(row->key);
      if (!was || !was->timed() || !row->timed() || was->fell_back_to != row->fell_back_to) continue;
      pairs_.push_back({was, row, times_beside(*was, common_movement(all_then, was)),
                        times_beside(*row, common_movement(all_now, row))});
      Pair& pair = pairs_.back();
      const bench::Change change = bench::change_between(pair.then, pair.now);
      pair.moved = std::log1p(change.shift);
      pair.error = std::max(std::log1p(change.high) - pair.moved, pair.moved - std::log1p(change.low));
      fastest = std::min(fastest, row->median());
    }
    const MachineChange shown = bench::machine_between(then.yardstick, now.yardstick, bench::times_of_cuda);
    const double share = share_of_launches(now, fastest);
    const double spread =
        std::hypot(spread_of_movement(common_movement(all_then)), spread_of_movement(common_movement(all_now)));
    const double margin = std::max(0.0, bench::margin_of_machine * bench::ChangeTest().z * spread - least());
    const double launches = spread_within(then.yardstick.launches, now.yardstick.launches);
    for (Pair& p : pairs_) {
      const bool known = has_visits(*p.was) && has_visits(*p.row);
      const Follower solve{share, known ? launches : 0,
                           spread_within(independent_times(*p.was), independent_times(*p.row))};
      const double most = solve.hardly_follows() ? most_by_others(p) : std::numeric_limits<double>::infinity();
      p.machine = {std::max(-most, solve.shift(std::log1p(shown.faster))) - margin,
                   std::min(most, solve.shift(std::log1p(shown.slower))) + margin};
    }
  }

  bench::Change verdict_on(const Row& row) const {
    const auto* const pair = find_in(pairs_, [&](const Pair& p) { return p.row == &row; });
    bench::ChangeTest test;
    test.machine = machine_beside(*pair);
    const bench::Change change = bench::change_between(pair->then, pair->now, test);
    if (change.kind != bench::Change::same) return change;
    const bench::Change same = tells(change) ? change : beside_most(*pair).value_or(change);
    return has_baseline_solvers() ? same : with_what_all_share(same);
  }

  /// What is no verdict on any row, in words; empty: nothing.
  std::string hidden() const {
    const auto all = has_baseline_solvers() ? std::nullopt : movement_of_all();
    Range machine;
    for (const Pair& p : pairs_)
      machine = {std::min(machine.low, p.machine.low), std::max(machine.high, p.machine.high)};
    if (!all || std::abs(all->moved) < least() || !may_be(machine, *all)) return "";
    return fmt::format(
        "n = {}: all rows moved together by {:+.1f} %, by the machine or by what they share, as the solver: sessions "
        "of this size may differ by {:+.1f} to {:+.1f} %; verdicts are on what rows moved beside the others. A "
        "baseline "
        "solver in both sessions (--baseline-solvers) would tell",
        now_.n, 100 * std::expm1(all->moved), 100 * std::expm1(machine.low - least()),
        100 * std::expm1(machine.high + least()));
  }

 private:
  /// What the machine may have done to a row. It contains 0.
  struct Range {
    double low = 0, high = 0;
  };
  struct Pair {
    const Row *was, *row;
    std::vector<double> then, now;  // beside what the visits have in common
    double moved = 0, error = 0;
    Range machine = {};
  };
  /// How a solve follows launches, of which it has a share. The others are spreads of visits; 0 of launches: it is not known.
  struct Follower {
    double share, launches, solve;

    /// What the solve moves by at the most. As far as launches went from visit to visit, it follows them by no more than the ratio of
    /// the spreads. From there on it follows by its share.
    double shift(double shown) const {
      constexpr double reach = 3;
      const double within = std::clamp(shown, -reach * launches, reach * launches);
      return std::min(share, seen()) * within + share * (shown - within);
    }
    /// Whether the visits tell so, which takes launches that differ.
    bool hardly_follows() const { return launches > 0.01 && seen() < 0.15; }
    /// The ratio of the spreads. The margin is for few visits, which tell it to some 40 %.
    double seen() const {
      constexpr double margin = 2;
      return launches > 0 ? margin * solve / launches : 1;
    }
  };
  /// Of rows: the median, and of their times the median.
  struct Movement {
    double moved = 0, error = 0, seconds = 0;
  };

  /// Whether baseline solvers stand for the machine: they share none of our code.
  bool has_baseline_solvers() const {
    return any_of(pairs_, [](const Pair& p) { return p.row->is_baseline_solver; });
  }
  /// Whether one row tells what the machine did to another: a baseline solver, or any where there is none.
  bool tells_of(const Pair& other, const Row* row) const {
    return other.row != row && (other.row->is_baseline_solver || !has_baseline_solvers());
  }

  static double least() { return std::log1p(bench::ChangeTest().least_effect); }

  /// Of the fastest solve, the share that is launches, at the most: those of a kernel for each four columns, each as long as one of
  /// the chain. Solvers launch fewer, and large systems hide them.
  static double share_of_launches(const Size& size, double seconds) {
    constexpr double columns_a_launch = 4;
    const double one = bench::spread_of(size.yardstick.launches).median / launches_of_a_chain;
    return std::min(1.0, one * double(size.n) / columns_a_launch / seconds);
  }

  /// What launches may have done to a row at the most, where no other row has moved: what they take longer, they take longer from each row
  /// of the size, by seconds or by shares. Infinite where there is no other row, or one that has moved.
  double most_by_others(const Pair& pair) const {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    double most = pairs_.size() > 1 ? 0 : infinite;
    for (const Pair& p : pairs_) {
      if (&p == &pair) continue;
      const double moved = std::abs(p.moved) + p.error;
      if (!(moved < least())) return infinite;
      most = std::max(most, moved * std::max(1.0, p.row->median() / pair.row->median()));
    }
    return most;
  }

  /// The change of a row beside another, visit for visit: what the machine did to both is in neither. Nothing where visits are few.
  static std::optional<bench::Change> change_beside(const Pair& pair, const Pair& other) {
    for (const Row* row : {pair.was, pair.row, other.was, other.row})
      if (!has_visits(*row)) return {};
    return bench::change_between(ratios_of_visits(*pair.was, *other.was), ratios_of_visits(*pair.row, *other.row));
  }

  /// The same beside more than half of those that tell of it: the widest of those changes. What is on top of it, the machine did to all of these.
  std::optional<bench::Change> beside_most(const Pair& pair) const {
    std::optional<bench::Change> widest;
    std::size_t same = 0, others = 0;
    for (const Pair& other : pairs_) {
      if (!tells_of(other, pair.row)) continue;
      ++others;
      const auto change = change_beside(pair, other);
      if (!change || change->kind != bench::Change::same || !tells(*change)) continue;
      ++same;
      if (!widest || widest->visible < change->visible) widest = change;
    }
    if (2 * same <= others) return {};
    widest->machine = std::expm1(pair.moved - std::log1p(widest->shift));
    return widest;
  }

  std::optional<Movement> movement_of(const Row* except) const {
    std::vector<double> ratios, seconds;
    double error = 0;
    for (const Pair& p : pairs_)
      if (tells_of(p, except))
        ratios.push_back(std::exp(p.moved)), seconds.push_back(p.row->median()), error = std::max(error, p.error);
    const bool are_few = ratios.size() < least_for_common_movement;
    if (ratios.empty() || (are_few && !has_baseline_solvers())) return std::nullopt;
    return Movement{std::log(bench::spread_of(ratios).median),
                    are_few ? error : bench::ChangeTest().z * bench::noise_of(ratios),
                    bench::spread_of(seconds).median};
  }

  /// Of two rows, what both have moved by at the least.
  std::optional<Movement> movement_of_all() const {
    if (pairs_.size() != 2) return movement_of(nullptr);
    const double a = pairs_[0].moved, b = pairs_[1].moved;
    return Movement{a * b > 0 ? std::copysign(std::min(std::abs(a), std::abs(b)), a) : 0};
  }

  /// What the machine may do shows where it is at least a change.
  static bool may_be(const Range& machine, const Movement& m) {
    return machine.low - least() < m.moved && m.moved < machine.high + least();
  }

  /// The others tell which part of the range it was, unless they have moved further than the machine may. A clock moves all rows by the
  /// same share, launches by the same seconds: what takes longer than the others then moves by less.
  MachineChange machine_beside(const Pair& pair) const {
    Range range = pair.machine;
    if (const auto others = movement_of(pair.row); others && may_be(range, *others)) {
      const auto [low, high] = pair.machine;
      const double by_seconds = others->moved * std::min(1.0, others->seconds / pair.row->median());
      const auto [lower, upper] = std::minmax(others->moved, by_seconds);
      range = {std::clamp(lower - others->error, low, high), std::clamp(upper + others->error, low, high)};
    }
    const double known = std::clamp(0.0, range.low, range.high);
    return {std::expm1(range.low - known), std::expm1(range.high - known), std::expm1(known)};
  }

  const Size& now_;
  std::vector<Pair> pairs_;
};

}  // namespace

std::optional<bench::Change> verdict(const Comparison& before, const Comparison& after, const Key& key) {
  const Row *was = before.find(key), *is = after.find(key);
  const Size *then = before.find_size(key.n), *now = after.find_size(key.n);
  if (!was || !is || !then || !now || !was->timed() || !is->timed()) return std::nullopt;
  if (was->fell_back_to != is->fell_back_to) return std::nullopt;
  if (key.device == "cpu") return verdict_on_cpu(before, after, *was, *is);
  return OnCuda(before, after, *then, *now, key.device).verdict_on(*is);
}

std::string why_no_verdict(const Comparison& before, const Comparison& after, const Key& key) {
  const Row *was = before.find(key), *is = after.find(key);
  if (is && !is->timed()) return "";
  if (!was || !before.find_size(key.n)) {
    const auto with_others = [&](const Row& row) {
      Key its = row.key;
      its.options = key.options;
      return its == key;
    };
    const Row* const other = find_in(before.rows, with_others);
    return other ? fmt::format("not in it, but {}", in_words(other->key)) : "not in it";
  }
  if (!was->timed()) return "it failed there";
  const auto factors = [&](const Row& row) { return row.fell_back_to.empty() ? key.precision : row.fell_back_to; };
  return fmt::format("by {} factors there, by {} here", factors(*was), factors(*is));
}

std::vector<std::string> remarks_on_changes(const Comparison& before, const Comparison& after) {
  std::vector<std::string> remarks;
  for (const Size& now : after.sizes) {
    const Size* then = before.find_size(now.n);
    if (!then) continue;
    std::set<std::string> devices;
    for (const Row* row : after.at(now.n))
      if (row->key.device != "cpu") devices.insert(row->key.device);
    for (const std::string& device : devices)
      if (std::string words = OnCuda(before, after, *then, now, device).hidden(); !words.empty())
        remarks.push_back(std::move(words));
  }
  return remarks;
}

}  // namespace lasolve::compare
