// Cholesky, right-looking with look-ahead: each panel updates all that is behind it, the next one first, which is then
// factored while the rest is updated.
#include "solvers/cholesky/steps.hpp"
#include "solvers/schedules.hpp"
#include "solvers/tuning.hpp"

namespace lasolve {

std::vector<Task> cholesky_right_looking(const Walk& walk) {
  CholeskySteps a(walk);
  const auto [far, bulk, soon, near, chain] = walk.lanes;
  const auto panel_at = [&](std::int64_t j) {
    if (!walk.tuning || walk.lanes.single() || walk.arrives) return walk.panel_at(j);
    return Range{j, std::min(walk.n, j + cholesky_panel_columns(*walk.tuning, walk.block_size, walk.n - j))};
  };
  for (Range p = panel_at(0); !p.empty(); p = panel_at(p.end)) a.arrive(bulk, p);

  Range panel = panel_at(0);
  if (!panel.empty()) a.panel(chain, panel);  // [A11; A21] = [L11; L21] L11ᵀ
  for (Range next = panel_at(panel.end); !next.empty(); panel = next, next = panel_at(panel.end)) {
    a.stop_if_failed(chain);
    a.update(chain, panel, next);
    a.panel(chain, next);
    a.update_lower(bulk, panel, {next.end, walk.n});  // A22 ← A22 − L21 L21ᵀ
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
