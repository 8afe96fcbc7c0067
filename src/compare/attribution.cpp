#include "compare/attribution.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/range.hpp"
#include "lasolve/names.hpp"

namespace lasolve::compare {

const Row* Comparison::find(const Key& key) const {
  return find_in(rows, [&](const Row& r) { return r.key == key; });
}

const Size* Comparison::find_size(std::int64_t n) const {
  return find_in(sizes, [=](const Size& s) { return s.n == n; });
}

std::vector<const Row*> Comparison::at(std::int64_t n) const {
  std::vector<const Row*> all;
  for (const Row& r : rows)
    if (r.key.n == n) all.push_back(&r);
  return all;
}

std::optional<bench::Roof> Comparison::roof_of(const Row& row) const {
  const auto* const limit =
      find_in(limits, [&](const Limit& l) { return l.device == row.key.device && l.precision == row.key.precision; });
  if (!limit) return std::nullopt;
  bench::Roof roof = limit->roof;
  for (const Row& r : rows)
    if (r.key.device == limit->device && r.key.precision == limit->precision)
      for (const TaskTime& t : r.tasks)
        if (is_update(t)) roof.flops_per_second = std::max(roof.flops_per_second, 1e9 * t.gflops());
  return roof;
}

void keep_best(std::vector<Limit>& limits, const std::vector<Limit>& measured) {
  for (const Limit& m : measured) {
    auto* const known =
        find_in(limits, [&](const Limit& l) { return l.device == m.device && l.precision == m.precision; });
    if (!known) {
      limits.push_back(m);
      continue;
    }
    known->roof.flops_per_second = std::max(known->roof.flops_per_second, m.roof.flops_per_second);
    known->roof.bytes_per_second = std::max(known->roof.bytes_per_second, m.roof.bytes_per_second);
  }
}

double Row::gemm_flops() const { return tasks.empty() ? phases.flops_of(Phase::gemm) : flops_of_updates(tasks); }

bool is_update(const TaskTime& t) { return t.m > 0 && t.n > 0 && t.k > 0; }

namespace {

/// Seconds in which at least one of the tasks ran for which the predicate is true.
template <class Counts>
double seconds_of_any(const std::vector<TaskTime>& tasks, Counts counts) {
  std::vector<std::pair<double, double>> spans;  // begin, end
  for (const TaskTime& t : tasks)
    if (counts(t)) spans.emplace_back(t.begin, t.begin + t.seconds);
  std::sort(spans.begin(), spans.end());
  double sum = 0, last = 0;
  for (const auto& [begin, end] : spans) {
    sum += std::max(0.0, end - std::max(begin, last));
    last = std::max(last, end);
  }
  return sum;
}

}  // namespace

double seconds_of_updates(const std::vector<TaskTime>& tasks) { return seconds_of_any(tasks, is_update); }

double flops_of_updates(const std::vector<TaskTime>& tasks) {
  double sum = 0;
  for (const TaskTime& t : tasks)
    if (is_update(t)) sum += t.flops;
  return sum;
}

FreeUpdates free_updates(const Row& row) {
  double busy = 0;
  for (std::size_t p = 0; p < phase_count; ++p)
    if (Phase(p) != Phase::read && Phase(p) != Phase::check) busy += row.phases.seconds[p];
  FreeUpdates free;
  free.exact = busy <= 1.02 * row.total_seconds;
  if (!row.tasks.empty())
    free.seconds = std::max(0.0, row.total_seconds - seconds_of_updates(row.tasks));
  else if (free.exact)
    free.seconds = std::max(0.0, row.total_seconds - row.phases.seconds_of(Phase::gemm));
  return free;
}

std::optional<std::array<double, phase_count>> exclusive_seconds(const Row& row) {
  auto seconds = row.phases.seconds;  // what is no part of the factorization runs alone
  if (!free_updates(row).exact) {
    if (row.tasks.empty()) return std::nullopt;
    std::vector<Phase> order = {Phase::gemm, Phase::panel, Phase::trsm, Phase::swap};
    for (std::size_t p = 0; p < phase_count; ++p)
      if (!contains(order, Phase(p))) order.push_back(Phase(p));
    const auto place = [&](const TaskTime& t) {
      return is_update(t) ? 0 : std::find(order.begin(), order.end(), t.phase) - order.begin();
    };
    double before = 0;
    for (std::ptrdiff_t p = 0; p < std::ptrdiff_t(order.size()); ++p) {
      const bool any = any_of(row.tasks, [&](const TaskTime& t) { return place(t) == p; });
      const double with = seconds_of_any(row.tasks, [&](const TaskTime& t) { return place(t) <= p; });
      if (any) seconds[std::size_t(order[std::size_t(p)])] = with - before;
      before = with;
    }
  }
  seconds[std::size_t(Phase::read)] = seconds[std::size_t(Phase::check)] = 0;
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  if (sum > row.total_seconds)  // clocks differ a little
    for (double& s : seconds) s *= row.total_seconds / sum;
  return seconds;
}

void add_quartiles(std::vector<TaskTime>& tasks, const std::vector<const std::vector<TaskTime>*>& of_runs) {
  using Which = std::tuple<std::string, std::string, std::string, int>;
  const auto each_update = [](auto& of_run, auto f) {
    std::map<Which, int> before;
    for (auto& t : of_run)
      if (is_update(t)) f(Which{t.what, t.block, t.lane, before[{t.what, t.block, t.lane, 0}]++}, t);
  };
  std::map<Which, std::vector<double>> seconds;
  for (const auto* of_run : of_runs)
    each_update(*of_run, [&](const Which& which, const TaskTime& t) { seconds[which].push_back(t.seconds); });
  each_update(tasks, [&](const Which& which, TaskTime& t) { t.quartiles = bench::quartiles_of(seconds[which]); });
}

double floor_seconds(const TaskTime& t, const std::string& precision, const bench::Roof& roof) {
  const SolvePrecision* const solved = find_solve_precision(parse<Precision>(precision).value_or(Precision::fp64));
  const double m = double(t.m), n = double(t.n), k = double(t.k);
  const double computed = t.flops / (2 * k);  // elements of C
  const double bytes = bytes_of(solved ? solved->storage : Precision::fp64) * (m * k + k * n + 2 * computed);
  return std::max(t.flops / roof.flops_per_second, bytes / roof.bytes_per_second);
}

std::optional<double> seconds_at_roof(const Row& row, const bench::Roof& roof) {
  double saved = 0, least = 0;
  bool timed = false;
  for (const TaskTime& t : row.tasks) {
    if (!is_update(t)) continue;
    const double floor = std::min(t.seconds, floor_seconds(t, row.key.precision, roof));
    timed = true, saved += t.seconds - floor, least += floor;
  }
  if (!timed) return std::nullopt;
  // Where updates run at the same time, what is saved of each adds up to too much.
  return std::max({row.total_seconds - saved, least, free_updates(row).seconds.value_or(0)});
}

}  // namespace lasolve::compare
