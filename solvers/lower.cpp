#include "solvers/lower.hpp"

#include <map>
#include <optional>
#include <utility>

#include "solvers/kernel_limits.hpp"
#include "solvers/lower_cholesky.hpp"
#include "solvers/lower_interchanges.hpp"
#include "solvers/lower_phases.hpp"
#include "solvers/lu/steps.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// Whether an elimination begins with task i: an interchange, a solve and an update, as LuSteps::eliminate appends them.
bool begins_elimination(const Tasks& tasks, std::size_t i) {
  return tasks[i].role == Role::elimination && tasks[i].kind == TaskKind::interchange;
}

/// The number of its tasks: where no rows are below the panel, there is no update.
std::size_t length_of_elimination(const Tasks& tasks, std::size_t i) {
  const bool has_update =
      i + 2 < tasks.size() && tasks[i + 2].role == Role::elimination && tasks[i + 2].kind == TaskKind::update;
  return has_update ? 3 : 2;
}

/// The elimination that begins with task i, of some of its columns only and in another lane.
void eliminate(Tasks& to, const Tasks& tasks, std::size_t i, Range columns, Lane lane) {
  if (columns.empty()) return;
  for (std::size_t k = i; k < i + length_of_elimination(tasks, i); ++k) {
    Task task = tasks[k];
    task.flops *= double(columns.count()) / double(task.C.n);
    task.C = {task.C.rows(), columns};
    if (task.kind == TaskKind::update) task.U = {task.U.rows(), columns};
    task.lane = lane;
    to.push_back(task);
  }
}

/// Two eliminations of the same columns, with neighbouring steps of a panel, as one.
void eliminate_two_steps(Tasks& to, const Tasks& tasks, std::size_t first, std::size_t second) {
  Task interchange = tasks[second], solve = tasks[second + 1];
  const Range both{tasks[first].interchanges.i, interchange.interchanges.i + interchange.interchanges.m},
      columns = interchange.C.columns();
  const Range rows{both.begin, interchange.C.i + interchange.C.m};
  double flops = 0;
  for (const std::size_t from : {first, second})
    for (std::size_t k = from; k < from + length_of_elimination(tasks, from); ++k) flops += tasks[k].flops;
  interchange.C = {rows, columns};
  interchange.interchanges = {Resource::pivots, both};
  solve.C = {both, columns};
  solve.L = {both, both};
  solve.flops = double(both.count()) * double(both.count()) * double(columns.count());
  to.push_back(interchange);
  to.push_back(solve);
  if (both.end == rows.end) return;
  Task update = tasks[second + 2];
  update.L = {{both.end, rows.end}, both};
  update.U = {both, columns};
  update.flops = flops - solve.flops;
  to.push_back(update);
}

/// Whether the elimination that begins with task `first` can wait for that which begins with `second`, so that both are one: no task
/// between them is in conflict with it. One of them interchanges the rows of L of the first step as the second step wants them. That
/// one is no obstacle, because the joined update reads L after it.
bool are_one(const Tasks& tasks, std::size_t first, std::size_t second) {
  const Range step = tasks[first].interchanges.rows(), next = tasks[second].interchanges.rows();
  if (step.end != next.begin || tasks[first].C.columns() != tasks[second].C.columns()) return false;
  bool rows_of_L = false;
  const std::size_t length = length_of_elimination(tasks, first);
  for (std::size_t k = first + length; k < second; ++k) {
    const bool interchanges_L = tasks[k].role == Role::L_in_panel && tasks[k].lane == tasks[second].lane &&
                                tasks[k].interchanges.rows() == next;
    rows_of_L = rows_of_L || interchanges_L;
    for (std::size_t e = first; e < first + length && !interchanges_L; ++e)
      if (conflict(tasks[e], tasks[k])) return false;
  }
  return rows_of_L;
}

