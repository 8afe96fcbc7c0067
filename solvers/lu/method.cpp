#include "solvers/lu/method.hpp"

#include "core/ceil_div.hpp"
#include "lasolve/tuning.hpp"
#include "solvers/flops.hpp"
#include "solvers/lu/planning.hpp"

namespace lasolve {

namespace {

constexpr MethodSchedule schedules_of_lu[] = {{Schedule::right_looking, lu_right_looking},
                                              {Schedule::left_looking, lu_left_looking},
                                              {Schedule::recursive, lu_by_halves},
                                              {Schedule::crout, lu_crout}};

constexpr Pivoting pivotings_of_lu[] = {Pivoting::partial, Pivoting::tournament};

/// Where A arrives, work begins with narrow panels. With look-ahead, steps are short where panels are the bottleneck. The bulk has nothing
/// to do until the first panel is factored, so in a large matrix that is narrower, but in fp32, where products with a smaller k are
/// slower. Where panels are hidden, wide ones give the updates a large k, and each is one step, because its inner products have a larger k
/// than those of near columns; but nothing hides the first, so they begin narrow, and each has at most twice as many columns as all before
/// it. Where cards share the updates these hide less, and panels are narrower.
Widths widths_of_lu(const Tuning& t, const Sized& of) {
  const std::int64_t most =
      of.columns > 0 ? of.columns : (of.schedule == Schedule::left_looking ? t.lu_left : t.lu)(of.n);
  Widths w{.panel = std::clamp<std::int64_t>(most, 1, std::max<std::int64_t>(1, of.n))};
  if (of.arrives) {
    w.least = w.unit = (w.panel + 7) / 8;
    w.of_before = 0.5;
  } else if (of.queues && of.schedule == Schedule::right_looking) {
    constexpr std::int64_t panels_of_a_card = 16;
    const std::int64_t unit =
        of.storage == Precision::fp64 ? 512 : 1024;  // products in fp32 with k = 512 are slower than with 1024
    if (of.cards > 1 && of.columns == 0)
      w.panel = std::min(w.panel, std::max(unit, round_up(of.n / (panels_of_a_card * of.cards), unit)));
    const bool narrow_first = of.storage == Precision::fp64 && of.n >= t.lu_first_panel_from;
    w.bottleneck = {.left = t.lu_panels_are_the_bottleneck,
                    .first = narrow_first ? t.lu_first_panel_fp64 : t.lu_widest_panel,
                    .panel = t.lu_widest_panel,
                    .step = t.lu_step,
                    .soon_from = t.lu_soon_columns};
    w.least = round_up(of.n / t.lu_hidden_panels_of_first, t.lu_step);
    w.of_before = 2;
  }
  return w;
}

}  // namespace

const MethodRecord Lu::record = {
    .method = Method::lu,
    .name = "LU",
    .schedules = schedules_of_lu,
    .is_symmetric = false,
    .is_dominant = false,
    .requirement = nullptr,
    .example = "uniform",
    .pivotings = pivotings_of_lu,
    .L = {.lower = true, .unit = true},
    .U = {.lower = false, .unit = false},
    .may_grow = true,
    .failure = Outcome::singular,
    .has_leaf = true,
    .flops = lu_flops,
    .panel_flops = lu_panel_flops,
    .power_of_pivots = 1,
    .default_schedule = [](const Tuning&, bool) { return Schedule::right_looking; },
    .widths = widths_of_lu,
    .lowered = lowered_lu,
    .mark_phases = mark_phases_of_lu,
};

}  // namespace lasolve
