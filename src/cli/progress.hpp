// How far something long is.
#pragma once

#include <cstdint>
#include <string>

#include "core/stopwatch.hpp"

namespace lasolve::cli {

/// A time as people say it: "8 s", "3 min", "2.5 h".
std::string duration(double seconds);

/// About what the solves of a size cost, in any unit: as many operations, and something for being small.
double work_of(std::int64_t n);

/// Says on standard error which share of something is done and how long the rest will take: on a terminal only, from the
/// second second on, a few times a second. The line is gone in the end. A share that is smaller than the last begins a
/// second part, whose time is taken anew.
class Progress {
 public:
  Progress(std::string what, bool quiet);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();
  void operator()(double fraction);

 private:
  std::string what_;
  Stopwatch all_, part_;
  bool talks_, shown_ = false;
  double last_fraction_ = 0, last_seconds_ = 0;
};

}  // namespace lasolve::cli
