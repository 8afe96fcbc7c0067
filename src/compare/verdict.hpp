// What became of a row since a baseline.
#pragma once

#include "compare/row.hpp"

namespace lasolve::compare {

/// Compares the medians of the visits, since the runs of one visit are not independent. Where either row has fewer visits than a
/// verdict takes, as one of long runs may, its runs are compared. On the CPU it allows for what the yardstick shows, and where other programs kept u processors busy, for times that are up to
/// 1 + u times as long: as if each took one from the solve.
bench::Change verdict(const Row& before, const Size& then, const Row& after, const Size& now);

}  // namespace lasolve::compare
