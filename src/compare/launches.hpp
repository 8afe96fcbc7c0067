// The yardstick of a CUDA device: work that has the character of a small solve, and never changes.
#pragma once

#include <functional>

namespace lasolve::compare {

/// How many kernels a chain of launches has.
inline constexpr int launches_of_a_chain = 192;

/// Made once, it can be called often: each call times a chain of tiny kernels, and returns the median of a few, in seconds. The
/// kernels are on two streams in turns and wait for each other by events. Each follows four pointers through 4 MiB of the device. The
/// host waits for a copy of 4 bytes after every 32. Nothing of the library's queues or kernels is in it, so it does not move with them.
/// Empty in a build without CUDA. Throws MachineError where the device cannot be used, both when it is made and when it is called.
std::function<double()> make_chain_of_launches(int device);

}  // namespace lasolve::compare
