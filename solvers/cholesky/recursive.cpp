// Cholesky by halves: products are as large as they can be, and nothing runs beside them.
// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
#include "solvers/by_halves.hpp"
#include "solvers/cholesky/steps.hpp"
#include "solvers/schedules.hpp"

namespace lasolve {

namespace {

/// Rows and columns c.
void factor_by_halves(CholeskySteps& a, const Walk& walk, Range c) {
  const Lane lane = walk.lanes.chain;
  if (c.count() <= walk.block_size) {
    a.stop_if_failed(lane);
    return a.diagonal(lane, c);  // A11 = L11 L11ᵀ
  }
  const std::int64_t middle = c.begin + first_half(c.count(), walk.block_size);
  const Range first{c.begin, middle}, second{middle, c.end};
  factor_by_halves(a, walk, first);
  a.stop_if_failed(lane);
  a.solve(lane, first, second);         // L21 = A21 inv(L11)ᵀ
  a.update_lower(lane, first, second);  // A22 ← A22 − L21 L21ᵀ
  factor_by_halves(a, walk, second);
}

}  // namespace

std::vector<Task> cholesky_by_halves(const Walk& walk) {
  CholeskySteps a(walk);
  if (walk.n > 0) {
    a.arrive(walk.lanes.bulk, walk.all());  // the first solve needs all rows of the first half
    factor_by_halves(a, walk, walk.all());
  }
  return std::move(a).tasks();
}

}  // namespace lasolve
