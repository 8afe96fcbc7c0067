#include "solvers/schedules.hpp"

namespace lasolve {

namespace {

#define LASOLVE_ENTRY(enumerator, name, lu, cholesky) ScheduleEntry{Schedule::enumerator, lu, cholesky},
constexpr std::array table{LASOLVE_SCHEDULES(LASOLVE_ENTRY)};
#undef LASOLVE_ENTRY

const ScheduleEntry* entry_of(Schedule schedule) {
  const auto entry = std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.schedule == schedule; });
  return entry == table.end() ? nullptr : &*entry;
}

}  // namespace

std::vector<Task> not_offered(const Walk&) {
  throw std::invalid_argument("lasolve: this method does not have this schedule");
}

std::span<const ScheduleEntry> schedules() { return table; }

ScheduleFunction schedule_of(Method method, Schedule schedule) {
  const ScheduleEntry* entry = entry_of(schedule);
  require(entry != nullptr && method != Method::automatic, "a plan needs a method and a schedule, not automatic ones");
  return method == Method::cholesky ? entry->cholesky : entry->lu;
}

bool is_offered(Method method, Schedule schedule) {
  const ScheduleEntry* entry = entry_of(schedule);
  return entry != nullptr && entry->offered_for(method);
}

}  // namespace lasolve
