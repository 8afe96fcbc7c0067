// LU, right-looking with look-ahead: each panel updates all that is behind it, and what the next one needs first.
//
// A panel is factored in steps. What a step does to the columns of the next one is in the chain, which everything waits for.
// To the rest of its panel it is near, to the next panel soon; and soon is what a whole panel does to the next but one. What it
// does to all behind that is the bulk: it has the time of the whole next panel. With one lane there is nothing to go ahead of,
// and each step updates all columns at once.
#include "solvers/lu/steps.hpp"
#include "solvers/schedules.hpp"

namespace lasolve {

std::vector<Task> lu_right_looking(const Walk& walk) {
  LuSteps a(walk);
  const auto [bulk, soon, near, chain] = walk.lanes;
  const std::int64_t n = walk.n;
  for (Range p = walk.panel_at(0); !p.empty(); p = walk.panel_at(p.end)) a.arrive(bulk, p);

  for (Range panel = walk.panel_at(0); !panel.empty(); panel = walk.panel_at(panel.end)) {
    const Range next_panel = walk.panel_at(panel.end), next_but_one = walk.panel_at(next_panel.end);
    std::int64_t behind = next_panel.end;
    for (Range step = walk.step_at(panel.begin, panel); !step.empty(); step = walk.step_at(step.end, panel)) {
      const Range next = walk.step_at(step.end, step.end < panel.end ? panel : next_panel);
      const std::int64_t follow = walk.lanes.single() ? n : next.end;
      a.panel(chain, step);                                                    // P [A11; A21] = [L11; L21] U11
      a.eliminate(chain, step, {step.end, follow});                            // the next step
      a.eliminate(near, step, {follow, panel.end});                            // the rest of this panel
      a.exchange(soon, step, {panel.begin, step.begin});                       // rows of L, read by soon and bulk only
      a.eliminate(soon, step, {std::max(follow, panel.end), next_panel.end});  // the next panel
      behind = std::max(behind, follow);
    }
    a.eliminate(soon, panel, {behind, next_but_one.end});               // the next panel but one
    a.exchange(bulk, panel, {0, panel.begin});                          // rows of L to the left
    a.eliminate(bulk, panel, {std::max(behind, next_but_one.end), n});  // all behind
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
