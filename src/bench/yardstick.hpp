// A piece of work that never changes, so that its time tells what became of the machine.
#pragma once

#include <vector>

#include "bench/change.hpp"

namespace lasolve::bench {

/// The seconds of a product of order 128 in plain loops: medians of a few, one for each time that measure() was called.
struct Yardstick {
  std::vector<double> alone;     ///< on one thread
  std::vector<double> together;  ///< on all threads at once, until the last has done

  bool empty() const { return alone.empty(); }
  /// Some milliseconds. threads ≥ 1.
  void measure(int threads);
};

/// What a test has to allow for: how much slower or faster the machine may have become. The shift of either kind of times, and its
/// standard error; and a quarter more, since not all suffers alike from what the machine does. Nothing where one is empty.
MachineChange machine_between(const Yardstick& before, const Yardstick& after);

}  // namespace lasolve::bench
