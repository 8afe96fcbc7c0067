#include "compare/together.hpp"

#include <algorithm>
#include <cmath>

#include "bench/visits.hpp"

namespace lasolve::compare {

namespace {

bool has_visits(const Row& row) { return row.visits.size() >= bench::least_for_a_verdict; }

}  // namespace

std::vector<double> independent_times(const Row& row) {
  return has_visits(row) ? bench::medians_of_visits(row.seconds, row.visits) : row.seconds;
}

std::vector<double> visits_together(const std::vector<const Row*>& rows, const Row* except) {
  std::vector<std::vector<double>> longer;  // of each visit, in each row
  for (const Row* row : rows) {
    if (row == except || !row->timed() || !has_visits(*row)) continue;
    const std::vector<double> times = independent_times(*row);
    const double middle = bench::spread_of(times).median;
    longer.resize(std::max(longer.size(), times.size()));
    for (std::size_t v = 0; v < times.size(); ++v) longer[v].push_back(times[v] / middle);
  }
  std::vector<double> together;
  for (const auto& visit : longer)
    if (visit.size() >= least_to_move_together) together.push_back(bench::spread_of(visit).median);
  return together;
}

double spread_together(const std::vector<double>& visits) {
  if (visits.size() < bench::least_for_a_verdict) return 0;
  std::vector<double> logs;
  for (const double v : visits) logs.push_back(std::log(v));
  constexpr double quartiles_of_normal = 1.349;
  return bench::quartiles_apart(logs) / quartiles_of_normal;
}

std::vector<double> times_beside(const Row& row, const std::vector<double>& visits) {
  std::vector<double> times = independent_times(row);
  if (has_visits(row))
    for (std::size_t v = 0; v < std::min(visits.size(), times.size()); ++v) times[v] /= visits[v];
  return times;
}

}  // namespace lasolve::compare
