// What of a solve's time is whose.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "compare/row.hpp"

namespace lasolve::compare {

/// Seconds in which at least one update ran: those of different lanes may run at the same time.
double seconds_of_updates(const std::vector<TaskTime>&);
double flops_of_updates(const std::vector<TaskTime>&);

/// The wall time of a row, shared out to phases so that each instant counts once: for `gemm` where at least one update runs, wherever
/// it belongs to; else for the first that runs of panel, trsm, swap, and the others. The rest is that in which no task runs. Nothing
/// where phases overlap and tasks were not timed.
std::optional<std::array<double, phase_count>> exclusive_seconds(const Row&);

/// Gives updates of one run the quartiles of their times in all runs of the row. The same update has the same kind, block and lane;
/// where there are several of these, the same place among them.
void add_quartiles(std::vector<TaskTime>&, const std::vector<const std::vector<TaskTime>*>& of_runs);

/// What the solve of a row would take if its updates by the GEMM backend took no time (Amdahl, AFIPS 1967). The products in panels on the
/// CPU, and in triangular solves on CUDA, are the backend's as well, but are not counted here: their tasks have other work, too.
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

/// Limits, with what was measured anew: other programs make a device slower, never faster, so the best of several measurements counts.
void keep_best(std::vector<Limit>&, const std::vector<Limit>& measured);

/// The shape of an update; Cholesky's on and below the diagonal as well.
bool is_update(const TaskTime&);

}  // namespace lasolve::compare
