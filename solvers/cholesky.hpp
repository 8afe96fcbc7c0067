// What the tasks of A = L Lᵀ do, for a symmetric positive definite A of which only the lower triangle counts: panels by halving,
// and symmetric updates. Written once, over primitives that solvers/devices/cpu and solvers/devices/cuda provide: panel_cholesky_leaf,
// how wide leaves and block columns are, and the GEMM backend.
#pragma once

#include "solvers/cholesky/halves.hpp"
#include "solvers/flops.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// Where a factorization found that A is not positive definite. `bad_minor` is 1 × 1: the order of the first leading
/// minor that is not positive, or −1; row 0 of the block at hand is row `first` of the matrix that it speaks of. On trial it may be 0
/// from the beginning: A is not symmetric, and leaves may be left as they are.
template <class Space>
struct Minors {
  MatrixView<std::int64_t, Space> bad_minor;
  std::int64_t first = 0;
  bool on_trial = false;

  constexpr Minors from(std::int64_t i) const { return {bad_minor, first + i, on_trial}; }
};

/// C ← C − L L1ᵀ for few columns within a panel, and where L1 are the first rows of L only on and below the diagonal. L: m × k,
/// L1: n × k, C: m × n.
template <class T, class Space>
void narrow_update(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> L, MatrixView<T, Space> L1,
                   MatrixView<T, Space> C) {
  if (C.empty() || L.cols() == 0 || try_narrow_update(q, L, L1, C)) return;
  gemm(q, T(-1), L, transposed(L1), T(1), C);
}

/// [A11; A21] = [L11; L21] L11ᵀ for a block column A (m × n, m ≥ n), by halving its columns. The strict upper triangle of A11 has
/// no influence and is not meaningful on exit.
template <class T, class Space>
void cholesky_recursive(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> A, Minors<Space> minors) {
  const auto at = [&](Range rows, Range columns) {
    return A.block(rows.begin, columns.begin, rows.count(), columns.count());
  };
  cholesky_panel_by_halves(
      {{0, A.rows()}, {0, A.cols()}}, cholesky_leaf_columns(q, A),
      [&](const Block& leaf) { panel_cholesky_leaf(q, gemm, at(leaf.rows(), leaf.columns()), minors.from(leaf.j)); },
      [&](const Block& C, Range left) {
        const Range first{C.i, C.i + C.n};
        narrow_update(q, gemm, at(C.rows(), left), at(first, left), at(C.rows(), C.columns()));
      });
}

/// C ← C − L L1ᵀ for a block column C from its diagonal down, m × n, and L1 the first n rows of L, m × k. Of a wide one the
/// block on the diagonal goes by block columns, so that less is computed above the diagonal.
template <class T, class Space>
void update_block_column(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> L, MatrixView<T, Space> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = L.cols(), width = diagonal_update_columns(q),
                     end = n > width ? n : m;
  for (std::int64_t j = 0; j < n; j += width) {
    const std::int64_t w = std::min(width, n - j);
    gemm(q, T(-1), L.block(j, 0, end - j, k), transposed(L.block(j, 0, w, k)), T(1), C.block(j, j, end - j, w));
  }
  if (end < m) gemm(q, T(-1), L.block(n, 0, m - n, k), transposed(L.block(0, 0, n, k)), T(1), C.block(n, 0, m - n, n));
}

/// C ← C − L Lᵀ on and below the diagonal of a block column C, m × n, from its diagonal down. L: m × k. By narrower block columns,
/// each one product. The upper triangle of the blocks on the diagonal is overwritten.
template <class T, class Space>
void update_lower(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> L, MatrixView<T, Space> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = L.cols(), width = symmetric_update_columns(q, m);
  for (std::int64_t j = 0; j < n; j += width) {
    const std::int64_t w = std::min(width, n - j);
    gemm(q, T(-1), L.block(j, 0, m - j, k), transposed(L.block(j, 0, w, k)), T(1), C.block(j, j, m - j, w));
  }
}

}  // namespace lasolve
