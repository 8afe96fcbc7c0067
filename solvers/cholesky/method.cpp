#include "solvers/cholesky/method.hpp"

#include "lasolve/tuning.hpp"
#include "solvers/cholesky/planning.hpp"
#include "solvers/flops.hpp"

namespace lasolve {

double cholesky_task::flops_of_update(const Task& task) {
  return lower_update_flops(double(task.C.m), double(task.C.n), double(task.L.n));
}

Task cholesky_task::update_in_columns(const Task& task, Range columns) {
  const Range rows{columns.begin, task.C.rows().end}, p = task.L.columns();
  Task part = task;
  part.type = &update;
  part.C = {rows, columns}, part.L = {rows, p}, part.U = {columns, p};
  return part;
}

Task cholesky_task::product_in_columns(const Task& task, Range columns) {
  Task part = task;
  part.C = {task.C.rows(), columns}, part.U = {columns, task.U.columns()};
  return part;
}

namespace {

constexpr MethodSchedule schedules_of_cholesky[] = {{Schedule::right_looking, cholesky_right_looking},
                                                    {Schedule::left_looking, cholesky_left_looking},
                                                    {Schedule::recursive, cholesky_by_halves}};

std::int64_t most_columns(const Tuning& t, const Sized& of) {
  if (of.schedule != Schedule::left_looking) return t.cholesky(of.n);
  return (of.storage == Precision::fp64 ? t.cholesky_left : t.cholesky_left_fp32)(of.n);
}

/// Nothing hides the first panels of a left-looking Cholesky, and the last ones have less beside them. So where panels are wide, these are
/// narrower. Towards the end those of a right-looking one become narrower, because there is less to do meanwhile.
Widths widths_of_cholesky(const Tuning& t, const Sized& of) {
  const std::int64_t most = of.columns > 0 ? of.columns : most_columns(t, of);
  Widths w{.panel = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(1, of.n))};
  if (of.queues && of.schedule == Schedule::left_looking) {
    if (w.panel <= t.cholesky_left_wide) return w;
    w.least = w.unit = t.cholesky_diagonal_update;
    w.of_before = 1;
    w.part_of_rest = t.cholesky_left_beside;
  } else if (of.arrives) {
    w.least = w.unit = (w.panel + 7) / 8;
    w.of_before = 0.5;
  } else if (of.queues && of.schedule == Schedule::right_looking) {
    w.least = w.unit = t.cholesky_panel_least;
    w.part_of_rest = t.cholesky_panel_part;
  }
  return w;
}

}  // namespace

const MethodRecord Cholesky::record = {
    .method = Method::cholesky,
    .name = "Cholesky",
    .schedules = schedules_of_cholesky,
    .is_symmetric = true,
    .is_dominant = false,
    .requirement = "symmetric with a positive diagonal",
    .example = "spd",
    .pivotings = no_pivoting,
    .L = {.lower = true, .unit = false},
    .U = {.lower = true, .unit = false, .op = Op::transpose},
    .may_grow = false,
    .failure = Outcome::not_positive_definite,
    .has_leaf = true,
    .flops = cholesky_flops,
    .panel_flops = cholesky_panel_flops,
    .power_of_pivots = 2,
    .default_schedule =
        [](const Tuning& t, bool quick_products) {
          // Products with a large k are faster than block columns of symmetric rank-k updates. Quick ones wait for narrow panels.
          return t.cholesky_goes_left != 0 && !quick_products ? Schedule::left_looking : Schedule::right_looking;
        },
    .widths = widths_of_cholesky,
    .lowered = lowered_cholesky,
    .mark_phases = mark_phases_of_cholesky,
};

}  // namespace lasolve
