// How far something long is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "bench/time_left.hpp"
#include "core/stopwatch.hpp"

namespace lasolve::cli {

/// A time as people say it: "8 s", "3 min", "2.5 h".
std::string duration(double seconds);

/// About what the solves of a size cost, in any unit: as many operations, and something for being small.
double work_of(std::int64_t n);

/// Says on standard error which share of something is done and how long the rest will take: on a terminal only, from the
/// second second on, a few times a second. The line is gone in the end.
class Progress {
 public:
  Progress(std::string what, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { hide(); }
  /// Whether anybody sees it.
  bool talks() const { return talks_; }
  void rename(std::string what) { what_ = std::move(what); }
  /// NaN: nobody knows which share. `now`, if any: what is being done.
  void operator()(double share, const std::string& now = "");
  /// The same, where it is known from elsewhere how long the rest will take, or that nobody knows.
  void say(double share, std::optional<double> seconds_left, const std::string& now = "");
  /// Takes the line away until something is said again.
  void hide();

 private:
  std::string what_;
  Stopwatch watch_;
  bench::Pace pace_;
  bool talks_, shown_ = false;
  double last_seconds_ = 0;
};

}  // namespace lasolve::cli
