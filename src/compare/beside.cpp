#include "compare/beside.hpp"

#include <algorithm>
#include <cmath>

#include "bench/yardstick.hpp"
#include "compare/common_movement.hpp"

namespace lasolve::compare {

namespace {

std::vector<double> logarithms(std::vector<double> all) {
  for (double& x : all) x = std::log(x);
  return all;
}

double median(const std::vector<double>& all) { return bench::spread_of(all).median; }

/// A row in both sessions.
struct Pair {
  const Row *was, *is;
};

/// Of the visits of a row.
double moved(const Pair& row, Times times) {
  return median(logarithms(independent_times(*row.is, times))) - median(logarithms(independent_times(*row.was, times)));
}

/// A row beside one other, in both sessions. Logarithms.
struct Reference {
  std::vector<double> then, now;  ///< ratios of visits, of which the median then is 0
  double moved_itself = 0;

  double moved_beside() const { return median(now); }
};

Reference reference(const Pair& row, const Pair& other, Times times) {
  Reference r{logarithms(ratios_of_visits(*row.was, *other.was, times)),
              logarithms(ratios_of_visits(*row.is, *other.is, times)), moved(other, times)};
  const double usual = median(r.then);
  for (auto* ratios : {&r.then, &r.now})
    for (double& x : *ratios) x -= usual;
  return r;
}

std::vector<Reference> references(const Pair& row, const std::vector<Pair>& others, Times times) {
  std::vector<Reference> all;
  for (const Pair& other : others)
    if (other.is != row.is) all.push_back(reference(row, other, times));
  return all;
}

/// In each visit the median beside those that have made it.
std::vector<double> beside_all(const std::vector<Reference>& all, std::vector<double> Reference::*session) {
  std::vector<std::vector<double>> visits;
  for (const Reference& r : all) {
    visits.resize(std::max(visits.size(), (r.*session).size()));
    for (std::size_t v = 0; v < (r.*session).size(); ++v) visits[v].push_back((r.*session)[v]);
  }
  std::vector<double> medians;
  for (const auto& visit : visits) medians.push_back(std::exp(median(visit)));
  return medians;
}

/// Whether it is the row that has moved by `shift`, and not the others.
bool is_the_row(const std::vector<Reference>& others, double shift) {
  if (others.size() == 1) return std::abs(others[0].moved_itself) < 0.25 * std::abs(shift);
  const auto agree = std::count_if(others.begin(), others.end(), [&](const Reference& r) {
    return r.moved_beside() * shift > 0 && std::abs(r.moved_beside()) > 0.5 * std::abs(shift);
  });
  return 3 * (agree - 1) > 2 * (std::ptrdiff_t(others.size()) - 1);  // one of them may have moved itself
}

bench::Change change_beside(const std::vector<Reference>& others, double unlike = 0) {
  bench::ChangeTest test;
  test.machine = {std::expm1(-unlike), std::expm1(unlike)};
  return bench::change_between(beside_all(others, &Reference::then), beside_all(others, &Reference::now), test);
}

bool has_times(const Row& row, Times times) {
  return row.timed() && has_visits(row) && (row.*times).size() == row.seconds.size();
}

/// The rows of a size that can be compared in both sessions, on the device of `is` and without it: baseline solvers, where there are any.
std::vector<Pair> others_of(const Comparison& before, const Comparison& after, const Row& is, Times times) {
  std::vector<Pair> others;
  for (const Row* now : after.at(is.key.n)) {
    const Row* then = before.find(now->key);
    if (now == &is || !then || now->key.device != is.key.device || now->fell_back_to != then->fell_back_to) continue;
    if (has_times(*now, times) && has_times(*then, times)) others.push_back({then, now});
  }
  const auto is_ours = [](const Pair& other) { return !other.is->is_baseline_solver; };
  if (is.is_baseline_solver || !std::all_of(others.begin(), others.end(), is_ours)) std::erase_if(others, is_ours);
  return others;
}

}  // namespace

std::vector<double> ratios_of_visits(const Row& row, const Row& to, Times which) {
  std::vector<double> times = independent_times(row, which), of_other = independent_times(to, which);
  times.resize(std::min(times.size(), of_other.size()));
  for (std::size_t v = 0; v < times.size(); ++v) times[v] /= of_other[v];
  return times;
}

bench::Change beside(const Row& row, const Row& other) {
  const std::vector<double> ratios = ratios_of_visits(row, other);
  const bench::Change change = bench::change_of_pairs(std::vector<double>(ratios.size(), 1.0), ratios);
  if (std::isfinite(change.high)) return change;
  const bench::Spread its = bench::spread_of(row.seconds), others = bench::spread_of(other.seconds);
  bench::Change range = change;
  range.shift = its.median / others.median - 1;
  if (std::min(row.seconds.size(), other.seconds.size()) < 2) return range;
  range.low = its.least / others.most - 1, range.high = its.most / others.least - 1;
  range.visible = std::max(range.high, -range.low);
  const double least = bench::ChangeTest().least_effect;
  if (range.low > 0 && range.shift >= least) range.kind = bench::Change::slower;
  if (range.high < 0 && range.shift <= -least) range.kind = bench::Change::faster;
  return range;
}

std::optional<bench::Change> change_beside_others(const Comparison& before, const Comparison& after, const Row& was,
                                                  const Row& is, Times times) {
  if (!has_times(was, times) || !has_times(is, times)) return std::nullopt;
  const std::vector<Pair> others = others_of(before, after, is, times);
  if (others.empty()) return std::nullopt;
  const Pair row{&was, &is};
  const std::vector<Reference> beside = references(row, others, times);
  std::vector<double> moved_themselves;
  for (const Reference& r : beside) moved_themselves.push_back(r.moved_itself);
  double suffered = std::abs(median(moved_themselves));
  const bool of_processors = times != &Row::seconds;
  if (of_processors) {  // who is interrupted more often also computes longer
    const bench::Change by_clock = change_beside(references(row, others, &Row::seconds));
    suffered = std::max(suffered, std::abs(std::log1p(by_clock.shift)));
  }
  bench::Change change = change_beside(beside, (bench::margin_of_machine - 1) * suffered);
  const double shift = std::log1p(change.shift);
  if (change.kind != bench::Change::same && !is_the_row(beside, shift)) change = left_open(change);
  change.machine = std::expm1(moved(row, times) - shift);
  change.of_processors = of_processors;
  const bool is_loaded = before.find_size(is.key.n)->is_loaded() || after.find_size(is.key.n)->is_loaded();
  return others[0].is->is_baseline_solver || is_loaded ? change : with_what_all_share(change);
}

bench::Change with_what_all_share(bench::Change change) {
  change.visible = std::max(change.visible, (1 + change.low) * (1 + change.machine) - 1);
  return change;
}

bench::Change left_open(bench::Change change) {
  change.kind = bench::Change::same;
  change.visible = std::max({change.visible, change.high, -change.low});
  return change;
}

}  // namespace lasolve::compare
