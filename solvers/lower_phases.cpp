#include "solvers/lower_phases.hpp"

#include <algorithm>
#include <set>

namespace lasolve {

namespace {

/// One after the other in one lane, all tasks are one phase.
void mark_one_phase(Plan& plan) {
  bool begun = false;
  for (Task& task : plan.tasks) {
    task.timed = task.flops > 0 && !begun;
    begun = begun || task.timed;
  }
}

/// Whether the chain begins to eliminate with a step: by an interchange, which may be one of several kernels, or by a kernel for all of
/// it. Within a panel that goes by halves it does not: that is a part of the panel.
bool begins_step_of_lu(const Task& task) {
  const bool interchanges = task.kind == TaskKind::interchange && task.role == Role::elimination;
  return task.timed && (interchanges || task.kind == TaskKind::lookahead_update);
}

/// Right-looking LU: ahead of the bulk each step of the chain is a phase while more than `beyond` columns are left, and all that
/// follows is one.
void mark_steps_of_lu(Plan& plan, std::int64_t beyond) {
  bool begun = false;
  const Task* last = nullptr;  // of the chain
  for (Task& task : plan.tasks) {
    if (task.lane.rank <= plan.lanes.bulk.rank) continue;
    bool begins = !begun;
    if (task.lane == plan.lanes.chain) {
      const bool is_next_kernel = last && last->kind == TaskKind::interchange && task.kind == TaskKind::interchange &&
                                  last->C.columns() == task.C.columns();
      const bool is_early = is_next_kernel ? last->timed : plan.n - task.interchanges.i > beyond;
      begins = begins || (begins_step_of_lu(task) && is_early);
      last = &task;
    }
    task.timed = begins;
    if (task.kind != TaskKind::combine) task.phase = Phase::panel;
    begun = true;
  }
}

/// Left-looking Cholesky: each step of the chain is a phase, and each product of the bulk; or all in a lane are one.
void mark_steps_of_cholesky(Plan& plan, bool each_step) {
  std::set<Lane> begun;
  bool begins_step = false;  // the chain's next task does
  for (Task& task : plan.tasks) {
    if (task.kind == TaskKind::stop_if_failed) begins_step = true;
    if (task.flops == 0) continue;
    const bool in_chain = task.lane == plan.lanes.chain, first = begun.insert(task.lane).second;
    if (in_chain) task.phase = Phase::panel;
    task.timed = task.lane != plan.lanes.near && (first || (each_step && (!in_chain || begins_step)));
    if (in_chain) begins_step = false;
  }
}

bool arrives(const Plan& plan) {
  return std::any_of(plan.tasks.begin(), plan.tasks.end(),
                     [](const Task& task) { return task.kind == TaskKind::arrive; });
}

}  // namespace

void mark_phases(Plan& plan, const Capabilities& can) {
  if (plan.lanes.single()) return mark_one_phase(plan);
  if (plan.method == Method::lu && plan.schedule == Schedule::right_looking && can.timed_beyond >= 0)
    mark_steps_of_lu(plan, can.timed_beyond);
  if (plan.method == Method::cholesky && plan.schedule == Schedule::left_looking && can.cholesky_leaf > 0)
    mark_steps_of_cholesky(plan, arrives(plan) || plan.n >= can.cholesky_timed_from);
}

}  // namespace lasolve
