// LU after Crout: when its turn has come, a block column of L and then a block row of U are brought up to date with all before
// them. What is behind is only interchanged until then, so that each block of A is written once.
// Source: Golub & Van Loan, "Matrix Computations", section 3.2; LAPACK Working Note 68 names the blocked forms.
#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"

namespace lasolve {

std::vector<Task> lu_crout(const Blocking& by) {
  LuSteps a(by);
  const auto [far, bulk, soon, near, chain] = by.lanes;
  a.arrive(bulk, {0, by.n});  // the first row of U needs all columns
  for (Range panel = by.panel_at(0); !panel.empty(); panel = by.panel_at(panel.end)) {
    const Range before{0, panel.begin}, behind{panel.end, by.n};
    a.update(chain, before, {panel.begin, by.rows()}, panel);  // [A11; A21] ← [A11; A21] − [L10; L20] U01
    a.panel(chain, panel);                                     // P [A11; A21] = [L11; L21] U11
    a.combine(chain, panel);
    a.interchange(chain, panel, before, Role::L_to_the_left);  // [L10; L20] ← P [L10; L20]
    a.interchange(chain, panel, behind);                       // [A12; A22] ← P [A12; A22]
    a.update(chain, before, panel, behind);                    // A12 ← A12 − L10 U02
    a.solve(chain, panel, behind);                             // U12 = inv(L11) A12
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
