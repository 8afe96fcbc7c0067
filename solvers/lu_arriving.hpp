// P A = L U of a matrix whose columns arrive one after the other: left-looking, so that each block column is touched only
// when its turn has come. Over the same primitives as lu.hpp.
#pragma once

#include <functional>

#include "solvers/lu.hpp"

namespace lasolve {

/// Enqueues what writes columns first, first + 1, … of A.
template <class T, class Place>
using Supply = std::function<void(Queue<Place>&, std::int64_t first, MatrixView<T, Place> columns)>;

/// Left-looking, in block columns of nb, with look-ahead: while one is factored, the next arrives and is brought up to
/// date with all before. On exit as factor_lu. A: n × n, undefined on entry. Flops 2/3 n³.
template <class T, class Place>
void factor_lu_arriving(Queue<Place>& bulk, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                        Pivots<Place> pivots, std::int64_t nb, const Supply<T, Place>& supply) {
  Queue<Place>& ahead = bulk.ahead();
  const std::int64_t n = A.rows();
  const auto factor_block = [&](std::int64_t j, std::int64_t jb) {
    ahead.wait(bulk);  // its columns are up to date
    ahead.phase(Phase::panel, panel_flops(double(n - j), double(jb)));
    panel_lu(ahead, gemm, A.block(j, j, n - j, jb), pivots.block(j, jb));
  };
  const std::int64_t first = std::min(nb, n);
  supply(bulk, 0, A.columns(0, first));
  factor_block(0, first);
  for (std::int64_t j = 0; j + nb < n; j += nb) {
    const std::int64_t next = std::min(nb, n - j - nb);
    const auto p = pivots.block(j, nb);
    const auto C = A.columns(j + nb, next);
    supply(bulk, j + nb, C);
    if (j > 0) eliminate(bulk, gemm, A.columns(0, j), pivots.block(0, j), C);  // by the blocks before block j

    bulk.wait(ahead);  // block j is factored
    bulk.phase(Phase::swap);
    swap_rows(bulk, A.block(j, 0, n - j, j), p);  // the rows of L to the left
    eliminate(bulk, gemm, A.block(j, j, n - j, nb), p, C.block(j, 0, n - j, next));
    factor_block(j + nb, next);
  }
  const std::int64_t last = (n - 1) / nb * nb;
  bulk.wait(ahead);
  bulk.phase(Phase::swap);
  swap_rows(bulk, A.block(last, 0, n - last, last), pivots.block(last, n - last));
}

}  // namespace lasolve
