#include "solvers/lu_nopivot/method.hpp"

#include "lasolve/tuning.hpp"
#include "solvers/flops.hpp"

namespace lasolve {

namespace {

/// Each panel updates all that is behind it, the next one first, which is then factored while the rest is updated.
std::vector<Task> right_looking_without_pivots(const Blocking& by) {
  namespace task = lu_nopivot_task;
  std::vector<Task> tasks;
  const Lane chain = by.lanes.chain, bulk = by.lanes.bulk;
  const std::int64_t m = by.rows(), n = by.n;
  const auto panel = [&](Range p) {
    tasks.push_back({.type = &task::panel,
                     .lane = chain,
                     .phase = Phase::panel,
                     .flops = lu_panel_flops(double(m - p.begin), double(p.count())),
                     .C = {{p.begin, m}, p}});
  };
  const auto eliminate = [&](Lane lane, Range p, Range c) {
    if (c.empty()) return;
    const double k = double(p.count()), columns = double(c.count());
    tasks.push_back(
        {.type = &task::solve, .lane = lane, .phase = Phase::trsm, .flops = k * k * columns, .C = {p, c}, .L = {p, p}});
    if (p.end == m) return;
    tasks.push_back({.type = &task::update,
                     .lane = lane,
                     .phase = Phase::gemm,
                     .flops = 2 * double(m - p.end) * k * columns,
                     .C = {{p.end, m}, c},
                     .L = {{p.end, m}, p},
                     .U = {p, c}});
  };
  if (by.arrives && n > 0) tasks.push_back({.type = &any_task::arrive, .lane = bulk, .C = {{0, m}, {0, n}}});
  Range p = by.panel_at(0);
  if (!p.empty()) panel(p);
  for (Range next; !p.empty(); p = next) {
    next = by.panel_at(p.end);
    tasks.push_back({.type = &any_task::stop_if_failed, .lane = chain});
    eliminate(chain, p, next);
    if (!next.empty()) panel(next);
    eliminate(bulk, p, {next.end, n});
  }
  return tasks;
}

constexpr MethodSchedule schedules_without_pivots[] = {{Schedule::right_looking, right_looking_without_pivots}};

}  // namespace

const MethodRecord LuNopivot::record = {
    .method = Method::lu_nopivot,
    .name = "LU without interchanges",
    .schedules = schedules_without_pivots,
    .is_symmetric = false,
    .is_dominant = true,
    .requirement = "diagonally dominant",
    .example = "diagdom",
    .pivotings = no_pivoting,
    .L = {.lower = true, .unit = true},
    .U = {.lower = false, .unit = false},
    .may_grow = true,
    .failure = Outcome::singular,
    .has_leaf = false,
    .flops = lu_flops,
    .panel_flops = lu_panel_flops,
    .power_of_pivots = 1,
    .default_schedule = [](const Tuning&, bool) { return Schedule::right_looking; },
    .widths =
        [](const Tuning& t, const Sized& of) {
          const std::int64_t most = of.columns > 0 ? of.columns : t.cholesky(of.n);  // products hide its panels, too
          return Widths{.panel = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(1, of.n))};
        },
    .lowered = [](const Plan& plan, const Capabilities&) { return plan.tasks; },
    .mark_phases = [](Plan&, const Capabilities&) {},
};

}  // namespace lasolve
