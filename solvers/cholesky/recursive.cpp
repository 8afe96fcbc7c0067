// Cholesky by halves: products are as large as they can be, and nothing runs beside them.
// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
#include "solvers/by_halves.hpp"
#include "solvers/cholesky/planning.hpp"
#include "solvers/cholesky/steps.hpp"

namespace lasolve {

namespace {

/// Rows and columns c.
void factor_by_halves(CholeskySteps& a, const Blocking& by, Range c) {
  const Lane lane = by.lanes.chain;
  if (c.count() <= by.widths.panel) {
    a.stop_if_failed(lane);
    return a.diagonal(lane, c);  // A11 = L11 L11ᵀ
  }
  const std::int64_t middle = c.begin + first_half(c.count(), by.widths.panel);
  const Range first{c.begin, middle}, second{middle, c.end};
  factor_by_halves(a, by, first);
  a.stop_if_failed(lane);
  a.solve(lane, first, second);         // L21 = A21 inv(L11)ᵀ
  a.update_lower(lane, first, second);  // A22 ← A22 − L21 L21ᵀ
  factor_by_halves(a, by, second);
}

}  // namespace

std::vector<Task> cholesky_by_halves(const Blocking& by) {
  CholeskySteps a(by);
  if (by.n > 0) {
    a.arrive(by.lanes.bulk, by.all());  // the first solve needs all rows of the first half
    factor_by_halves(a, by, by.all());
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
