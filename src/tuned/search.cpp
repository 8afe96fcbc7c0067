#include "tuned/search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bench/product.hpp"
#include "bench/turns.hpp"
#include "core/range.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::tuned {

namespace {

double median(const TimedSetting& timed_setting) { return bench::spread_of(timed_setting.seconds).median; }

bool can_be_judged(const TimedSetting& timed_setting) {
  return timed_setting.failure.empty() && !timed_setting.given_up &&
         timed_setting.seconds.size() >= bench::least_for_a_verdict;
}

/// Runs of some settings, in turns.
class Halving {
 public:
  Halving(const std::vector<Setting>& settings, const Solve& solve, double seconds) : solve_(solve), seconds_(seconds) {
    for (const Setting& setting : settings) timed_.all.push_back({setting});
  }

  std::vector<std::size_t> all() const {
    std::vector<std::size_t> who(timed_.all.size());
    std::iota(who.begin(), who.end(), std::size_t(0));
    return who;
  }
  /// Those of them that can still win.
  std::vector<std::size_t> left(std::vector<std::size_t> who) const {
    std::erase_if(who, [&](std::size_t t) { return timed_.all[t].given_up || !timed_.all[t].failure.empty(); });
    return who;
  }

  void heat(const std::vector<std::size_t>& who, bench::Turns turns) {
    turns.rest = {0, 0.1};
    bench::time_in_turns(turns, who.size(), [&](std::size_t c, bool counts) { return run(who[c], counts); });
  }

  /// The first, and of the others the faster half.
  std::vector<std::size_t> better_half(std::vector<std::size_t> who) const {
    std::sort(who.begin() + 1, who.end(),
              [&](std::size_t a, std::size_t b) { return median(timed_.all[a]) < median(timed_.all[b]); });
    who.resize(1 + who.size() / 2);
    return who;
  }

  double seconds_left() const { return seconds_ - watch_.seconds(); }
  bool ended() const { return timed_.ran_out_of_time || !timed_.all[0].failure.empty(); }
  TimedSettings take() { return std::move(timed_); }

 private:
  std::optional<double> run(std::size_t t, bool counts) {
    TimedSetting& timed_setting = timed_.all[t];
    if (seconds_left() <= 0) timed_.ran_out_of_time = true;
    if (ended()) return {};
    const Run run = solve_(timed_setting.setting, most_seconds(t, counts));
    timed_setting.failure = run.failure;
    if (!run.seconds) {
      timed_setting.given_up = run.failure.empty();
      if (t == 0 && timed_setting.given_up) timed_.ran_out_of_time = true;  // only time can have stopped it
      return {};
    }
    if (t == 0) slowest_of_first_ = std::max(slowest_of_first_, *run.seconds);
    if (counts) timed_setting.seconds.push_back(*run.seconds);
    return run.seconds;
  }

  /// A first run may take longer, since it makes what later ones find; and one that is interrupted by another program, too.
  double most_seconds(std::size_t t, bool counts) const {
    constexpr double times = 3, interruption = 0.01, first_run = 0.5;
    if (t == 0 || slowest_of_first_ == 0) return std::numeric_limits<double>::infinity();
    return times * slowest_of_first_ + (counts ? interruption : first_run);
  }

  const Solve& solve_;
  const Stopwatch watch_;
  const double seconds_;
  TimedSettings timed_;
  double slowest_of_first_ = 0;
};

}  // namespace

TimedSettings successive_halving(const std::vector<Setting>& settings, const Solve& solve, double seconds) {
  constexpr int rounds = 3;
  Halving halving(settings, solve, seconds);
  std::vector<std::size_t> who = halving.all();
  for (int warmup = 1;; warmup = 0) {
    halving.heat(who, {.warmup = warmup, .rounds = rounds});
    who = halving.left(std::move(who));
    if (halving.ended() || who.size() < 2) return halving.take();
    if (who.size() > 2) who = halving.better_half(std::move(who));
    if (who.size() == 2) break;
  }
  const int least = int(bench::least_for_a_verdict);
  halving.heat(who, {.warmup = 0,
                     .rounds = 9,
                     .enough_seconds = 0.5 * halving.seconds_left(),
                     .noise = 0.005,
                     .least_rounds = least,
                     .few_rounds = least});
  return halving.take();
}

TimedSettings compare_pair(const Setting& first, const Setting& second, const Solve& solve, double seconds) {
  Halving halving({first, second}, solve, seconds);
  halving.heat(halving.all(), {.warmup = 1,
                               .rounds = 40,
                               .enough_seconds = 0.5 * seconds,
                               .noise = 0.003,
                               .least_rounds = 10,
                               .few_rounds = int(bench::least_for_a_verdict)});
  return halving.take();
}

std::size_t winner(const std::vector<TimedSetting>& timed) {
  std::size_t best = 0;
  if (timed.empty() || !can_be_judged(timed[0])) return best;
  for (std::size_t t = 1; t < timed.size(); ++t)
    if (can_be_judged(timed[t]) && median(timed[t]) < median(timed[best]) &&
        bench::change_between(timed[0].seconds, timed[t].seconds).kind == bench::Change::faster)
      best = t;
  return best;
}

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
      if (!contains(tried_, s) && !contains(settings, s)) settings.push_back(s);
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

  static bool is_open(const Setting& s) { return s.precision == Precision::automatic; }

  Setting chosen_but(Schedule schedule, std::int64_t block_size) const {
    Setting setting = found_.chosen;
    setting.schedule = schedule, setting.block_size = block_size;
    return setting;
  }

  void choose_block_size() {
    constexpr int most = 3;  // then columns have become eight times as many
    for (int i = 0; i < most && may_go_on(); ++i) {
      const auto sizes = block_sizes_around(found_.chosen.block_size, space_.n);
      std::vector<Setting> settings;
      for (const std::int64_t nb : sizes) settings.push_back(chosen_but(found_.chosen.schedule, nb));
      if (!step("block sizes", settings)) return;
      const std::int64_t nb = found_.chosen.block_size;
      if (nb != sizes.front() && nb != sizes.back()) return;
    }
  }

  void choose_schedule() {
    std::vector<Setting> settings;
    for (const auto& [schedule, block_size] : space_.schedules)
      for (const std::int64_t nb : {block_size, found_.chosen.block_size}) settings.push_back(chosen_but(schedule, nb));
    step("schedules", settings);
  }

  void choose_for_small_products() {
    std::vector<Setting> settings;
    for (const Setting& other : space_.by_backend)
      for (const double below : small_products(found_.chosen.block_size, space_.n))
        if (other.gemm != found_.chosen.gemm &&
            (is_open(found_.chosen) || other.precision == found_.chosen.precision)) {
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
