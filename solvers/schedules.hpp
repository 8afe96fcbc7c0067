// The schedules by name: the table of include/lasolve/schedule.hpp with what stands behind each line.
#pragma once

#include <span>
#include <string>

#include "solvers/plan.hpp"

namespace lasolve {

/// A pure function from sizes to tasks in program order.
using ScheduleFunction = std::vector<Task> (*)(const Walk&);

/// Stands in for a schedule that a method does not have. Throws std::invalid_argument.
std::vector<Task> not_offered(const Walk&);

#define LASOLVE_DECLARATION(enumerator, name, lu, cholesky) \
  std::vector<Task> lu(const Walk&);                        \
  std::vector<Task> cholesky(const Walk&);
LASOLVE_SCHEDULES(LASOLVE_DECLARATION)
#undef LASOLVE_DECLARATION

struct ScheduleEntry {
  Schedule schedule;
  ScheduleFunction lu, cholesky;

  bool offered_for(Method m) const { return (m == Method::cholesky ? cholesky : lu) != not_offered; }
};
std::span<const ScheduleEntry> schedules();

/// Throws std::invalid_argument for an automatic schedule or method, and where the method has no such schedule.
ScheduleFunction schedule_of(Method, Schedule);
bool is_offered(Method, Schedule);

}  // namespace lasolve
