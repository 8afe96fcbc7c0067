#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace lasolve::cli {

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

double work_of(std::int64_t n) { return std::max(1e9, double(n) * double(n) * double(n)); }

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)), talks_(!quiet && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::operator()(double fraction) {
  constexpr double first_seconds = 1, pause_seconds = 0.2;
  if (!talks_) return;
  if (fraction < last_fraction_) part_ = Stopwatch();
  last_fraction_ = fraction;
  const double now = all_.seconds();
  if (now < last_seconds_ + (shown_ ? pause_seconds : first_seconds)) return;
  last_seconds_ = now;
  shown_ = true;
  const double left = fraction > 0 ? part_.seconds() * (1 - fraction) / fraction : 0;
  fmt::print(stderr, "\r\033[K{}: {:.0f} %{}", what_, 100 * fraction,
             fraction > 0 ? fmt::format(", {} left", duration(left)) : "");
  std::fflush(stderr);
}

}  // namespace lasolve::cli
