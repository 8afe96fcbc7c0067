// What a device makes of a plan of Cholesky.
#include "solvers/lower.hpp"

#include <algorithm>
#include <set>

#include "solvers/cholesky/halves.hpp"
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/tasks.hpp"
#include "solvers/flops.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// C ← C − L Uᵀ within a panel: C are these rows and columns of A, on and below the diagonal or all below it, L and U columns k.
Task narrow_update(Lane lane, Range rows, Range columns, Range k) {
  const double m = double(rows.count()), n = double(columns.count()), c = double(k.count());
  return {.type = &cholesky_task::narrow_update,
          .lane = lane,
          .phase = Phase::panel,
          .flops = rows.begin == columns.begin ? lower_update_flops(m, n, c) : 2 * m * n * c,
          .C = {rows, columns},
          .L = {rows, k},
          .U = {columns, k}};
}

/// Of tasks that take turns, those with an odd number are in the next lane of the same rank. One task then begins while the last
/// thread blocks of the one before run.
Lane in_turn(Lane lane, std::int64_t turn) { return {lane.rank, lane.line + int(turn % 2)}; }

/// Updates of the bulk in two lanes in turns. Where panels are the bottleneck, each comes after the update of the panel beside it, which
/// it would hold up.
Tasks with_updates_in_turns(const Plan& plan, const CholeskyLimits& limits) {
  Tasks lowered = plan.tasks;
  std::int64_t turn = 0;
  Block device;  // of the panel at hand
  for (Task& task : lowered) {
    const bool is_bulk = task.lane == plan.lanes.bulk;
    if (is_bulk) task.lane = in_turn(task.lane, turn);
    if (task.is(cholesky_task::update) && !is_bulk) {
      const bool goes_first = !limits.products_bind(task.C.j, plan.n);
      task.device = device = goes_first ? Block(Resource::device, {task.C.j, task.C.j + 1}) : Block();
    } else if (task.is(cholesky_task::update)) {
      task.device = device;
    }
    if (task.is(cholesky_task::panel)) ++turn;
  }
  return lowered;
}

/// Symmetric updates by block columns, each one product from its diagonal down, in two lanes in turns.
Tasks with_block_columns(const Plan& plan, const SymmetricUpdates& updates) {
  Tasks lowered;
  for (const Task& task : plan.tasks) {
    const std::int64_t n = task.C.n, width = updates.columns_of(n);
    if (!task.is(cholesky_task::update_lower) || width >= n) {
      lowered.push_back(task);
      continue;
    }
    for (std::int64_t j = 0; j < n; j += width) {
      const Range rows{task.C.i + j, task.C.rows().end}, columns{task.C.j + j, task.C.j + std::min(n, j + width)};
      lowered.push_back(task);
      lowered.back().lane = in_turn(task.lane, j / width);
      lowered.back().flops = lower_update_flops(double(rows.count()), double(columns.count()), double(task.L.n));
      lowered.back().C = {rows, columns};
      lowered.back().L = {rows, task.L.columns()};
    }
  }
  return lowered;
}

/// Appends what the chain does to panels. Where the rows of a panel go apart, the chain has its diagonal block, and the lane near the
/// rows below.
class Panels {
 public:
  Panels(const Plan& plan, const Capabilities& can)
      : n_(plan.n), can_(can), chain_(plan.lanes.chain), near_(plan.lanes.near) {}

  /// The update of a panel with the one before it.
  void update(const Task& update) {
    const Range columns = update.C.columns(), last = update.L.columns(), below{columns.end, n_};
    if (!rows_go_apart(columns)) return add(narrow_update(chain_, {columns.begin, n_}, columns, last), update.device);
    add(narrow_update(chain_, columns, columns, last));
    if (columns.count() > can_.diagonal_update) tasks_.back().type = &cholesky_task::update;
    add(narrow_update(near_, below, columns, last), update.device);
  }

  void factor(const Task& panel) {
    const Range columns = panel.C.columns(), below{columns.end, n_};
    if (!rows_go_apart(columns)) return add(panel);
    cholesky_panel_by_halves(
        {columns, columns}, can_.cholesky_leaf,
        [&](const Block& leaf) {
          const Range factored = leaf.columns();
          Task diagonal = panel;
          diagonal.C = leaf;
          diagonal.flops = cholesky_panel_flops(double(leaf.m), double(leaf.n));
          add(diagonal);
          // Those of the last leaf are waited for in any case.
          add({.type = &cholesky_task::solve,
               .lane = factored.end == columns.end ? chain_ : near_,
               .phase = Phase::panel,
               .flops = double(below.count()) * double(leaf.n) * double(leaf.n),
               .C = {below, factored},
               .L = {factored, factored}});
        },
        [&](const Block& C, Range left) {
          add(narrow_update(chain_, C.rows(), C.columns(), left));
          add(narrow_update(near_, below, C.columns(), left));
        });
  }

  void add(const Task& task, const Block& device = {}) {
    tasks_.push_back(task);
    if (!device.empty()) tasks_.back().device = device;
  }
  Tasks tasks() && { return std::move(tasks_); }

 private:
  bool rows_go_apart(Range columns) const { return columns.end < n_ && can_.cholesky.rows_go_apart(columns.begin, n_); }

  const std::int64_t n_;
  const Capabilities& can_;
  const Lane chain_, near_;
  Tasks tasks_;
};

Tasks with_rows_apart(const Plan& plan, const Capabilities& can) {
  Panels panels(plan, can);
  for (const Task& task : plan.tasks)
    if (task.is(cholesky_task::panel))
      panels.factor(task);
    else if (task.is(cholesky_task::update) && task.lane == plan.lanes.chain)
      panels.update(task);
    else
      panels.add(task);
  return std::move(panels).tasks();
}

/// Each step of the chain is a phase, and each product of the bulk; or all in a lane are one.
void mark_steps(Plan& plan, bool each_step) {
  std::set<Lane> begun;
  bool begins_step = false;  // the chain's next task does
  for (Task& task : plan.tasks) {
    if (task.is(any_task::stop_if_failed)) begins_step = true;
    if (task.flops == 0) continue;
    const bool in_chain = task.lane == plan.lanes.chain, first = begun.insert(task.lane).second;
    if (in_chain) task.phase = Phase::panel;
    task.timed = task.lane != plan.lanes.near && (first || (each_step && (!in_chain || begins_step)));
    if (in_chain) begins_step = false;
  }
}

bool arrives(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const Task& task) { return task.is(any_task::arrive); });
}

/// Whether the trailing matrix is updated with each panel, not each block column with all panels before it.
bool updates_all_behind(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                     [](const Task& task) { return task.is(cholesky_task::update_lower); });
}

}  // namespace

std::vector<Task> lowered_cholesky(const Plan& plan, const Capabilities& can) {
  if (updates_all_behind(plan))
    return can.symmetric_updates.columns > 0 ? with_block_columns(plan, can.symmetric_updates) : plan.tasks;
  if (can.cholesky_leaf == 0) return plan.tasks;
  Plan lowered = plan;
  lowered.tasks = with_updates_in_turns(lowered, can.cholesky);
  return with_rows_apart(lowered, can);
}

void mark_phases_of_cholesky(Plan& plan, const Capabilities& can) {
  if (!updates_all_behind(plan) && can.cholesky_leaf > 0)
    mark_steps(plan, arrives(plan) || plan.n >= can.cholesky_timed_from);
}

}  // namespace lasolve
