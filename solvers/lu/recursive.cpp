// LU by halves: the left half is factored, the right half brought up to date with it, and its lower part factored. Products
// are as large as they can be, and next to nothing runs beside them.
// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
#include "solvers/lu/steps.hpp"
#include "solvers/schedules.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

namespace {

/// Columns c in the rows from c.begin on. The first half of a matrix that is arriving is there before the second.
void factor_by_halves(LuSteps& a, const Walk& walk, Range c) {
  const auto [bulk, soon, near, chain] = walk.lanes;
  if (c.count() <= walk.block_size) {
    if (c.begin == 0) a.arrive(bulk, c);
    return a.panel(chain, c);  // P [A11; A21] = [L11; L21] U11
  }
  const std::int64_t middle = c.begin + first_half(c.count(), walk.block_size);
  const Range left{c.begin, middle}, right{middle, c.end};
  factor_by_halves(a, walk, left);
  if (c.begin == 0) a.arrive(bulk, right);
  a.eliminate(chain, left, right);
  factor_by_halves(a, walk, right);
  a.exchange(bulk, right, left);  // rows of L
}

}  // namespace

std::vector<Task> lu_by_halves(const Walk& walk) {
  LuSteps a(walk);
  if (walk.n > 0) factor_by_halves(a, walk, walk.all());
  return std::move(a).tasks();
}

}  // namespace lasolve
