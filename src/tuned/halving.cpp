#include "tuned/halving.hpp"

#include <algorithm>
#include <numeric>

#include "bench/product.hpp"
#include "bench/turns.hpp"
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

}  // namespace lasolve::tuned
