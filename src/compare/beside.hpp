// Rows of a size beside one another, visit for visit: what the machine did to both is in neither.
#pragma once

#include "compare/common_movement.hpp"
#include "compare/row.hpp"

namespace lasolve::compare {

/// The time of a row over that of another, in each visit that both have made.
std::vector<double> ratios_of_visits(const Row&, const Row& to, Times = &Row::seconds);

/// How long a row takes beside another of its size, in the same session: shift 0 is as long. The visits are pairs. Where they are fewer
/// than a test takes, low and high are the least and the largest ratio of any two runs; of one run there is no interval. Both are timed.
bench::Change beside(const Row&, const Row& other);

/// What became of a row of the CPU since a baseline beside the others of its size, which stand for the machine: the median of what it
/// moved by beside each. Not all suffer alike from what a machine does, so that the interval is wider by a quarter of what the others
/// moved by. It is SLOWER or FASTER only where it has moved so beside more than two thirds of the others: else others may have. Beside
/// one alone, that has to have moved by less than a quarter of it. Of processor times, it is wider by a quarter of what the row has
/// moved by beside the others by the clock, if that is more. Where baseline solvers are among the others, they alone stand for the machine.
/// Nothing where there is no other with such times, or visits are few.
std::optional<bench::Change> change_beside_others(const Comparison& before, const Comparison& after, const Row& was,
                                                  const Row& is, Times = &Row::seconds);

/// The same change, where no baseline solver stands for the machine: the solver, which all rows share, may have slowed all of them. So a
/// slowdown of as much as the row has moved by in all, at the least, is not seen.
bench::Change with_what_all_share(bench::Change);

/// The same change, of which it is not known whether it is one: UNKNOWN.
bench::Change left_open(bench::Change);

}  // namespace lasolve::compare
