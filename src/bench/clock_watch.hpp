// Whether times can be believed where a stranger's code is in the process.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>

namespace lasolve::bench {

/// Compares the clock that times are taken with, which goes through functions of libraries, with what the operating system is asked
/// itself. Code in the process can put others in the place of those functions.
class ClockWatch {
 public:
  /// Whether they agree at all; they have the same zero on Linux.
  static bool is_true() { return std::abs(ahead()) < tolerance; }
  /// Whether one has gone further than the other since this was made.
  bool changed() const { return !(std::abs(ahead() - before_) < tolerance); }

 private:
  static constexpr double tolerance = 1e-3;
  /// Seconds; the least of three, of which none but all may have been interrupted.
  static double ahead() {
    double least = 1e300;
    for (int i = 0; i < 3; ++i) {
      const double first = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
      timespec t{};
      syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
      const double second = double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
      if (std::abs(first - second) < std::abs(least)) least = first - second;
    }
    return least;
  }
  double before_ = ahead();
};

}  // namespace lasolve::bench
