#include "compare/common_movement.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "bench/visits.hpp"

namespace lasolve::compare {

namespace {

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// Leaves out what a row has beyond so many visits.
void keep_visits(Row& row, std::size_t count) {
  row.visits.resize(std::min(count, row.visits.size()));
  const auto runs = std::size_t(std::accumulate(row.visits.begin(), row.visits.end(), 0));
  for (std::vector<double>* times :
       {&row.seconds, &row.factor_seconds, &row.processor_seconds, &row.gemm_seconds_of_runs})
    times->resize(std::min(runs, times->size()));
}

}  // namespace

bool has_visits(const Row& row) { return row.visits.size() >= bench::least_for_a_verdict; }

std::vector<double> independent_times(const Row& row, Times times) {
  return has_visits(row) ? bench::medians_of_visits(row.*times, row.visits) : row.*times;
}

std::vector<double> common_movement(const std::vector<const Row*>& rows, const Row* except) {
  std::vector<std::vector<double>> longer;  // of each visit, in each row
  for (const Row* row : rows) {
    if (row == except || !row->timed() || !has_visits(*row)) continue;
    const std::vector<double> times = independent_times(*row);
    const double middle = bench::spread_of(times).median;
    longer.resize(std::max(longer.size(), times.size()));
    for (std::size_t v = 0; v < times.size(); ++v) longer[v].push_back(times[v] / middle);
  }
  std::vector<double> movement;
  for (const auto& visit : longer)
    if (visit.size() >= least_for_common_movement) movement.push_back(bench::spread_of(visit).median);
  return movement;
}

double spread_of_movement(const std::vector<double>& visits) {
  if (visits.size() < bench::least_for_a_verdict) return 0;
  std::vector<double> logs;
  for (const double v : visits) logs.push_back(std::log(v));
  constexpr double quartiles_of_normal = 1.349;
  return bench::interquartile_range(logs) / quartiles_of_normal;
}

std::vector<double> times_beside(const Row& row, const std::vector<double>& visits) {
  std::vector<double> times = independent_times(row);
  if (has_visits(row))
    for (std::size_t v = 0; v < std::min(visits.size(), times.size()); ++v) times[v] /= visits[v];
  return times;
}

void add_session(Comparison& all, const Comparison& more) {
  for (Size& size : all.sizes)
    if (const Size* its = more.find_size(size.n)) {
      append(size.yardstick.alone, its->yardstick.alone),
          append(size.yardstick.on_all_threads, its->yardstick.on_all_threads);
      append(size.yardstick.launches, its->yardstick.launches);
      size.other_processors = std::max(size.other_processors, its->other_processors);
    }
  const auto other = [&](const Row& row) {
    const Row* its = more.find(row.key);
    return its && its->timed() && row.timed() && !its->visits.empty() && !row.visits.empty() ? its : nullptr;
  };
  std::map<std::int64_t, std::size_t> fewest;  // visits of a row, by n
  for (const Row& row : all.rows)
    if (other(row)) {
      const auto at = fewest.try_emplace(row.key.n, row.visits.size()).first;
      at->second = std::min(at->second, row.visits.size());
    }
  for (Row& row : all.rows) {
    const Row* its = other(row);
    if (!its) continue;
    keep_visits(row, fewest[row.key.n]);  // so that a visit has one number in all rows
    append(row.seconds, its->seconds), append(row.visits, its->visits);
    append(row.factor_seconds, its->factor_seconds), append(row.processor_seconds, its->processor_seconds);
    append(row.gemm_seconds_of_runs, its->gemm_seconds_of_runs);
  }
}

}  // namespace lasolve::compare
