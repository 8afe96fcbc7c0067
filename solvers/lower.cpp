#include "solvers/lower.hpp"

#include <map>

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

constexpr Lane far_lane{-1, 0};

/// exchange, solve and update of the same columns with the same panel, which LuSteps::eliminate says: where it begins.
bool is_elimination(const Tasks& tasks, std::size_t i) {
  if (i + 1 >= tasks.size() || tasks[i].kind != TaskKind::exchange || tasks[i + 1].kind != TaskKind::solve)
    return false;
  return tasks[i].lane == tasks[i + 1].lane && tasks[i].C.columns() == tasks[i + 1].C.columns() &&
         tasks[i].exchanges.rows() == tasks[i + 1].L.rows();
}

/// The number of its tasks: at the last rows there is no update.
std::size_t length_of_elimination(const Tasks& tasks, std::size_t i) {
  const bool update = i + 2 < tasks.size() && tasks[i + 2].kind == TaskKind::update &&
                      tasks[i + 2].lane == tasks[i].lane && tasks[i + 2].U == tasks[i + 1].C;
  return update ? 3 : 2;
}

/// The same with other columns, in another lane.
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

/// Two eliminations of the same columns, with steps one behind the other, as one.
void eliminate_two_steps(Tasks& to, const Tasks& tasks, std::size_t first, std::size_t second) {
  Task exchange = tasks[second], solve = tasks[second + 1];
  const Range both{tasks[first].exchanges.i, exchange.exchanges.i + exchange.exchanges.m},
      columns = exchange.C.columns();
  const Range rows{both.begin, exchange.C.i + exchange.C.m};
  double flops = 0;
  for (const std::size_t from : {first, second})
    for (std::size_t k = from; k < from + length_of_elimination(tasks, from); ++k) flops += tasks[k].flops;
  exchange.C = {rows, columns};
  exchange.exchanges = {Resource::pivots, both};
  solve.C = {both, columns};
  solve.L = {both, both};
  solve.flops = double(both.count()) * double(both.count()) * double(columns.count());
  to.push_back(exchange);
  to.push_back(solve);
  if (both.end == rows.end) return;
  Task update = tasks[second + 2];
  update.L = {{both.end, rows.end}, both};
  update.U = {both, columns};
  update.flops = flops - solve.flops;
  to.push_back(update);
}

/// Whether the elimination at `first` can be put off until that at `second`, so that both are one: nothing between them touches
/// what it does, but for the exchange that brings the rows of L of the first to where the second has them.
bool are_one(const Tasks& tasks, std::size_t first, std::size_t second) {
  const Range step = tasks[first].exchanges.rows(), next = tasks[second].exchanges.rows();
  if (step.end != next.begin || tasks[first].C.columns() != tasks[second].C.columns()) return false;
  bool rows_of_L = false;
  const std::size_t length = length_of_elimination(tasks, first);
  for (std::size_t k = first + length; k < second; ++k) {
    const bool exchanges_L = tasks[k].kind == TaskKind::exchange && tasks[k].lane == tasks[second].lane &&
                             tasks[k].exchanges.rows() == next && tasks[k].C.j <= step.begin &&
                             tasks[k].C.j + tasks[k].C.n >= step.end;
    rows_of_L = rows_of_L || exchanges_L;
    for (std::size_t e = first; e < first + length && !exchanges_L; ++e)
      if (conflict(tasks[e], tasks[k])) return false;
  }
  return rows_of_L;
}

/// Of what is soon, two steps of one panel become one elimination where they are of the same columns.
Tasks in_two_steps(const Plan& plan) {
  const Tasks& tasks = plan.tasks;
  std::map<std::size_t, std::size_t> pairs;  // where the second begins, and the first
  std::vector<bool> goes(tasks.size());
  std::size_t waiting = tasks.size();  // where one begins that may become a first; the size: none
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].lane != plan.lanes.soon || !is_elimination(tasks, i)) continue;
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

/// What is in the bulk goes to the far lane in the last columns, as long as other columns are there before them.
Tasks with_far_lane(const Plan& plan, std::int64_t columns) {
  const std::int64_t begin = plan.n - columns;
  Tasks lowered;
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Range C = plan.tasks[i].C.columns();
    if (plan.tasks[i].lane == plan.lanes.bulk && is_elimination(plan.tasks, i) && C.begin < begin && C.end == plan.n) {
      eliminate(lowered, plan.tasks, i, {C.begin, begin}, plan.lanes.bulk);
      eliminate(lowered, plan.tasks, i, {begin, C.end}, far_lane);
      i += length_of_elimination(plan.tasks, i) - 1;
    } else {
      lowered.push_back(plan.tasks[i]);
    }
  }
  return lowered;
}

