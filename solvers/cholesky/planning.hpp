// How Cholesky is planned: its schedules, of which each is a file of this folder, and what a device makes of them.
#pragma once

#include "solvers/plan.hpp"

namespace lasolve {

struct Capabilities;

std::vector<Task> cholesky_right_looking(const Blocking&);
std::vector<Task> cholesky_left_looking(const Blocking&);
std::vector<Task> cholesky_by_halves(const Blocking&);

std::vector<Task> lowered_cholesky(const Plan&, const Capabilities&);
void mark_phases_of_cholesky(Plan&, const Capabilities&);

}  // namespace lasolve
