// What of a solve's time is whose.
#pragma once

#include <string>
#include <vector>

#include "compare/row.hpp"

namespace lasolve::compare {

/// Seconds in which at least one update ran: those of different lanes may run at the same time.
double seconds_of_updates(const std::vector<TaskTime>&);
double flops_of_updates(const std::vector<TaskTime>&);

/// What the solve of a row would take if its updates by the GEMM backend took no time (Amdahl, AFIPS 1967). The products in triangular
/// solves, and on the CPU in panels, are the backend's as well, but are not counted here: their phases have other work, too.
struct FreeUpdates {
  /// Nothing where phases overlap and the updates were not timed one by one.
  std::optional<double> seconds;
  /// Phases did not overlap, so that this is so; else it takes at least so long.
  bool exact = true;
};
FreeUpdates free_updates(const Row&);

/// The least time of an update in a precision: its operations at the rate of the roof, or its bytes at its bandwidth (Williams,
/// Waterman & Patterson, CACM 2009). L and U are read; of C, what is computed is read and written.
double floor_seconds(const TaskTime&, const std::string& precision, const bench::Roof&);
/// What the solve of a row would take if each of its updates took the least time; at least that, where phases overlap. The updates
/// themselves do not overlap then: at the roofline each has all of the device. Nothing where they were not timed one by one.
std::optional<double> seconds_at_roof(const Row&, const bench::Roof&);

/// The shape of an update; Cholesky's on and below the diagonal as well.
bool is_update(const TaskTime&);

}  // namespace lasolve::compare