/// In the lane `soon`, the eliminations of the same columns with two steps of a panel become one.
Tasks in_two_steps(const Plan& plan) {
  const Tasks& tasks = plan.tasks;
  std::map<std::size_t, std::size_t> pairs;  // where the second begins: where the first does
  std::vector<bool> goes(tasks.size());      // tasks of a first
  std::size_t waiting = tasks.size();        // where one begins that may become a first; the size: none
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].lane != plan.lanes.soon || !begins_elimination(tasks, i)) continue;
    if (waiting < i && are_one(tasks, waiting, i)) {
      std::fill_n(goes.begin() + std::ptrdiff_t(waiting), length_of_elimination(tasks, waiting), true);
      pairs.emplace(i, waiting);
      waiting = tasks.size();
    } else {
      waiting = i;
    }
  }
  Tasks lowered;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (goes[i]) continue;
    if (const auto pair = pairs.find(i); pair != pairs.end()) {
      eliminate_two_steps(lowered, tasks, pair->second, i);
      i += length_of_elimination(tasks, i) - 1;
    } else {
      lowered.push_back(tasks[i]);
    }
  }
  return lowered;
}

/// Where the bulk eliminates in all columns up to the last, the last `columns` of them are for the lane far: they are wanted after
/// all others. Once no others are left to the bulk, it has them itself.
Tasks with_far_lane(const Plan& plan, std::int64_t columns) {
  const std::int64_t begin = plan.n - columns;
  Tasks lowered;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Range C = plan.tasks[i].C.columns();
    const bool splits = plan.tasks[i].lane == plan.lanes.bulk && C.begin <= begin && C.end == plan.n &&
                        begins_elimination(plan.tasks, i) && length_of_elimination(plan.tasks, i) == 3;
    if (splits) {
      eliminate(lowered, plan.tasks, i, {C.begin, begin}, plan.lanes.bulk);
      eliminate(lowered, plan.tasks, i, {begin, C.end}, plan.lanes.far);
      i += 2;
    } else {
      lowered.push_back(plan.tasks[i]);
    }
  }
  return lowered;
}

/// How many columns of a panel one kernel takes: fewer where it has more rows than registers hold.
std::int64_t widest_panel(const Capabilities& can, const Block& panel) {
  if (can.panel == 0) return panel.n;
  return panel.m > can.rows_of_panel ? can.tall_panel : can.panel;
}

/// The next task of the lane of task i, if no task between them is in conflict with task i.
std::optional<std::size_t> next_in_lane(const Tasks& tasks, std::size_t i) {
  for (std::size_t k = i + 1; k < tasks.size(); ++k) {
    if (tasks[k].lane == tasks[i].lane) return k;
    if (conflict(tasks[i], tasks[k])) return std::nullopt;
  }
  return std::nullopt;
}

/// A narrow panel whose next task in the chain brings few columns up to date becomes one that leaves its rows where they were found,
/// and that elimination becomes one kernel. The rows of the panel are interchanged in the lane near, beside the next step.
Tasks with_lookahead_updates(const Plan& plan, const Capabilities& can) {
  const Tasks& tasks = plan.tasks;
  Tasks lowered;
  std::vector<bool> is_one_kernel(tasks.size());  // an elimination, where it begins
  std::optional<Task> interchange;                // of the rows of the last panel
  const auto interchange_now = [&] {
    if (interchange) lowered.push_back(*interchange);
    interchange.reset();
  };
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].lane != plan.lanes.chain) interchange_now();
    lowered.push_back(tasks[i]);
    if (tasks[i].kind == TaskKind::panel &&
        tasks[i].C.n <= std::min(can.panel_in_place, widest_panel(can, tasks[i].C))) {
      const auto next = next_in_lane(tasks, i);
      if (!next || !begins_elimination(tasks, *next) || tasks[*next].interchanges != tasks[i].interchanges ||
          tasks[*next].C.n > can.lookahead_update)
        continue;
      lowered.back().kind = TaskKind::panel_in_place;
      is_one_kernel[*next] = true;
    } else if (is_one_kernel[i]) {
      interchange_now();
      const std::size_t length = length_of_elimination(tasks, i);
      const Block L{tasks[i].C.rows(), tasks[i].interchanges.rows()};
      Task& update = lowered.back();
      interchange = update;
      interchange->lane = plan.lanes.near;
      interchange->C = L;
      interchange->timed = false;  // a part of what the panel takes
      interchange->role = Role::none;
      update.kind = TaskKind::lookahead_update;
      update.phase = Phase::panel;
      update.L = L;
      for (std::size_t k = i + 1; k < i + length; ++k) update.flops += tasks[k].flops;
      i += length - 1;
    }
  }
  interchange_now();
  return lowered;
}

