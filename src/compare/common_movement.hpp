// What the rows of a size have in common, since they were measured in the same visits.
#pragma once

#include "compare/row.hpp"

namespace lasolve::compare {

/// So many rows, or more, tell what they have in common.
inline constexpr std::size_t least_for_common_movement = 3;

/// Whether a row has as many as a verdict takes.
bool has_visits(const Row&);

/// The seconds of a row's runs by the wall clock, or of processors.
using Times = std::vector<double> Row::*;

/// The median of each visit. Where a row has fewer visits than a verdict takes, as one of long runs may, its runs.
std::vector<double> independent_times(const Row&, Times = &Row::seconds);

/// How much longer each visit took than is usual: the median, over the rows, of the visit's time over the median of the row's visits.
/// Rows that have few visits do not count, nor does `except`. Visits that fewer than three rows have made come last, and are left out.
std::vector<double> common_movement(const std::vector<const Row*>&, const Row* except = nullptr);

/// The spread (σ of the logarithm) of these; 0 of fewer than six.
double spread_of_movement(const std::vector<double>& visits);

/// The independent times of a row without what `visits` have in common.
std::vector<double> times_beside(const Row&, const std::vector<double>& visits);

/// Adds the runs of another session, and its yardsticks, to the sizes and rows that both have: what sessions differ by is then a part
/// of what visits differ by. Of the visits before, all rows of a size keep as many as the one with the fewest. A row that has failed or
/// has no visits in one of them stays as it is.
void add_session(Comparison&, const Comparison& more);

}  // namespace lasolve::compare
