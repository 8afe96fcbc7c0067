#include "solvers/lu_nopivot/method.hpp"

#include "lasolve/tuning.hpp"
#include "solvers/flops.hpp"

namespace lasolve {

namespace {

/// Steps of the factorization, as tasks.
class StepsWithoutPivots {
 public:
  explicit StepsWithoutPivots(const Blocking& by) : by_(by) {}

  void arrive(Lane lane, Range columns) {
    if (by_.arrives && !columns.empty())
      tasks_.push_back({.type = &any_task::arrive, .lane = lane, .C = {{0, by_.rows()}, columns}});
  }
  void stop_if_failed(Lane lane) { tasks_.push_back({.type = &any_task::stop_if_failed, .lane = lane}); }
  void panel(Lane lane, Range p) {
    if (p.empty()) return;
    tasks_.push_back({.type = &lu_nopivot_task::panel, .lane = lane, .C = {{p.begin, by_.rows()}, p}});
  }
  /// Of columns c, with the columns p of L.
  void eliminate(Lane lane, Range p, Range c) {
    if (p.empty() || c.empty()) return;
    tasks_.push_back({.type = &lu_nopivot_task::solve, .lane = lane, .C = {p, c}, .L = {p, p}});
    const Range below{p.end, by_.rows()};
    if (below.empty()) return;
    tasks_.push_back({.type = &lu_nopivot_task::update, .lane = lane, .C = {below, c}, .L = {below, p}, .U = {p, c}});
  }
  std::vector<Task> tasks() && { return std::move(tasks_); }

 private:
  const Blocking& by_;
  std::vector<Task> tasks_;
};

/// Each panel updates all that is behind it, the next one first, which is then factored while the rest is updated.
std::vector<Task> right_looking_without_pivots(const Blocking& by) {
  StepsWithoutPivots a(by);
  const Lane chain = by.lanes.chain, bulk = by.lanes.bulk;
  a.arrive(bulk, {0, by.n});
  Range p = by.panel_at(0);
  a.panel(chain, p);
  for (Range next; !p.empty(); p = next) {
    next = by.panel_at(p.end);
    a.stop_if_failed(chain);
    a.eliminate(chain, p, next);
    a.panel(chain, next);
    a.eliminate(bulk, p, {next.end, by.n});
  }
  return std::move(a).tasks();
}

/// A block column is updated with all before it when its turn has come, and so may arrive late. While one is factored, the next is brought
/// up to date with all before that one.
std::vector<Task> left_looking_without_pivots(const Blocking& by) {
  StepsWithoutPivots a(by);
  const Lane chain = by.lanes.chain, bulk = by.lanes.bulk;
  Range p = by.panel_at(0);
  a.arrive(bulk, p);
  a.panel(chain, p);
  for (Range next; !p.empty(); p = next) {
    next = by.panel_at(p.end);
    a.arrive(bulk, next);
    a.eliminate(bulk, {0, p.begin}, next);
    a.stop_if_failed(chain);
    a.eliminate(chain, p, next);
    a.panel(chain, next);
  }
  const Range behind{by.columns(), by.n};  // of a wide matrix
  a.arrive(bulk, behind);
  a.eliminate(bulk, by.all(), behind);
  return std::move(a).tasks();
}

constexpr MethodSchedule schedules_without_pivots[] = {{Schedule::right_looking, right_looking_without_pivots},
                                                       {Schedule::left_looking, left_looking_without_pivots}};

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
