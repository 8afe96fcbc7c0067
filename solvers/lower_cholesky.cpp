#include "solvers/lower_cholesky.hpp"

#include <set>

#include "solvers/by_halves.hpp"

namespace lasolve {

namespace {

using Tasks = std::vector<Task>;

/// As cholesky_panel_flops.
double panel_flops(std::int64_t m, std::int64_t n) {
  return double(m) * double(n) * double(n) - 2.0 / 3.0 * double(n) * double(n) * double(n);
}

/// C ← C − L Uᵀ within a panel, for columns and rows of A that begin with these columns or are below them, and k columns of L.
Task update_near(Lane lane, Range rows, Range columns, Range k) {
  const double m = double(rows.count()), w = double(columns.count());
  const double above = rows.begin == columns.begin ? w : 0;
  return {.kind = TaskKind::update_near,
          .lane = lane,
          .phase = Phase::panel,
          .flops = (2 * m - above) * w * double(k.count()),
          .C = {rows, columns},
          .L = {rows, k},
          .U = {columns, k}};
}

/// Products of the bulk in two lines, and after the update that would be held up.
Tasks with_products_in_turns(const Plan& plan, const CholeskyLimits& limits) {
  Tasks lowered = plan.tasks;
  int turn = 0;
  Block device;  // of the panel at hand
  for (Task& task : lowered) {
    const bool is_bulk = task.lane == plan.lanes.bulk;
    if (is_bulk) task.lane.line += turn % 2;
    if (task.kind == TaskKind::update && !is_bulk) {
      const bool goes_first = !limits.products_bind(task.C.j, plan.n);
      task.device = device = goes_first ? Block(Resource::device, {task.C.j, task.C.j + 1}) : Block();
    } else if (task.kind == TaskKind::update) {
      task.device = device;
    }
    if (task.kind == TaskKind::panel) ++turn;
  }
  return lowered;
}

/// What the chain does to a panel and the one before it.
class Panels {
 public:
  Panels(const Plan& plan, const Capabilities& can)
      : n_(plan.n), can_(can), chain_(plan.lanes.chain), near_(plan.lanes.near) {}

  /// `update`, of a panel with the one before it.
  void update(const Task& update) {
    const Range columns = update.C.columns(), last = update.L.columns(), below{columns.end, n_};
    if (!rows_go_apart(columns)) return add(update_near(chain_, {columns.begin, n_}, columns, last), update.device);
    add(update_near(chain_, columns, columns, last));
    if (columns.count() > can_.diagonal_update) tasks_.back().kind = TaskKind::update;
    add(update_near(near_, below, columns, last), update.device);
  }

  void factor(const Task& panel) {
    const Range columns = panel.C.columns(), below{columns.end, n_};
    if (!rows_go_apart(columns)) return add(panel);
    by_halves(
        columns.begin, columns.count(), can_.cholesky_leaf,
        [&](std::int64_t j, std::int64_t n) {
          const Range leaf{j, j + n};
          Task diagonal = panel;
          diagonal.C = {{j, columns.end}, leaf};
          diagonal.flops = panel_flops(columns.end - j, n);
          add(diagonal);
          // Those of the last leaf are waited for in any case.
          add({.kind = TaskKind::solve,
               .lane = leaf.end == columns.end ? chain_ : near_,
               .phase = Phase::panel,
               .flops = double(below.count()) * double(n) * double(n),
               .C = {below, leaf},
               .L = {leaf, leaf}});
        },
        [&](std::int64_t j, std::int64_t k, std::int64_t n) {
          const Range first{j, j + k}, second{j + k, j + k + n};
          add(update_near(chain_, {second.begin, columns.end}, second, first));
          add(update_near(near_, below, second, first));
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
    if (task.kind == TaskKind::panel)
      panels.factor(task);
    else if (task.kind == TaskKind::update && task.lane == plan.lanes.chain)
      panels.update(task);
    else
      panels.add(task);
  return std::move(panels).tasks();
}

/// Each step of the chain is a phase, and each product of the bulk; or all in a lane are one.
void leave_out_marks(Plan& plan, bool steps_are_phases) {
  std::set<Lane> begun;
  bool begins_step = false;  // the chain's next task does
  for (Task& task : plan.tasks) {
    if (task.kind == TaskKind::stop_if_failed) begins_step = true;
    if (task.flops == 0) continue;
    const bool in_chain = task.lane == plan.lanes.chain, first = begun.insert(task.lane).second;
    if (in_chain) task.phase = Phase::panel;
    task.timed = task.lane != plan.lanes.near && (first || (steps_are_phases && (!in_chain || begins_step)));
    if (in_chain) begins_step = false;
  }
}

}  // namespace

std::vector<Task> left_looking_cholesky(const Plan& plan, const Capabilities& can) {
  Plan lowered = plan;
  lowered.tasks = with_products_in_turns(lowered, can.cholesky);
  lowered.tasks = with_rows_apart(lowered, can);
  const bool arrives =
      std::any_of(plan.tasks.begin(), plan.tasks.end(), [](const Task& task) { return task.kind == TaskKind::arrive; });
  leave_out_marks(lowered, arrives || plan.n >= can.cholesky_timed_from);
  return lowered.tasks;
}

}  // namespace lasolve
