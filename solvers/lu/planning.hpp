// How LU is planned: its schedules, of which each is a file of this folder, and what a device makes of them.
#pragma once

#include "solvers/plan.hpp"

namespace lasolve {

struct Capabilities;

std::vector<Task> lu_right_looking(const Blocking&);
std::vector<Task> lu_left_looking(const Blocking&);
std::vector<Task> lu_by_halves(const Blocking&);
std::vector<Task> lu_crout(const Blocking&);

std::vector<Task> lowered_lu(const Plan&, const Capabilities&);
void mark_phases_of_lu(Plan&, const Capabilities&);

// How rows are interchanged: when, with what, and in how many kernels. Passes of lower().

/// The task that makes the interchanges of these rows one permutation.
Task combination_of(Range rows, Lane lane);

/// Whether rows of L to the left of panels are only interchanged once they are there, so that it does not matter when.
bool rows_of_L_can_wait(const Plan&);

/// Of such a plan: rows of L to the left of a panel are not interchanged with each panel, but twice in all, with all interchanges
/// until then: when the bulk has no more updates, and at the end. In between no other task touches them.
std::vector<Task> with_rows_of_L_at_the_end(const Plan&);

/// An interchange, combine or prepend of more interchanges than one kernel makes becomes several tasks, one for each kernel: those of
/// a panel, or those that were combined at one time, at most so many.
std::vector<Task> with_interchanges_of_one_kernel(const Plan&, std::int64_t most_combined);

}  // namespace lasolve
