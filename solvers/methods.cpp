#include "solvers/methods.hpp"

#include <algorithm>

namespace lasolve {

const MethodRecord& record_of(Method method) {
  return with_method(method, [](auto M) -> const MethodRecord& { return M.record; });
}

namespace {

const MethodSchedule* entry_of(Method method, Schedule schedule) {
  const auto all = record_of(method).schedules;
  const auto entry = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.schedule == schedule; });
  return entry == all.end() ? nullptr : &*entry;
}

}  // namespace

ScheduleFunction schedule_of(Method method, Schedule schedule) {
  const MethodSchedule* const entry = entry_of(method, schedule);
  require(entry != nullptr, "this method does not have this schedule");
  return entry->tasks;
}

bool is_offered(Method method, Schedule schedule) { return entry_of(method, schedule) != nullptr; }

}  // namespace lasolve
