// Calls of CUDA that fail when they are told to, and what is alive of what they make.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace lasolve::test::faults {

/// Which calls fail. one: the k-th. memory: of those that allocate the k-th, and all behind it. lost: the k-th call and all behind it, as
/// after an error that ends the context; what destroys or waits does so all the same. card: the same, but only where cuda:1 is current.
enum class Fault { none, one, memory, lost, card };

/// What calls make, until others destroy it.
enum class Object { none, device_memory, pinned_memory, locked_pages, stream, event, blas_handle, pool, green_context };
constexpr std::array names_of_objects = {"none",  "device memory", "pinned memory", "locked pages", "stream",
                                         "event", "cuBLAS handle", "memory pool",   "green context"};
using Alive = std::array<long, names_of_objects.size()>;

/// From now on calls are counted, from 1, and some fail.
void begin(Fault, long k);

struct Counted {
  long calls = 0, allocations = 0;
  std::string failed;  ///< the first that did; empty: none
};
/// Of the calls since begin(). From now on none fails.
Counted end();

/// How many there are of each object.
Alive alive();

/// Lets calls of the driver fail as well, which the library looks up by name. Throws MachineError where there is none.
void wrap_driver();

}  // namespace lasolve::test::faults
