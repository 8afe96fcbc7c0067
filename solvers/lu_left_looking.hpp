// P A = L U, left-looking: each block column is touched only when its turn has come, and so may arrive late. Over the same
// primitives as lu.hpp.
#pragma once

#include "solvers/lu.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Left-looking, with look-ahead: while a block column is factored, the next arrives and is brought up to date with all
/// before. Block columns have nb columns; with a supply they are narrower at first, so that little must be there for the
/// work to begin.
/// On exit as factor_lu. A: n × n; with a supply, undefined on entry. Flops 2/3 n³.
template <class T, class Place>
void factor_lu_left_looking(Queue<Place>& bulk, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
                            Pivots<Place> pivots, std::int64_t nb, const Supply<T, Place>& supply) {
  Queue<Place>& ahead = bulk.ahead();
  const std::int64_t n = A.rows(), narrow = (nb + 7) / 8;
  const auto width = [&](std::int64_t j) {
    return std::min(supply ? std::clamp(j / 2 / narrow * narrow, narrow, nb) : nb, n - j);
  };
  for (std::int64_t j = 0, jb = 0, next = width(0);; j += jb, jb = next, next = width(j + jb)) {
    // Block column [j, j + jb) is being factored ahead; [j + jb, j + jb + next) is to follow.
    const auto L = A.block(j, j, n - j, jb), C = A.columns(j + jb, next);
    const auto p = pivots.block(j, jb);
    if (next > 0 && supply) supply(bulk, j + jb, C);
    if (j > 0) eliminate(bulk, gemm, A.columns(0, j), pivots.block(0, j), C);

    bulk.wait(ahead);
    bulk.phase(Phase::swap);
    if (jb > 0) combine_exchanges(bulk, p);
    swap_rows(bulk, A.block(j, 0, n - j, j), p);  // the rows of L to the left
    if (next == 0) return;
    if (jb > 0) eliminate(bulk, gemm, L, p, C.block(j, 0, n - j, next));

    const std::int64_t k = j + jb;
    ahead.wait(bulk);
    ahead.phase(Phase::panel, panel_flops(double(n - k), double(next)));
    const auto P = A.block(k, k, n - k, next);
    if (!panel_lu(ahead, gemm, P, pivots.block(k, next))) swap_rows(ahead, P, pivots.block(k, next));
  }
}

}  // namespace lasolve
