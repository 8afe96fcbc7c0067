// A piece of work that never changes, so that its time tells what became of the machine.
#pragma once

#include <initializer_list>
#include <vector>

#include "bench/change.hpp"

namespace lasolve::bench {

/// Medians of a few, in seconds, one for each time that they were measured.
struct Yardstick {
  using Times = std::vector<double> Yardstick::*;

  std::vector<double> alone = {};           ///< a product of order 128 in plain loops, on one thread
  std::vector<double> on_all_threads = {};  ///< the same on all threads at once, until the last has done
  std::vector<double> launches = {};        ///< of a CUDA device: a chain of launches, which others measure

  /// Those of the host. Some milliseconds. threads ≥ 1.
  void measure(int threads);
};
inline constexpr std::initializer_list<Yardstick::Times> times_of_host = {&Yardstick::alone,
                                                                          &Yardstick::on_all_threads};
inline constexpr std::initializer_list<Yardstick::Times> times_of_cuda = {&Yardstick::launches};

/// Not all suffers alike from what the machine does.
inline constexpr double margin_of_machine = 1.25;

/// What a test has to allow for: how much slower or faster the machine may have become. The shift of any of these times, and its
/// standard error, times the margin. Nothing of those that one has not.
MachineChange machine_between(const Yardstick& before, const Yardstick& after,
                              std::initializer_list<Yardstick::Times> of = times_of_host);

}  // namespace lasolve::bench
