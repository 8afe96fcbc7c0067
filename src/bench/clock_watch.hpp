// Whether times can be believed where a stranger's code is in the process.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>

namespace lasolve::bench {

/// CLOCK_MONOTONIC in seconds, from the operating system itself: a function of a library may be somebody else's.
inline double asked_seconds() {
  timespec t{};
#if defined(__x86_64__)
  long number = SYS_clock_gettime;
  asm volatile("syscall" : "+a"(number) : "D"(long(CLOCK_MONOTONIC)), "S"(&t) : "rcx", "r11", "memory");
#elif defined(__aarch64__)
  register long number asm("x8") = SYS_clock_gettime;
  register long clock asm("x0") = CLOCK_MONOTONIC;
  register timespec* const to asm("x1") = &t;
  asm volatile("svc #0" : "+r"(clock) : "r"(number), "r"(to) : "memory");
#else
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
#endif
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}

/// How far the clock that times are taken with went ahead of the one that is asked, in so many seconds; `error`: by how much that may
/// be wrong, since the two are not read at once. Those of several times add up.
struct ClockDrift {
  double seconds = 0, ahead = 0, error = 0;

  /// By more than some per cent of the time, and certainly.
  bool is_changed() const { return !(std::abs(ahead) <= error + tolerated * seconds); }
  ClockDrift& operator+=(const ClockDrift& more) {
    seconds += more.seconds, ahead += more.ahead, error += more.error;
    return *this;
  }
  static constexpr double tolerated = 0.02;
};

/// Compares the clock that times are taken with, which goes through functions of libraries, with what the operating system is asked
/// itself. Code in the process can put others in the place of those functions.
class ClockWatch {
 public:
  /// Whether they agree at all; they have the same zero on Linux.
  static bool is_true() { return std::abs(Reading::now().ahead) < 1e-3; }
  /// Whether they go at the same rate, for as short a time as shows it: some microseconds.
  static bool is_steady() {
    const ClockWatch watch;
    for (;;)
      if (const ClockDrift d = watch.drift(); d.error <= ClockDrift::tolerated * d.seconds || d.seconds > 0.1)
        return !d.is_changed();
  }

  /// Since this was made.
  ClockDrift drift() const {
    const Reading now = Reading::now();
    return {now.asked - since_.asked, now.ahead - since_.ahead, now.error + since_.error};
  }
  bool changed() const { return drift().is_changed(); }

 private:
  struct Reading {
    double asked, ahead, error;

    /// The best of a few, of which none but all may have been interrupted.
    static Reading now() {
      constexpr double good = 1e-6;
      Reading best{0, 0, 1e300};
      for (int i = 0; i < 5 && best.error > good; ++i) {
        const double before = asked_seconds();
        const double told = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
        const double after = asked_seconds(), middle = 0.5 * (before + after), error = 0.5 * (after - before);
        if (error < best.error) best = {middle, told - middle, error};
      }
      return best;
    }
  };
  Reading since_ = Reading::now();
};

}  // namespace lasolve::bench
