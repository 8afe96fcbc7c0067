// How long the rest of something takes. Times are seconds of any clock.
#pragma once

#include <optional>

namespace lasolve::bench {

/// If it goes on as it has since the first call. A share that is smaller than the last begins anew.
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

}  // namespace lasolve::bench
