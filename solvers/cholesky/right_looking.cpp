// Cholesky, right-looking with look-ahead: each panel updates all that is behind it, the next one first, which is then
// factored while the rest is updated.
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/steps.hpp"

namespace lasolve {

std::vector<Task> cholesky_right_looking(const Blocking& by) {
  CholeskySteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  for (Range p = by.panel_at(0); !p.empty(); p = by.panel_at(p.end)) a.arrive(bulk, p);

  Range panel = by.panel_at(0);
  if (!panel.empty()) a.panel(chain, panel);  // [A11; A21] = [L11; L21] L11ᵀ
  for (Range next = by.panel_at(panel.end); !next.empty(); panel = next, next = by.panel_at(panel.end)) {
    a.stop_if_failed(chain);
    a.update(chain, panel, next);
    a.panel(chain, next);
    a.update_lower(bulk, panel, {next.end, by.n});  // A22 ← A22 − L21 L21ᵀ
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
