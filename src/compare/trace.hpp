// The tasks of solves on a line of time.
#pragma once

#include <string>

#include "compare/row.hpp"

namespace lasolve::compare {

/// For chrome://tracing and https://ui.perfetto.dev: the median run of each row is a process. Its lanes are threads, or its phases
/// where it has one lane. Tasks carry their block, flops, rate, and m, n and k if they are updates.
/// Format: Google, "Trace Event Format".
std::string as_trace(const Comparison&);

}  // namespace lasolve::compare
