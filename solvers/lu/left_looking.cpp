// LU, left-looking with look-ahead: a block column is updated with all before it when its turn has come, and so may arrive
// late. While one is factored, the next is brought up to date with all before that one.
#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"

namespace lasolve {

std::vector<Task> lu_left_looking(const Blocking& by) {
  LuSteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  Range panel = by.panel_at(0);
  a.arrive(bulk, panel);
  if (!panel.empty()) a.panel(chain, panel);  // P [A11; A21] = [L11; L21] U11
  for (Range next; !panel.empty(); panel = next) {
    const Range before{0, panel.begin};
    next = by.panel_at(panel.end);
    a.arrive(bulk, next);
    a.eliminate(bulk, before, next);  // with all panels before this one
    a.combine(bulk, panel);
    a.interchange(bulk, panel, before, Role::L_to_the_left);
    a.eliminate(chain, panel, next);  // with this one
    if (!next.empty()) a.panel(chain, next);
  }
  const Range behind{by.columns(), by.n};  // of a wide matrix
  a.arrive(bulk, behind);
  a.eliminate(bulk, by.all(), behind);
  return std::move(a).tasks();
}

}  // namespace lasolve
