// Cholesky, left-looking with look-ahead: a block column is updated with all before it when its turn has come, and so may
// arrive late. While one is brought up to date with the one before it and factored, the next is brought up to date with all
// before those two. Over P cards it is the P-th block column to the right, and panels that are factored meanwhile are applied to it one at
// a time. There the k of a product is cut to six panels at most, since kernels of a panel wait for its thread blocks to end.
#include "core/ceil_div.hpp"
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/steps.hpp"

namespace lasolve {

std::vector<Task> cholesky_left_looking(const Blocking& by) {
  CholeskySteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  Range last, furthest;  // the panel before, and the last one that is there
  for (std::int64_t i = 0; i < by.ahead; ++i) a.arrive(bulk, furthest = by.panel_at(furthest.end));
  for (Range panel = by.panel_at(0); !panel.empty(); last = panel, panel = by.panel_at(panel.end)) {
    a.stop_if_failed(chain);
    a.update(chain, last, panel);
    a.panel(chain, panel);  // [A11; A21] = [L11; L21] L11ᵀ
    for (Range next = by.panel_at(panel.end); !next.empty() && next.begin < furthest.end; next = by.panel_at(next.end))
      a.update(soon, last, next);
    a.arrive(bulk, furthest = by.panel_at(furthest.end));
    const std::int64_t parts = by.ahead > 1 ? ceil_div(panel.begin, 6 * by.widths.panel) : 1;
    for (std::int64_t i = 0; i < parts; ++i)
      a.update(bulk, {panel.begin * i / parts, panel.begin * (i + 1) / parts}, furthest);
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
