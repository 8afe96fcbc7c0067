#include "bench/change.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/product.hpp"
#include "core/range.hpp"
#include "lasolve/matrix.hpp"

namespace lasolve::bench {

std::array<double, 3> quartiles_of(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const std::size_t quarter = samples.size() / 4;
  return {samples[quarter], spread_of(samples).median, samples[samples.size() - 1 - quarter]};
}

double interquartile_range(const std::vector<double>& samples) {
  const auto [low, median, high] = quartiles_of(samples);
  return high - low;
}

double noise_of(const std::vector<double>& samples) {
  const double median = spread_of(samples).median;
  if (samples.size() < 2 || !(median > 0)) return std::numeric_limits<double>::infinity();
  return 1.2533 * interquartile_range(samples) / 1.349 / (std::sqrt(double(samples.size())) * median);
}

const char* name_of(Change::Kind kind) {
  return kind == Change::same ? "same" : kind == Change::faster ? "faster" : "slower";
}

bool tells(const Change& c) {
  constexpr double wanted = 0.03;
  return std::isfinite(c.high) && c.visible <= wanted;
}

const char* word_of(const Change& c) { return c.kind == Change::same && !tells(c) ? "unknown" : name_of(c.kind); }

double correlation_of(const std::vector<std::vector<double>>& all) {
  double products = 0, squares = 0, counts = 0, series = 0;
  for (const auto& samples : all) {
    if (samples.size() < 3) continue;
    const double middle = 0.5 * (double(samples.size()) - 1);
    std::vector<double> ranks;  // from the middle; the mean of those that are equal
    for (const double x : samples) {
      double below = 0, equal = 0;
      for (const double y : samples) below += y < x, equal += y == x;
      ranks.push_back(below + 0.5 * (equal - 1) - middle);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      squares += ranks[i] * ranks[i];
      if (i > 0) products += ranks[i] * ranks[i - 1];
    }
    counts += double(samples.size()), ++series;
  }
  if (!(squares > 0)) return 0;
  const double count = counts / series;
  return std::clamp((products / squares + 1 / count) / (1 - std::min(0.8, 4 / count)), -1.0, 1.0);
}

namespace {

void require_times(const std::vector<double>& before, const std::vector<double>& after) {
  const auto positive = [](double x) { return x > 0 && std::isfinite(x); };
  require(!before.empty() && !after.empty(), "times are compared, but there are none");
  require(all_of(before, positive) && all_of(after, positive), "times that are compared are positive");
}

/// How much wider an interval is for samples that tell of one another.
double wider_by_correlation(const std::vector<std::vector<double>>& series) {
  constexpr double most = 0.9;
  const double r = std::clamp(correlation_of(series), 0.0, most);
  return std::sqrt((1 + r) / (1 - r));
}

/// All logarithms here. The median and both ends of an interval for it, before it is widened.
struct Interval {
  double shift, low, high;
};

Change change_of(Interval x, double wider, const ChangeTest& test) {
  const double below = wider * (x.shift - x.low), above = wider * (x.high - x.shift);
  const double slower = std::log1p(test.machine.slower), faster = std::log1p(test.machine.faster);
  const double least = std::log1p(test.least_effect);
  const double low = x.shift - below - slower, high = x.shift + above - faster;
  Change change{Change::same, std::expm1(x.shift), std::expm1(low), std::expm1(high), 0, test.machine.known};
  constexpr double for_95 = 1.645;  // standard errors beyond what is just found
  change.visible = std::expm1(slower - faster + std::max(below, least) + for_95 * below / test.z);
  if (low > 0 && x.shift - slower >= least) change.kind = Change::slower;
  if (high < 0 && x.shift - faster <= -least) change.kind = Change::faster;
  return change;
}

/// Of samples that are too few for an interval.
Change unknown_change(double shift, const ChangeTest& test) {
  const double infinite = std::numeric_limits<double>::infinity();
  return {Change::same, std::expm1(shift), -1, infinite, infinite, test.machine.known};
}

/// The largest t for which the sum of the ranks of the positive ones among n is at most t with a probability of no more than `tail`;
/// −1: there is none. Each set of ranks is as likely as another.
int least_sum_of_ranks(std::size_t n, double tail) {
  std::vector<double> sets(n * (n + 1) / 2 + 1, 0.0);  // the probability of each sum
  sets[0] = 1;
  std::size_t most = 0;
  for (std::size_t rank = 1; rank <= n; ++rank) {
    most += rank;
    for (std::size_t sum = most + 1; sum-- > 0;) sets[sum] = 0.5 * (sets[sum] + (sum >= rank ? sets[sum - rank] : 0));
  }
  int t = -1;
  for (double below = sets[0]; below <= tail; below += sets[std::size_t(t) + 1]) ++t;
  return t;
}

}  // namespace

Change change_of_pairs(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& test) {
  require_times(before, after);
  require(before.size() == after.size(), "times in pairs are as many of each");
  require(test.machine.faster == 0 && test.machine.slower == 0, "what the machine did to a pair, it did to both");
  std::vector<double> shifts, means;
  for (std::size_t i = 0; i < before.size(); ++i)
    shifts.push_back(std::log(after[i] / before[i]) - std::log1p(test.machine.known));
  for (std::size_t i = 0; i < shifts.size(); ++i)
    for (std::size_t j = 0; j <= i; ++j) means.push_back(0.5 * (shifts[i] + shifts[j]));
  std::sort(means.begin(), means.end());
  const double shift = spread_of(means).median;
  const int rank = least_sum_of_ranks(shifts.size(), 0.5 * std::erfc(test.z / std::sqrt(2.0)));
  if (rank < 0) return unknown_change(shift, test);
  const auto at = std::size_t(rank);
  return change_of({shift, means[at], means[means.size() - 1 - at]}, wider_by_correlation({shifts}), test);
}

Change change_between(const std::vector<double>& before, const std::vector<double>& after, const ChangeTest& test) {
  require_times(before, after);
  require(test.machine.faster > -1 && test.machine.faster <= 0 && test.machine.slower >= 0 && test.machine.known > -1,
          "a machine that may have become faster or slower, not both");
  std::vector<double> shifts;  // of all pairs
  shifts.reserve(before.size() * after.size());
  for (const double a : after)
    for (const double b : before) shifts.push_back(std::log(a / b) - std::log1p(test.machine.known));
  std::sort(shifts.begin(), shifts.end());
  const double m = double(before.size()), n = double(after.size());
  const double rank = std::floor(m * n / 2 - test.z * std::sqrt(m * n * (m + n + 1) / 12));
  const double shift = spread_of(shifts).median;
  if (rank < 0) return unknown_change(shift, test);
  const auto at = std::size_t(rank);
  return change_of({shift, shifts[at], shifts[shifts.size() - 1 - at]}, wider_by_correlation({before, after}), test);
}

}  // namespace lasolve::bench
