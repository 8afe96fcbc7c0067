// How a panel of Cholesky and a symmetric update are halved: once, for what a task does and for the tasks that lower() makes of it.
#pragma once

#include "solvers/by_halves.hpp"
#include "solvers/plan.hpp"

namespace lasolve {

/// Factors a panel C, from its diagonal down, by halving its columns until they are at most `leaf`: right-looking on two block
/// columns. It calls
///   factor(C1)        [A11; A21] = [L11; L21] L11ᵀ, C1 a leaf from its diagonal down
///   update(C2, left)  A22 ← A22 − L21 L21ᵀ, C2 the right block column from its diagonal down, `left` the columns of L21
/// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
template <class Factor, class Update>
void cholesky_panel_by_halves(const Block& C, std::int64_t leaf, const Factor& factor, const Update& update) {
  if (C.n <= leaf) return factor(C);
  const std::int64_t n1 = first_half(C.n, leaf), middle = C.j + n1;
  const Range rows = C.rows(), left{C.j, middle}, right{middle, C.j + C.n};
  const Block C2{{rows.begin + n1, rows.end}, right};
  cholesky_panel_by_halves({rows, left}, leaf, factor, update);
  update(C2, left);
  cholesky_panel_by_halves(C2, leaf, factor, update);
}

/// C ← C − L Lᵀ on and below the diagonal, rows and columns c, by halving them until they are at most `leaf`. Below the diagonal blocks
/// products are as large as they can be. It calls
///   update(c1)        C11 ← C11 − L1 L1ᵀ, all of a diagonal block
///   product(c2, c1)   C21 ← C21 − L2 L1ᵀ
template <class Update, class Product>
void symmetric_update_by_halves(Range c, std::int64_t leaf, const Update& update, const Product& product) {
  if (c.count() <= leaf) return update(c);
  const std::int64_t middle = c.begin + first_half(c.count(), leaf);
  const Range first{c.begin, middle}, second{middle, c.end};
  symmetric_update_by_halves(first, leaf, update, product);
  product(second, first);
  symmetric_update_by_halves(second, leaf, update, product);
}

}  // namespace lasolve
