// Calls of the library that no command line makes. Each returns whether its answers are right, and throws as the library does.
#pragma once

namespace lasolve::test::faults {

/// Small systems, one after the other, from the host and on the device.
bool solve_small_systems();
/// In the order of a stream, with nobody waiting.
bool solve_async();
/// The same, captured in a graph that is launched.
bool solve_captured();

/// A kernel that ends the context of this process on the device, for good.
void lose_device();

}  // namespace lasolve::test::faults