/// Rows of L that nothing but later exchanges touches wait for the end, and then see all exchanges at once.
Tasks with_rows_of_L_at_the_end(const Plan& plan) {
  const auto is_of_L = [&](const Task& task) {
    return task.kind == TaskKind::exchange && task.lane == plan.lanes.bulk && task.C.j + task.C.n <= task.exchanges.i;
  };
  Tasks lowered, at_the_end;
  std::vector<Range> exchanged;  // the columns of panels, each with what is behind it
  for (std::size_t i = 0; i < plan.tasks.size(); ++i) {
    const Task& task = plan.tasks[i];
    const bool waits =
        is_of_L(task) && std::all_of(plan.tasks.begin() + std::ptrdiff_t(i), plan.tasks.end(), [&](const Task& later) {
          return !conflict(task, later) || later.kind == TaskKind::exchange;
        });
    if (is_of_L(task) && !waits) return plan.tasks;  // L is read again: not right-looking
    if (!waits) {
      lowered.push_back(task);
      continue;
    }
    // Panels to the left of this one: the last of them sees its first exchange now.
    const Range last{exchanged.empty() ? 0 : exchanged.back().end, task.exchanges.i};
    exchanged.push_back(last);
    Task end = task;
    end.C = {{last.end, plan.n}, last};
    end.exchanges = {Resource::pivots, {last.end, plan.n}};
    at_the_end.push_back(end);
  }
  lowered.insert(lowered.end(), at_the_end.begin(), at_the_end.end());
  return lowered;
}

/// A narrow panel leaves its rows where they were found, where the next task is to bring few columns up to date with it.
Tasks with_advance(const Plan& plan, const Capabilities& can) {
  const Tasks& tasks = plan.tasks;
  Tasks lowered;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const Task& panel = tasks[i];
    const bool fits = panel.kind == TaskKind::panel && panel.C.n <= can.panel_in_place &&
                      is_elimination(tasks, i + 1) && tasks[i + 1].lane == panel.lane &&
                      tasks[i + 1].exchanges == panel.exchanges && tasks[i + 1].C.n <= can.advance;
    lowered.push_back(panel);
    if (!fits) continue;
    const std::size_t length = length_of_elimination(tasks, i + 1);
    lowered.back().kind = TaskKind::panel_in_place;
    Task advance = tasks[i + 1], exchange = tasks[i + 1];
    advance.kind = TaskKind::advance;
    advance.phase = panel.phase;
    advance.L = panel.C;
    for (std::size_t k = i + 1; k <= i + length; ++k) advance.flops += tasks[k].flops;
    exchange.lane = plan.lanes.near;
    exchange.C = panel.C;
    lowered.push_back(advance);
    lowered.push_back(exchange);
    i += length;
  }
  return lowered;
}

/// The interchanges of panels that are factored in several steps, which somebody makes together: in program order, none twice.
std::vector<Range> to_be_combined(const Plan& plan, std::int64_t most) {
  std::vector<Range> ranges;
  for (const Task& task : plan.tasks) {
    const Range steps = task.exchanges.rows();
    if (task.kind != TaskKind::exchange || steps.count() > most) continue;
    const bool one_step = std::any_of(plan.tasks.begin(), plan.tasks.end(), [&](const Task& other) {
      return other.kind == TaskKind::panel && other.exchanges.rows() == steps;
    });
    if (!one_step && (ranges.empty() || ranges.back().end <= steps.begin)) ranges.push_back(steps);
  }
  return ranges;
}

/// They are combined before the first exchange that needs all of them.
Tasks with_combined_exchanges(const Plan& plan, const std::vector<Range>& ranges) {
  Tasks lowered;
  std::vector<bool> combined(ranges.size());
  for (const Task& task : plan.tasks) {
    const auto range = std::find(ranges.begin(), ranges.end(), task.exchanges.rows());
    if (task.kind != TaskKind::exchange || range == ranges.end()) {
      lowered.push_back(task);
      continue;
    }
    if (auto done = combined[std::size_t(range - ranges.begin())]; !done) {
      done = true;
      lowered.push_back({.kind = TaskKind::combine,
                         .lane = task.lane,
                         .phase = Phase::swap,
                         .C = {Resource::permutations, *range},
                         .exchanges = task.exchanges});
    }
    lowered.push_back(task);
    lowered.back().exchanges.of = Resource::permutations;
  }
  return lowered;
}

}  // namespace

Capabilities capabilities_of(const DeviceProperties& device, Precision precision, std::int64_t n) {
  constexpr std::int64_t one_kernel = 128, rows_of_a_block = 16384;
  Capabilities can{.panel_in_place = one_kernel, .advance = one_kernel, .combined = 1024, .two_steps = true};
  const std::int64_t blocks = (n + rows_of_a_block - 1) / rows_of_a_block;
  can.rows_of_L_at_the_end =
      n > 4096 && device.largest_cluster > 1 && device.has_clusters_of(int(std::min<std::int64_t>(blocks, 1 << 20)));
  can.far_columns = can.rows_of_L_at_the_end && precision == Precision::fp64 && n > 7168 ? 2048 : 0;
  return can;
}

Plan lower(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  if (plan.method != Method::lu || plan.lanes.single()) return lowered;
  const std::vector<Range> ranges = to_be_combined(plan, std::min(can.combined, plan.block_size));
  if (can.rows_of_L_at_the_end) lowered.tasks = with_rows_of_L_at_the_end(lowered);
  if (can.two_steps) lowered.tasks = in_two_steps(lowered);
  if (can.far_columns > 0) lowered.tasks = with_far_lane(lowered, can.far_columns);
  if (can.advance > 0) lowered.tasks = with_advance(lowered, can);
  if (can.combined > 0) lowered.tasks = with_combined_exchanges(lowered, ranges);
  return lowered;
}

}  // namespace lasolve
