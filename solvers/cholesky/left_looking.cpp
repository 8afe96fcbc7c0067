// Cholesky, left-looking with look-ahead: a block column is updated with all before it when its turn has come, and so may
// arrive late. While one is brought up to date with the one before it and factored, the next is brought up to date with all
// before those two.
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/steps.hpp"

namespace lasolve {

std::vector<Task> cholesky_left_looking(const Blocking& by) {
  CholeskySteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  Range last;
  a.arrive(bulk, by.panel_at(0));
  for (Range panel = by.panel_at(0), next; !panel.empty(); last = panel, panel = next) {
    next = by.panel_at(panel.end);
    a.stop_if_failed(chain);
    a.update(chain, last, panel);
    a.panel(chain, panel);  // [A11; A21] = [L11; L21] L11ᵀ
    a.arrive(bulk, next);
    a.update(bulk, {0, panel.begin}, next);
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
