// The last pass of lower(): which tasks begin a phase of the report.
#pragma once

#include "solvers/lower.hpp"

namespace lasolve {

/// Says for each task whether it begins a phase, and of what is ahead of the bulk which one. Each phase that begins is a timing event
/// between two kernels, which holds up short ones. So where panels are the bottleneck, all that is ahead of the bulk is one phase.
/// Passes before this one only say what is a part of another task, by `timed`.
void mark_phases(Plan&, const Capabilities&);

}  // namespace lasolve
