// LU by halves: the left half is factored, the right half brought up to date with it, and its lower part factored. Products
// are as large as they can be, and next to nothing runs beside them.
// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
#include "solvers/by_halves.hpp"
#include "solvers/lu/planning.hpp"
#include "solvers/lu/steps.hpp"

namespace lasolve {

void factor_by_halves(LuSteps& a, const Lanes& lanes, Range c, std::int64_t leaf) {
  if (c.count() <= leaf) {
    if (c.begin == 0) a.arrive(lanes.bulk, c);
    a.panel(lanes.chain, c);  // P [A11; A21] = [L11; L21] U11
    return a.combine(lanes.chain, c);
  }
  const std::int64_t middle = c.begin + first_half(c.count(), leaf);
  const Range left{c.begin, middle}, right{middle, c.end};
  factor_by_halves(a, lanes, left, leaf);
  if (c.begin == 0) a.arrive(lanes.bulk, right);
  a.eliminate(lanes.chain, left, right);
  factor_by_halves(a, lanes, right, leaf);
  a.interchange(lanes.bulk, right, left, Role::L_to_the_left);
}

std::vector<Task> lu_by_halves(const Blocking& by) {
  LuSteps a(by);
  if (by.columns() > 0) factor_by_halves(a, by.lanes, by.all(), by.widths.panel);
  const Range behind{by.columns(), by.n};  // of a wide matrix
  a.arrive(by.lanes.bulk, behind);
  a.eliminate(by.lanes.chain, by.all(), behind);
  return std::move(a).tasks();
}

}  // namespace lasolve
