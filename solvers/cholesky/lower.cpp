// What a device makes of a plan of Cholesky.
#include "solvers/lower.hpp"

#include <algorithm>
#include <set>

#include "solvers/cholesky/halves.hpp"
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/tasks.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// C ← C − L Uᵀ within a panel: C are these rows and columns of A, on and below the diagonal or all below it, L and U columns k.
Task narrow_update(Lane lane, Range rows, Range columns, Range k) {
  return {.type = &cholesky_task::narrow_update, .lane = lane, .C = {rows, columns}, .L = {rows, k}, .U = {columns, k}};
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
    if (task.is(cholesky_task::update) && is_bulk) {
      task.device = device;
    } else if (task.is(cholesky_task::update) && task.lane == plan.lanes.chain) {
      const bool goes_first = !limits.products_bind(task.C.j, plan.n);
      task.device = device = goes_first ? Block(Resource::device, {task.C.j, task.C.j + 1}) : Block();
    }
    if (task.is(cholesky_task::panel)) ++turn;
  }
  return lowered;
}

/// The parts of a symmetric update, appended in two lanes in turns.
class SymmetricUpdate {
 public:
  SymmetricUpdate(Tasks& to, const Task& whole, std::int64_t leaf) : to_(to), whole_(whole), leaf_(leaf) {}

  void by_halves(Range c) {
    symmetric_update_by_halves(
        c, leaf_, [&](Range leaf) { add(cholesky_task::update_lower, leaf, leaf); },
        [&](Range rows, Range columns) { product(rows, columns); });
  }
  void product(Range rows, Range columns) {
    add(cholesky_task::product, rows, columns);
    to_.back().U = {columns, whole_.L.columns()};
  }

 private:
  void add(const TaskType& type, Range rows, Range columns) {
    to_.push_back(whole_);
    Task& part = to_.back();
    part.type = &type, part.lane = in_turn(whole_.lane, turn_++);
    part.C = {rows, columns}, part.L = {rows, whole_.L.columns()};
  }

  Tasks& to_;
  const Task& whole_;
  const std::int64_t leaf_;
  std::int64_t turn_ = 0;
};

/// Symmetric updates by halves. First come as many columns as the last panel had, since the panel after the next waits for its own.
/// `in_one`: what is left then is not halved.
Tasks with_symmetric_updates_by_halves(const Plan& plan, std::int64_t leaf, bool in_one) {
  Tasks lowered;
  for (const Task& task : plan.tasks) {
    const Range all = task.C.columns(), soon{all.begin, std::min(all.end, all.begin + task.L.n)},
                rest{soon.end, all.end};
    if (!task.is(cholesky_task::update_lower) || all.count() <= leaf) {
      lowered.push_back(task);
      continue;
    }
    SymmetricUpdate update(lowered, task, in_one ? all.count() : leaf);
    update.by_halves(soon);
    if (rest.empty()) continue;
    update.product(rest, soon);
    update.by_halves(rest);
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
    if (columns.count() > can_.diagonal_update) {  // by products of the backend
      tasks_.back().type = &cholesky_task::update;
      tasks_.back().in_panel = true;
    }
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
          add(diagonal);
          // Those of the last leaf are waited for in any case.
          add({.type = &cholesky_task::solve,
               .lane = factored.end == columns.end ? chain_ : near_,
               .in_panel = true,
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
    if (task.flops() == 0) continue;
    const bool in_chain = task.lane == plan.lanes.chain, first = begun.insert(task.lane).second;
    if (in_chain) task.in_panel = true;
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
    return can.symmetric_update > 0
               ? with_symmetric_updates_by_halves(plan, can.symmetric_update, can.one_symmetric_product)
               : plan.tasks;
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
