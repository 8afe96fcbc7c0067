#include "solvers/lower.hpp"

#include <algorithm>
#include <limits>

#include "solvers/by_halves.hpp"
#include "solvers/kernel_limits.hpp"
#include "solvers/method.hpp"
#include "solvers/recipe.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

namespace {

constexpr std::int64_t any_number_of_rows = std::numeric_limits<std::int64_t>::max();

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
    task.timed = task.flops() > 0 && !begun;
    begun = begun || task.timed;
  }
}

/// The right-hand sides of a triangular solve with L, from the left or from the right.
bool is_from_the_left(const Task& solve) { return solve.C.rows() == solve.L.rows(); }
Range rhs_of(const Task& solve) { return is_from_the_left(solve) ? solve.C.columns() : solve.C.rows(); }

bool is_halved(const Task& task, const SolveLimits& limits) {
  return limits.order > 0 && task.type->products && task.L.n > limits.leaf_order(rhs_of(task).count());
}

/// Appends the solves and products of a triangular solve as trsm_left or trsm_right would make them.
void solve_by_halves(std::vector<Task>& to, const Task& task, const Capabilities& can) {
  const auto first = std::ptrdiff_t(to.size());
  const bool from_the_left = is_from_the_left(task);
  const Range rhs = rhs_of(task);
  const auto C = [&](Range unknowns) { return from_the_left ? Block(unknowns, rhs) : Block(rhs, unknowns); };
  const auto add = [&](const TaskType& type, Range r, const Block& L, const Block& U) {
    to.push_back(task);
    Task& part = to.back();
    part.type = &type, part.C = C(r), part.L = L, part.U = U;
  };
  solve_by_halves(
      task.L.rows(), can.solves.leaf_order(rhs.count()), true,
      [&](Range r) {
        add(*task.type, r, {r, r}, {});
      },
      [&](Range done, Range r) {
        const Block of_triangle(r, done), found = C(done);
        add(*task.type->products, r, from_the_left ? of_triangle : found, from_the_left ? found : of_triangle);
      });
  if (can.solves_in_one_phase) std::for_each(to.begin() + first + 1, to.end(), [](Task& part) { part.timed = false; });
}

std::vector<Task> with_products_of_solves(const Plan& plan, const Capabilities& can) {
  std::vector<Task> lowered;
  for (const Task& task : plan.tasks)
    if (is_halved(task, can.solves))
      solve_by_halves(lowered, task, can);
    else
      lowered.push_back(task);
  return lowered;
}

}  // namespace

Capabilities capabilities_of_cpu(const Tuning& tuning) { return {.solves = solve_limits(tuning)}; }

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
          .symmetric_update = tuning.symmetric_update,
          .cholesky_timed_from = tuning.cholesky_phases_from,
          .solves = {std::max(tuning.solve_few_rhs, tuning.solve_sync_free_rhs), most_in_registers_order},
          .solves_in_one_phase = true};
}

Capabilities capabilities_of(const DeviceProperties& device, const Tuning& tuning, Precision storage, std::int64_t n) {
  return capabilities_of(device, tuning, storage, n, interchanges_L_at_the_end(tuning, n, may_gather_rows(device, n)));
}

Capabilities common(const Capabilities& first, const Capabilities& other) {
  Capabilities can = first;
  for (const auto columns : {&Capabilities::panel, &Capabilities::tall_panel, &Capabilities::rows_of_panel,
                             &Capabilities::panel_in_place, &Capabilities::lookahead_update, &Capabilities::combined,
                             &Capabilities::far_columns, &Capabilities::cholesky_leaf})
    can.*columns = std::min(first.*columns, other.*columns);
  for (const auto does : {&Capabilities::two_steps, &Capabilities::rows_of_L_at_the_end})
    can.*does = first.*does && other.*does;
  can.cholesky.leaf_rows = std::min(first.cholesky.leaf_rows, other.cholesky.leaf_rows);
  can.solves.order = std::min(first.solves.order, other.solves.order);
  can.panel_partition.rows = std::min(first.panel_partition.rows, other.panel_partition.rows);
  if (first.panel_partition.multiprocessors != other.panel_partition.multiprocessors) can.panel_partition = {};
  return can;
}

PanelPartition panel_partition(DeviceProperties device, const Tuning& tuning, std::int64_t n, Pivoting pivoting) {
  const bool some_are_hidden = n > tuning.lu_panels_are_the_bottleneck;
  device.multiprocessors = int(tuning.lu_panel_multiprocessors);
  if (!some_are_hidden || device.multiprocessors == 0) return {};
  const std::int64_t rows = pivoting == Pivoting::tournament ? any_number_of_rows : most_rows_in_registers(device);
  return {device.multiprocessors, rows, tuning.lu_panels_are_the_bottleneck};
}

Capabilities for_recipe(Capabilities can, const Recipe& by) {
  if (by.pivoting == Pivoting::tournament) can.rows_of_panel = any_number_of_rows;
  can.one_symmetric_product = by.quick_products && by.executor == Executor::plan;
  return can;
}

Plan lower(Plan plan, const Capabilities& can) {
  const bool has_lanes = !plan.lanes.single(), in_one_phase = has_lanes && has_one_panel(plan);
  const MethodRecord& method = record_of(plan.method);
  if (has_lanes) plan.tasks = method.lowered(plan, can);
  const auto halved = [&](const Task& task) { return is_halved(task, can.solves); };
  if (std::any_of(plan.tasks.begin(), plan.tasks.end(), halved)) plan.tasks = with_products_of_solves(plan, can);
  if (in_one_phase) {
    go_in_one_lane(plan);
    mark_one_phase(plan);
  } else if (has_lanes) {
    method.mark_phases(plan, can);
  }
  return plan;
}

}  // namespace lasolve
