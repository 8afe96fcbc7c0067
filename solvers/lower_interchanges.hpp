// How a plan of LU interchanges rows: when, with what, and in how many kernels. Passes of lower().
#pragma once

#include "solvers/plan.hpp"

namespace lasolve {

/// The interchanges of these rows become one permutation.
Task combination_of(Range rows, Lane lane);

/// Rows of L wait for the end, and then see all interchanges at once. Those of most panels do not wait so long: when the bulk has
/// no more to do, it interchanges them. Of right-looking LU, where nothing but later interchanges touches them.
std::vector<Task> with_rows_of_L_at_the_end(const Plan&);

/// Each interchange, combination and prepending becomes as many as there are kernels in it, of which one combines at most so many
/// interchanges.
std::vector<Task> with_interchanges_of_one_kernel(const Plan&, std::int64_t most_combined);

}  // namespace lasolve
