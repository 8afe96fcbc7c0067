// LU, right-looking with look-ahead: each panel updates all that is behind it, and what the next one needs first.
//
// A panel is factored in steps. What a step does to the columns of the next one is in the chain, which everything waits for.
// To the rest of its panel it is near, to the next panel soon; and soon is what a whole panel does to the next but one. What it
// does to all behind that is the bulk: it has the time of the whole next panel. With one lane there is nothing to go ahead of,
// and each step updates all columns at once. There the rows of L are interchanged at the end, while its columns are in cache.
#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"

namespace lasolve {

namespace {

/// Whether the columns that are wanted next have an interchange, a solve and an update of their own. Else only their update is
/// alone, and comes first. That pays where panels are the bottleneck, but for few columns these are too many launches.
bool soon_is_eliminated_alone(const Blocking& by, Range panel) {
  const auto& bottleneck = by.widths.bottleneck;
  return bottleneck.left < 0 || (panel.count() > bottleneck.soon_from && by.panels_bind(by.columns() - panel.begin));
}

}  // namespace

std::vector<Task> lu_right_looking(const Blocking& by) {
  LuSteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  const std::int64_t n = by.n;
  for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end)) a.arrive(bulk, p);
  a.arrive(bulk, {by.columns(), n});  // of a wide matrix

  Range panel = by.panel_at(0), step = by.step_at(0, panel);
  if (!step.empty()) a.panel(chain, step);  // P [A11; A21] = [L11; L21] U11
  for (; !panel.empty(); panel = by.panel_at(panel.end)) {
    const Range next_panel = by.panel_at(panel.end), next_but_one = by.panel_at(next_panel.end);
    std::int64_t behind = next_panel.end;
    while (step.begin < panel.end) {
      const bool last = step.end == panel.end;
      const Range next = by.step_at(step.end, last ? next_panel : panel);
      const std::int64_t follow = by.lanes.single() ? n : next.end;
      a.eliminate(chain, step, {step.end, follow});  // the next step
      if (!next.empty()) a.panel(chain, next);
      a.interchange(soon, step, {panel.begin, step.begin}, Role::L_in_panel);             // read by soon and bulk only
      a.eliminate(near, step, {follow, last ? next_panel.end : panel.end});               // the rest of this panel
      if (!last) a.eliminate(soon, step, {std::max(follow, panel.end), next_panel.end});  // the next panel
      behind = std::max(behind, follow);
      step = next;
    }
    a.combine(bulk, panel);
    const Range wanted{behind, next_but_one.end}, rest{std::max(behind, next_but_one.end), n};
    if (soon_is_eliminated_alone(by, panel)) {
      a.eliminate(soon, panel, wanted);
      a.eliminate(bulk, panel, rest);
    } else {
      a.interchange(bulk, panel, {behind, n});
      a.solve(bulk, panel, {behind, n});
      a.update(bulk, panel, wanted);
      a.update(bulk, panel, rest);
    }
    if (!by.lanes.single()) a.interchange(bulk, panel, {0, panel.begin}, Role::L_to_the_left);
  }
  if (by.lanes.single())
    for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end))
      a.interchange(bulk, {p.end, by.columns()}, p, Role::L_to_the_left);
  return std::move(a).tasks();
}

}  // namespace lasolve