/// A panel as narrower ones, with the interchanges, solves and updates between them. All of it is one phase, which the first begins.
void go_by_halves(Tasks& to, const Task& panel, std::int64_t widest) {
  LuSteps steps({.n = panel.C.i + panel.C.m});
  factor_by_halves(steps, Lanes::only(panel.lane), panel.C.columns(), widest);
  bool timed = panel.timed;
  for (Task& step : std::move(steps).tasks()) {
    to.push_back(step);
    to.back().phase = panel.phase;
    to.back().timed = std::exchange(timed, false);
  }
}

/// Panels of more columns than one kernel takes go by halves. Where the plan combines the interchanges of such a panel, the combination
/// moves to the lane of the panel, because tasks there want it next. It stands before the first task that makes all interchanges of the
/// panel, and so behind the combinations of the panels before.
Tasks with_narrow_panels(const Plan& plan, const Capabilities& can) {
  const auto combines = [](Range rows) {
    return [=](const Task& task) { return task.kind == TaskKind::combine && task.C.rows() == rows; };
  };
  Tasks lowered, to_come;       // combinations of wide panels
  std::vector<Range> combined;  // wide panels whose combinations have come
  for (const Task& task : plan.tasks) {
    const Range rows = task.interchanges.rows();
    const std::int64_t widest = widest_panel(can, task.C);
    if (task.kind == TaskKind::panel && task.C.n > widest) {
      go_by_halves(lowered, task, widest);
      if (std::none_of(plan.tasks.begin(), plan.tasks.end(), combines(rows))) continue;
      to_come.push_back(combination_of(rows, task.lane));
      to_come.back().timed = false;
      continue;
    }
    if (const auto now = std::find_if(to_come.begin(), to_come.end(), combines(rows)); now != to_come.end()) {
      lowered.push_back(*now);
      combined.push_back(rows);
      to_come.erase(now);
    }
    const bool is_done = std::find(combined.begin(), combined.end(), rows) != combined.end();
    if (task.kind != TaskKind::combine || !is_done) lowered.push_back(task);
  }
  return lowered;
}

/// The passes that are about LU, in their order.
Tasks lowered_lu(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  const bool right_looking = plan.schedule == Schedule::right_looking;
  if (can.rows_of_L_at_the_end && can.combined > 0 && right_looking) lowered.tasks = with_rows_of_L_at_the_end(lowered);
  if (can.two_steps) lowered.tasks = in_two_steps(lowered);
  if (can.far_columns > 0) lowered.tasks = with_far_lane(lowered, can.far_columns);
  if (can.lookahead_update > 0) lowered.tasks = with_lookahead_updates(lowered, can);
  if (can.panel > 0) lowered.tasks = with_narrow_panels(lowered, can);
  if (can.combined > 0) lowered.tasks = with_interchanges_of_one_kernel(lowered, can.combined);
  return lowered.tasks;
}

/// Beside one panel there is nothing to do, and each step from queue to queue takes time.
bool has_one_panel(const Plan& plan) {
  return std::count_if(plan.tasks.begin(), plan.tasks.end(),
                       [](const Task& task) { return task.kind == TaskKind::panel; }) == 1;
}
void go_in_one_lane(Plan& plan) {
  plan.lanes = Lanes::only(plan.lanes.bulk);
  for (Task& task : plan.tasks) task.lane = plan.lanes.bulk;
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

Plan lower(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  if (plan.lanes.single()) return lowered;
  lowered.tasks = plan.method == Method::lu ? lowered_lu(plan, can) : lowered_cholesky(plan, can);
  if (has_one_panel(plan)) go_in_one_lane(lowered);
  mark_phases(lowered, can);
  return lowered;
}

}  // namespace lasolve
