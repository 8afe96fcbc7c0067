// What a device makes of a plan of LU.
#include "solvers/lower.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// Whether an elimination begins with task i: an interchange, a solve and an update, as LuSteps::eliminate appends them.
bool begins_elimination(const Tasks& tasks, std::size_t i) {
  return tasks[i].role == Role::elimination && tasks[i].is(lu_task::interchange);
}

/// The number of its tasks: where no rows are below the panel, there is no update.
std::size_t length_of_elimination(const Tasks& tasks, std::size_t i) {
  const bool has_update =
      i + 2 < tasks.size() && tasks[i + 2].role == Role::elimination && tasks[i + 2].is(lu_task::update);
  return has_update ? 3 : 2;
}

/// The elimination that begins with task i, of some of its columns only and in another lane.
void eliminate(Tasks& to, const Tasks& tasks, std::size_t i, Range columns, Lane lane) {
  if (columns.empty()) return;
  for (std::size_t k = i; k < i + length_of_elimination(tasks, i); ++k) {
    Task task = tasks[k];
    task.C = {task.C.rows(), columns};
    if (task.is(lu_task::update)) task.U = {task.U.rows(), columns};
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
  interchange.C = {rows, columns};
  interchange.interchanges = {Resource::pivots, both};
  solve.C = {both, columns};
  solve.L = {both, both};
  to.push_back(interchange);
  to.push_back(solve);
  if (both.end == rows.end) return;
  Task update = tasks[second + 2];
  update.L = {{both.end, rows.end}, both};
  update.U = {both, columns};
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
    if (tasks[i].is(lu_task::panel) && tasks[i].C.n <= std::min(can.panel_in_place, widest_panel(can, tasks[i].C))) {
      const auto next = next_in_lane(tasks, i);
      if (!next || !begins_elimination(tasks, *next) || tasks[*next].interchanges != tasks[i].interchanges ||
          tasks[*next].C.n > can.lookahead_update)
        continue;
      lowered.back().type = &lu_task::panel_in_place;
      is_one_kernel[*next] = true;
    } else if (is_one_kernel[i]) {
      interchange_now();
      const Block L{tasks[i].C.rows(), tasks[i].interchanges.rows()};
      Task& update = lowered.back();
      interchange = update;
      interchange->lane = plan.lanes.near;
      interchange->C = L;
      interchange->timed = false;  // a part of what the panel takes
      interchange->role = Role::none;
      update.type = &lu_task::lookahead_update;
      update.L = L;
      i += length_of_elimination(tasks, i) - 1;
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
    to.back().in_panel = true;
    to.back().timed = std::exchange(timed, false);
  }
}

/// Panels of more columns than one kernel takes go by halves. Where the plan combines the interchanges of such a panel, the combination
/// moves to the lane of the panel, because tasks there want it next. It stands before the first task that makes all interchanges of the
/// panel, and so behind the combinations of the panels before.
Tasks with_narrow_panels(const Plan& plan, const Capabilities& can) {
  const auto combines = [](Range rows) {
    return [=](const Task& task) { return task.is(lu_task::combine) && task.C.rows() == rows; };
  };
  Tasks lowered, to_come;       // combinations of wide panels
  std::vector<Range> combined;  // wide panels whose combinations have come
  for (const Task& task : plan.tasks) {
    const Range rows = task.interchanges.rows();
    const std::int64_t widest = widest_panel(can, task.C);
    if (task.is(lu_task::panel) && task.C.n > widest) {
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
    if (!task.is(lu_task::combine) || !is_done) lowered.push_back(task);
  }
  return lowered;
}

std::int64_t end_of_first_panel(const Plan& plan) {
  const auto first = std::find_if(plan.tasks.begin(), plan.tasks.end(),
                                  [](const Task& task) { return task.type->picture == TaskType::panel; });
  return first == plan.tasks.end() ? plan.n : first->C.columns().end;
}

/// Panels have multiprocessors of their own, and the bulk beside them has the others: then neither waits for blocks of the other to end.
/// Nothing runs beside the first panel, which has all. Towards the end, where panels are the bottleneck, so have those that follow.
Tasks with_panel_partition(const Plan& plan, std::int64_t end_of_first, const PanelPartition& panels) {
  Tasks lowered = plan.tasks;
  bool are_partitioned = false;
  for (Task& task : lowered) {
    if (task.lane == plan.lanes.chain && task.type->picture == TaskType::panel) {
      are_partitioned = task.C.j >= end_of_first && task.C.m <= panels.rows && plan.n - task.C.j > panels.beyond;
      if (are_partitioned) task.lane.multiprocessors = panels.multiprocessors;
    } else if (task.lane == plan.lanes.bulk && are_partitioned) {
      task.lane.multiprocessors = -panels.multiprocessors;
    }
  }
  return lowered;
}

/// Whether the chain begins to eliminate with a step: by an interchange, which may be one of several kernels, or by a kernel for all of
/// it. Within a panel that goes by halves it does not: that is a part of the panel.
bool begins_step(const Task& task) {
  const bool interchanges = task.is(lu_task::interchange) && task.role == Role::elimination;
  return task.timed && (interchanges || task.is(lu_task::lookahead_update));
}

/// Ahead of the bulk each step of the chain is a phase while more than `beyond` columns are left, and all that
/// follows is one.
void mark_steps(Plan& plan, std::int64_t beyond) {
  bool begun = false;
  const Task* last = nullptr;  // of the chain
  for (Task& task : plan.tasks) {
    if (task.lane.rank <= plan.lanes.bulk.rank) continue;
    if (task.lane.multiprocessors > 0) {  // of the phase that the chain is in
      task.timed = false;
      continue;
    }
    bool begins = !begun;
    if (task.lane == plan.lanes.chain) {
      const bool is_next_kernel = last && last->is(lu_task::interchange) && task.is(lu_task::interchange) &&
                                  last->C.columns() == task.C.columns();
      const bool is_early = is_next_kernel ? last->timed : plan.n - task.interchanges.i > beyond;
      begins = begins || (begins_step(task) && is_early);
      last = &task;
    }
    task.timed = begins;
    if (!task.is(lu_task::combine)) task.in_panel = true;
    begun = true;
  }
}

/// Whether something is done ahead of the bulk but the chain: then the plan looks ahead.
bool looks_ahead(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                     [&](const Task& task) { return task.lane == plan.lanes.near || task.lane == plan.lanes.soon; });
}

}  // namespace

std::vector<Task> lowered_lu(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  if (can.rows_of_L_at_the_end && can.combined > 0 && rows_of_L_can_wait(plan))
    lowered.tasks = with_rows_of_L_at_the_end(lowered);
  if (can.two_steps) lowered.tasks = in_two_steps(lowered);
  if (can.far_columns > 0) lowered.tasks = with_far_lane(lowered, can.far_columns);
  if (can.lookahead_update > 0) lowered.tasks = with_lookahead_updates(lowered, can);
  if (can.panel > 0) lowered.tasks = with_narrow_panels(lowered, can);
  if (can.combined > 0) lowered.tasks = with_interchanges_of_one_kernel(lowered, can.combined);
  if (can.panel_partition.multiprocessors > 0 && looks_ahead(plan))
    lowered.tasks = with_panel_partition(lowered, end_of_first_panel(plan), can.panel_partition);
  return lowered.tasks;
}

void mark_phases_of_lu(Plan& plan, const Capabilities& can) {
  if (looks_ahead(plan) && can.timed_beyond >= 0) mark_steps(plan, can.timed_beyond);
}

}  // namespace lasolve
