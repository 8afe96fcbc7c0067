#include "compare/attribution.hpp"

#include <algorithm>

#include "lasolve/names.hpp"

namespace lasolve::compare {

const Row* Comparison::find(const Key& key) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

const Size* Comparison::find_size(std::int64_t n) const {
  const auto found = std::find_if(sizes.begin(), sizes.end(), [=](const Size& s) { return s.n == n; });
  return found == sizes.end() ? nullptr : &*found;
}

std::vector<const Row*> Comparison::at(std::int64_t n) const {
  std::vector<const Row*> all;
  for (const Row& r : rows)
    if (r.key.n == n) all.push_back(&r);
  return all;
}

std::optional<bench::Roof> Comparison::roof_of(const Row& row) const {
  const auto limit = std::find_if(limits.begin(), limits.end(), [&](const Limit& l) {
    return l.device == row.key.device && l.precision == row.key.precision;
  });
  if (limit == limits.end()) return std::nullopt;
  bench::Roof roof = limit->roof;
  for (const Row& r : rows)
    if (r.key.device == limit->device && r.key.precision == limit->precision)
      for (const TaskTime& t : r.tasks)
        if (is_update(t)) roof.flops_per_second = std::max(roof.flops_per_second, 1e9 * t.gflops());
  return roof;
}

double Row::gemm_flops() const { return tasks.empty() ? phases.flops_of(Phase::gemm) : flops_of_updates(tasks); }

bool is_update(const TaskTime& t) { return t.m > 0 && t.n > 0 && t.k > 0; }

double seconds_of_updates(const std::vector<TaskTime>& tasks) {
  std::vector<std::pair<double, double>> updates;  // begin, end
  for (const TaskTime& t : tasks)
    if (is_update(t)) updates.emplace_back(t.begin, t.begin + t.seconds);
  std::sort(updates.begin(), updates.end());
  double sum = 0, last = 0;
  for (const auto& [begin, end] : updates) {
    sum += std::max(0.0, end - std::max(begin, last));
    last = std::max(last, end);
  }
  return sum;
}

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
