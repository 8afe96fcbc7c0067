#include "cli/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace lasolve::cli {

namespace {

/// A line that a terminal does not break.
std::string fitted(std::string line) {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
  const std::size_t most = known ? size.ws_col - 1u : 100;
  if (line.size() > most) line = line.substr(0, most / 2 - 3) + " .. " + line.substr(line.size() - most / 2 + 1);
  return line;
}

}  // namespace

std::string duration(double seconds) {
  if (seconds < 100) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

double work_of(std::int64_t n) { return std::max(1e9, double(n) * double(n) * double(n)); }

Progress::Progress(std::string what, bool quiet)
    : what_(std::move(what)), talks_(!quiet && isatty(STDERR_FILENO) != 0) {}

void Progress::hide() {
  if (std::exchange(shown_, false)) std::fputs("\r\033[K", stderr);
}

void Progress::operator()(double share, const std::string& now) {
  if (talks_) say(share, std::isnan(share) ? std::nullopt : pace_.seconds_left(watch_.seconds(), share), now);
}

void Progress::say(double share, std::optional<double> seconds_left, const std::string& now) {
  constexpr double first_seconds = 1, pause_seconds = 0.2;
  const double seconds = watch_.seconds();
  if (!talks_ || seconds < std::max(first_seconds, last_seconds_ + pause_seconds)) return;
  last_seconds_ = seconds;
  shown_ = true;
  std::string line = what_;
  if (!std::isnan(share)) line += fmt::format(": {:.0f} %", std::floor(100 * std::clamp(share, 0.0, 1.0)));
  if (seconds_left) line += fmt::format(", {} left", duration(std::max(1.0, *seconds_left)));
  if (!now.empty()) line += "; " + now;
  fmt::print(stderr, "\r\033[K{}", fitted(std::move(line)));
  std::fflush(stderr);
}

}  // namespace lasolve::cli
