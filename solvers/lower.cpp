#include "solvers/lower.hpp"

#include <algorithm>

#include "solvers/kernel_limits.hpp"
#include "solvers/method.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

namespace {

/// Beside one panel there is nothing to do, and each step from queue to queue takes time.
bool has_one_panel(const Plan& plan) {
  return std::count_if(plan.tasks.begin(), plan.tasks.end(),
                       [](const Task& task) { return task.type->picture == TaskType::panel; }) == 1;
}
void go_in_one_lane(Plan& plan) {
  plan.lanes = Lanes::only(plan.lanes.bulk);
  for (Task& task : plan.tasks) task.lane = plan.lanes.bulk;
}

/// One after the other in one lane, all tasks are one phase.
void mark_one_phase(Plan& plan) {
  bool begun = false;
  for (Task& task : plan.tasks) {
    task.timed = task.flops > 0 && !begun;
    begun = begun || task.timed;
  }
}

}  // namespace

Capabilities capabilities_of(const DeviceProperties& device, const Tuning& tuning, Precision storage, std::int64_t n,
                             bool late) {
  return {.panel = widest_panel(device, storage),
          .tall_panel = tall_panel_columns,
          .rows_of_panel = most_rows_in_registers(device),
          .panel_in_place = widest_panel(device, storage),
          .lookahead_update = most_panel_columns,
          .combined = most_combined,
          .two_steps = true,
          .rows_of_L_at_the_end = late,
          .far_columns = lu_far_columns(tuning, storage, n, late),
          .timed_beyond = tuning.lu_panels_are_the_bottleneck,
          .cholesky_leaf = std::int64_t(cholesky_leaf_steps(device, storage)) * cholesky_step,
          .cholesky = cholesky_limits(tuning, storage, device.multiprocessors),
          .diagonal_update = tuning.cholesky_diagonal_update,
          .symmetric_updates = symmetric_updates(tuning),
          .cholesky_timed_from = tuning.cholesky_phases_from};
}

Capabilities capabilities_of(const DeviceProperties& device, const Tuning& tuning, Precision storage, std::int64_t n) {
  return capabilities_of(device, tuning, storage, n, interchanges_L_at_the_end(tuning, n, may_gather_rows(device, n)));
}

PanelsApart panels_apart(DeviceProperties device, const Tuning& tuning, std::int64_t n) {
  const bool some_are_hidden = n > tuning.lu_panels_are_the_bottleneck;
  device.multiprocessors = int(tuning.lu_panel_multiprocessors);
  if (!some_are_hidden || device.multiprocessors == 0) return {};
  return {device.multiprocessors, most_rows_in_registers(device), tuning.lu_panels_are_the_bottleneck};
}

Plan lower(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  if (plan.lanes.single()) return lowered;
  const MethodRecord& method = record_of(plan.method);
  lowered.tasks = method.lowered(plan, can);
  if (has_one_panel(plan)) {
    go_in_one_lane(lowered);
    mark_one_phase(lowered);
  } else {
    method.mark_phases(lowered, can);
  }
  return lowered;
}

}  // namespace lasolve
