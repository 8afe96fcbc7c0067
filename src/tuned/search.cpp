#include "tuned/search.hpp"

#include <algorithm>
#include <cmath>

#include "bench/product.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::tuned {

namespace {

/// Share of the time that is kept for the last comparison.
constexpr double for_the_confirmation = 0.25;

class Search {
 public:
  Search(const Space& space, const Solve& solve, double seconds) : space_(space), solve_(solve), seconds_(seconds) {
    found_.chosen = space.by_default;
  }

  Found run() {
    step("backends", space_.by_backend);
    if (may_go_on()) choose_block_size();
    if (may_go_on()) choose_schedule();
    if (may_go_on()) choose_for_small_products();
    if (found_.failure.empty() && !found_.is_default(space_)) confirm();
    return std::move(found_);
  }

 private:
  bool may_go_on() const { return found_.failure.empty() && !found_.ran_out_of_time; }

  /// What is best so far against others, of which those that were tried before are left out. Whether another won.
  bool step(const char* what, const std::vector<Setting>& others) {
    std::vector<Setting> settings = {found_.chosen};
    for (const Setting& s : others)
      if (std::count(tried_.begin(), tried_.end(), s) == 0 && std::count(settings.begin(), settings.end(), s) == 0)
        settings.push_back(s);
    if (settings.size() == 1 && !tried_.empty()) return false;
    tried_.insert(tried_.end(), settings.begin(), settings.end());
    return take(what, successive_halving(settings, solve_, seconds_ * (1 - for_the_confirmation) - watch_.seconds()));
  }

  bool take(const char* what, TimedSettings timed) {
    found_.ran_out_of_time |= timed.ran_out_of_time;
    Step step{what, std::move(timed.all)};
    step.winner = winner(step.timed);
    const TimedSetting &first = step.timed[0], &best = step.timed[step.winner];
    if (first.setting == space_.by_default) {
      found_.failure = first.failure;
      found_.default_seconds = bench::spread_of(first.seconds).median;
    }
    found_.seconds = bench::spread_of(best.seconds).median;
    found_.chosen = best.setting;
    found_.steps.push_back(std::move(step));
    return found_.steps.back().winner != 0;
  }

  void choose_block_size() {
    constexpr int most = 3;  // then columns have become eight times as many
    for (int i = 0; i < most && may_go_on(); ++i) {
      const auto sizes = block_sizes_around(found_.chosen.block_size, space_.n);
      std::vector<Setting> settings;
      for (const std::int64_t nb : sizes) settings.push_back({found_.chosen.gemm, found_.chosen.schedule, nb});
      if (!step("block sizes", settings)) return;
      const std::int64_t nb = found_.chosen.block_size;
      if (nb != sizes.front() && nb != sizes.back()) return;
    }
  }

  void choose_schedule() {
    std::vector<Setting> settings;
    for (const auto& [schedule, block_size] : space_.schedules)
      for (const std::int64_t nb : {block_size, found_.chosen.block_size})
        settings.push_back({found_.chosen.gemm, schedule, nb});
    step("schedules", settings);
  }

  void choose_for_small_products() {
    std::vector<Setting> settings;
    for (const Setting& other : space_.by_backend)
      for (const double below : small_products(found_.chosen.block_size, space_.n))
        if (other.gemm != found_.chosen.gemm) {
          settings.push_back(found_.chosen);
          settings.back().small = other.gemm, settings.back().small_below = below;
        }
    if (!settings.empty()) step("small products", settings);
  }

  void confirm() {
    const Setting challenger = found_.chosen;
    found_.chosen = space_.by_default;
    if (!take("against the default", compare_pair(space_.by_default, challenger, solve_, seconds_ - watch_.seconds())))
      return;
    const auto& timed = found_.steps.back().timed;
    found_.change = bench::change_between(timed[0].seconds, timed[1].seconds);
  }

  const Space& space_;
  const Solve& solve_;
  const Stopwatch watch_;
  const double seconds_;
  std::vector<Setting> tried_;
  Found found_;
};

}  // namespace

std::vector<std::int64_t> block_sizes_around(std::int64_t at, std::int64_t n) {
  constexpr std::int64_t multiple = 8;
  std::vector<std::int64_t> sizes;
  for (const double factor : {0.5, 0.75, 1.5, 2.0}) {
    const std::int64_t columns = std::llround(factor * double(at) / double(multiple)) * multiple;
    if (columns >= multiple && columns <= n && columns != at && (sizes.empty() || sizes.back() != columns))
      sizes.push_back(columns);
  }
  return sizes;
}

std::vector<double> small_products(std::int64_t nb, std::int64_t n) {
  std::vector<double> sizes;
  for (double rows = 0.5 * double(nb); rows < 0.5 * double(n); rows *= 2) sizes.push_back(2 * rows * rows * double(nb));
  return sizes;
}

Found search(const Space& space, const Solve& solve, double seconds) { return Search(space, solve, seconds).run(); }

}  // namespace lasolve::tuned
