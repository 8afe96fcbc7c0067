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

}  // namespace lasolve
