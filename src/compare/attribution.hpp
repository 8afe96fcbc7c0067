// What of a solve's time is whose.
#pragma once

#include <string>
#include <vector>

#include "compare/row.hpp"

namespace lasolve::compare {

/// What the solve of a row would take if its updates by the GEMM backend took no time (Amdahl, AFIPS 1967). The products in triangular
/// solves, and on the CPU in panels, are the backend's as well, but are not counted here: their phases have other work, too.
struct FreeGemm {
  double seconds = 0;
  double speedup = 0;  ///< of the whole solve
  /// Phases did not overlap, so that this is so; else they overlap, it takes at least so long, and the speed-up is at most this.
  bool exact = true;
};
FreeGemm free_gemm(const Row&);

/// The least time of an update in a precision: its operations at the rate of the roof, or its bytes at its bandwidth (Williams,
/// Waterman & Patterson, CACM 2009). L and U are read; of C, what is computed is read and written.
double floor_seconds(const TaskTime&, const std::string& precision, const bench::Roof&);
/// What the solve of a row would take if each of its updates took the least time; at least that, where phases overlap. The updates
/// themselves do not overlap then: at the roofline each has all of the device. Nothing where they were not timed one by one.
std::optional<double> seconds_at_roof(const Row&, const bench::Roof&);

/// Sentences about what a person has to know before the rows are believed: sizes at which backends cannot be told apart, and which
/// size would do; how many rows are not what was asked for.
std::vector<std::string> remarks_on(const Comparison&);

/// The shape of an update; Cholesky's on and below the diagonal as well.
bool is_update(const TaskTime&);

}  // namespace lasolve::compare
