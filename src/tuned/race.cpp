#include "tuned/race.hpp"

#include <algorithm>
#include <numeric>

#include "bench/product.hpp"
#include "bench/turns.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::tuned {

namespace {

double median(const Trial& trial) { return bench::spread_of(trial.seconds).median; }

bool can_be_judged(const Trial& trial) {
  return trial.failure.empty() && !trial.given_up && trial.seconds.size() >= bench::least_for_a_verdict;
}

/// Heats of one race.
class Race {
 public:
  Race(const std::vector<Setting>& settings, const Solve& solve, double seconds) : solve_(solve), seconds_(seconds) {
    for (const Setting& setting : settings) trials_.all.push_back({setting});
  }

  std::vector<std::size_t> all() const {
    std::vector<std::size_t> who(trials_.all.size());
    std::iota(who.begin(), who.end(), std::size_t(0));
    return who;
  }
  /// Those of them that can still win.
  std::vector<std::size_t> left(std::vector<std::size_t> who) const {
    std::erase_if(who, [&](std::size_t t) { return trials_.all[t].given_up || !trials_.all[t].failure.empty(); });
    return who;
  }

  void heat(const std::vector<std::size_t>& who, bench::Turns turns) {
    turns.rest = {0, 0.1};
    bench::time_in_turns(turns, who.size(), [&](std::size_t c, bool counts) { return run(who[c], counts); });
  }

  /// The first, and of the others the faster half.
  std::vector<std::size_t> better_half(std::vector<std::size_t> who) const {
    std::sort(who.begin() + 1, who.end(),
              [&](std::size_t a, std::size_t b) { return median(trials_.all[a]) < median(trials_.all[b]); });
    who.resize(1 + who.size() / 2);
    return who;
  }

  double seconds_left() const { return seconds_ - watch_.seconds(); }
  bool ended() const { return trials_.ran_out_of_time || !trials_.all[0].failure.empty(); }
  Trials take() { return std::move(trials_); }

 private:
  std::optional<double> run(std::size_t t, bool counts) {
    Trial& trial = trials_.all[t];
    if (seconds_left() <= 0) trials_.ran_out_of_time = true;
    if (ended()) return {};
    const Run run = solve_(trial.setting, most_seconds(t, counts));
    trial.failure = run.failure;
    if (!run.seconds) {
      trial.given_up = run.failure.empty();
      if (t == 0 && trial.given_up) trials_.ran_out_of_time = true;  // only time can have stopped it
      return {};
    }
    if (t == 0) slowest_of_first_ = std::max(slowest_of_first_, *run.seconds);
    if (counts) trial.seconds.push_back(*run.seconds);
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
  Trials trials_;
  double slowest_of_first_ = 0;
};

}  // namespace

Trials race(const std::vector<Setting>& settings, const Solve& solve, double seconds) {
  constexpr int rounds = 3;
  Race race(settings, solve, seconds);
  std::vector<std::size_t> who = race.all();
  for (int warmup = 1;; warmup = 0) {
    race.heat(who, {.warmup = warmup, .rounds = rounds});
    who = race.left(std::move(who));
    if (race.ended() || who.size() < 2) return race.take();
    if (who.size() > 2) who = race.better_half(std::move(who));
    if (who.size() == 2) break;
  }
  const int least = int(bench::least_for_a_verdict);
  race.heat(who, {.warmup = 0,
                  .rounds = 9,
                  .enough_seconds = 0.5 * race.seconds_left(),
                  .noise = 0.005,
                  .least_rounds = least,
                  .few_rounds = least});
  return race.take();
}

Trials duel(const Setting& first, const Setting& second, const Solve& solve, double seconds) {
  Race race({first, second}, solve, seconds);
  race.heat(race.all(), {.warmup = 1,
                         .rounds = 40,
                         .enough_seconds = 0.5 * seconds,
                         .noise = 0.003,
                         .least_rounds = 10,
                         .few_rounds = int(bench::least_for_a_verdict)});
  return race.take();
}

std::size_t winner(const std::vector<Trial>& trials) {
  std::size_t best = 0;
  if (trials.empty() || !can_be_judged(trials[0])) return best;
  for (std::size_t t = 1; t < trials.size(); ++t)
    if (can_be_judged(trials[t]) && median(trials[t]) < median(trials[best]) &&
        bench::change_between(trials[0].seconds, trials[t].seconds).kind == bench::Change::faster)
      best = t;
  return best;
}

}  // namespace lasolve::tuned
