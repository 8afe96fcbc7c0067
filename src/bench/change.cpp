#include "bench/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/product.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::bench {

double quartiles_apart(std::vector<double> samples) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const std::size_t quarter = samples.size() / 4;
  return samples[samples.size() - 1 - quarter] - samples[quarter];
}

double noise_of(const std::vector<double>& samples) {
  const double median = spread_of(samples).median;
  if (samples.size() < 2 || !(median > 0)) return std::numeric_limits<double>::infinity();
  return 1.2533 * quartiles_apart(samples) / 1.349 / (std::sqrt(double(samples.size())) * median);
}

const char* name_of(Change::Kind kind) {
  return kind == Change::same ? "same" : kind == Change::faster ? "faster" : "slower";
}

Change change_between(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& test) {
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  require(!before.empty() && !after.empty(), "times are compared, but there are none");
  require(std::all_of(before.begin(), before.end(), positive) && std::all_of(after.begin(), after.end(), positive),
          "times that are compared are positive");
  std::vector<double> shifts;  // of all pairs
  shifts.reserve(before.size() * after.size());
  for (const double a : after)
    for (const double b : before) shifts.push_back(std::log(a / b));
  std::sort(shifts.begin(), shifts.end());
  const double m = double(before.size()), n = double(after.size());
  const double rank = std::floor(m * n / 2 - test.z * std::sqrt(m * n * (m + n + 1) / 12));
  Change change{Change::same, std::expm1(spread_of(shifts).median), -1, std::numeric_limits<double>::infinity()};
  if (rank < 0) return change;
  change.low = std::expm1(shifts[std::size_t(rank)]);
  change.high = std::expm1(shifts[shifts.size() - 1 - std::size_t(rank)]);
  if (change.low > 0 && change.shift >= test.least_effect) change.kind = Change::slower;
  if (change.high < 0 && 1 / (1 + change.shift) >= 1 + test.least_effect) change.kind = Change::faster;
  return change;
}

}  // namespace lasolve::bench
