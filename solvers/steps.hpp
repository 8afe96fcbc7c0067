// How the steps of a queue are timed.
#pragma once

#include "lasolve/queue.hpp"

namespace lasolve {

/// Each step is a phase of its own, or all are parts of the phase that runs: timing marks between short kernels cost more than
/// they tell.
struct Steps {
  bool are_phases;

  /// The next step of q waits for another queue.
  template <class Place>
  void wait(Queue<Place>& q, Queue<Place>& other) const {
    are_phases ? q.wait(other) : q.join(other);
  }
  template <class Place>
  void begin(Queue<Place>& q, Phase phase, double flops) const {
    are_phases ? q.phase(phase, flops) : q.add_flops(flops);
  }
};

}  // namespace lasolve
