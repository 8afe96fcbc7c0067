// How long the rest of something takes. Times are seconds of any clock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace lasolve::bench {

/// If it goes on as it has since it was first heard of. A share that is smaller than the last begins anew.
class Pace {
 public:
  /// The seconds that are left at a time at which a share is done; none until that means something.
  std::optional<double> seconds_left(double now, double share) {
    if (share < last_) began_ = now, first_ = share;
    last_ = share;
    const double took = now - began_, gained = share - first_;
    const auto is_known = [&](double seconds, double least) { return took >= seconds && gained >= least; };
    if (!is_known(0.8, 0.03) && !is_known(5, 0.005) && !is_known(30, 0.0005)) return {};
    return took * (1 - share) / gained;
  }

 private:
  double began_ = 0, first_ = 0, last_ = 2;
};

/// Of runs of several contestants in turns, from how long the last of each took: some may take a hundred times as long as others.
class Tally {
 public:
  Tally(std::size_t contestants, int runs_of_each, double now)
      : left_(contestants, runs_of_each), seconds_(contestants), runs_(int(contestants) * runs_of_each), began_(now) {}

  void begin(std::size_t contestant, double now) { at_ = contestant, run_began_ = now; }
  /// A run that failed was the last of its contestant.
  void end(double now, bool failed) {
    seconds_[at_] = now - run_began_;
    left_[at_] = failed ? 0 : left_[at_] - 1;
    ++done_;
  }

  /// The number of the run that is under way, and of all.
  int of_run() const { return done_ + 1; }
  int runs() const { return runs_; }

  /// The seconds that are left when a share of the run that is under way is done; none until each has run once.
  std::optional<double> seconds_left(double of_run) const {
    double seconds = 0;
    for (std::size_t c = 0; c < left_.size(); ++c) {
      const double to_come = left_[c] - (c == at_ ? of_run : 0);
      if (to_come > 0 && !seconds_[c]) return {};
      if (to_come > 0) seconds += to_come * *seconds_[c];
    }
    return seconds;
  }
  /// The share of all that is done: of the time where that is known, else of the runs.
  double share(double now, double of_run) const {
    const double passed = now - began_;
    if (const auto left = seconds_left(of_run)) return passed / std::max(1e-9, passed + *left);
    return (done_ + of_run) / runs_;
  }

 private:
  std::vector<int> left_;  // the one under way included
  std::vector<std::optional<double>> seconds_;
  int runs_, done_ = 0;
  std::size_t at_ = 0;
  double began_, run_began_ = 0;
};

}  // namespace lasolve::bench
