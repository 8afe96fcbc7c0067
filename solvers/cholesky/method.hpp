// Cholesky: A = L Lᵀ of a symmetric positive definite A of which only the lower triangle counts. What its tasks do, panels by halving and
// symmetric updates, over primitives of a device: panel_cholesky_leaf, how wide leaves and block
// columns are, and the GEMM backend.
#pragma once

#include "solvers/cholesky/halves.hpp"
#include "solvers/cholesky/tasks.hpp"
#include "solvers/method.hpp"
#include "solvers/trsm.hpp"
#include "solvers/workpiece.hpp"

namespace lasolve {

/// Where a factorization found that A is not positive definite. `bad_minor` is 1 × 1: the order of the first leading
/// minor that is not positive, or −1; row 0 of the block at hand is row `first` of the matrix that it speaks of. Where Cholesky
/// is speculative it may be 0 from the beginning: A is not symmetric, and leaves may be left as they are.
template <class Space>
struct Minors {
  MatrixView<std::int64_t, Space> bad_minor;
  std::int64_t first = 0;
  bool is_speculative = false;

  constexpr Minors from(std::int64_t i) const { return {bad_minor, first + i, is_speculative}; }
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

/// C ← C − L Lᵀ on and below the diagonal. C: n × n, L: n × k. As one product where the backend has a function for that, else by halves; of
/// the blocks on the diagonal the upper triangle is overwritten.
template <class T, class Space>
void update_lower(Queue<Space>& q, const Gemm<T, Space>& gemm, MatrixView<T, Space> L, MatrixView<T, Space> C) {
  if (gemm.has_lower()) return gemm.lower(q, T(-1), L, transposed(L), T(1), C);
  const auto product = [&](Range r, Range c) {
    const auto of_L = [&](Range rows) { return L.block(rows.begin, 0, rows.count(), L.cols()); };
    gemm(q, T(-1), of_L(r), transposed(of_L(c)), T(1), C.block(r.begin, c.begin, r.count(), c.count()));
  };
  symmetric_update_by_halves(
      {0, C.rows()}, symmetric_update_columns(q), [&](Range c) { product(c, c); }, product);
}

struct Cholesky {
  static const MethodRecord record;

  /// On exit of all, A holds L on and below the diagonal; what is above is not meaningful. Throws std::logic_error where Cholesky has no
  /// such task.
  template <class T, class Space>
  static void perform(Queue<Space>& q, const Task& task, const Workpiece<T, Space>& of) {
    const auto C = of.at(task.C), L = of.at(task.L);
    if (task.is(cholesky_task::panel))  // [A11; A21] = [L11; L21] L11ᵀ
      return cholesky_recursive(q, of.gemm, C, Minors<Space>{of.pivots.zero, task.C.i, of.is_speculative});
    if (task.is(cholesky_task::solve)) return trsm_right(q, of.gemm, lower(L).transposed(), C);  // L21 = A21 inv(L11)ᵀ
    if (task.is(cholesky_task::product))  // A21 ← A21 − A20 L10ᵀ
      return of.gemm(q, T(-1), L, transposed(of.at(task.U)), T(1), C);
    if (task.is(cholesky_task::update))  // [A22; A32] ← [A22; A32] − [L21; L31] L21ᵀ
      return update_block_column(q, of.gemm, L, C);
    if (task.is(cholesky_task::update_lower)) return update_lower(q, of.gemm, L, C);  // A22 ← A22 − L21 L21ᵀ
    if (task.is(cholesky_task::narrow_update))  // [A22; A32] ← [A22; A32] − [L21; L31] L21ᵀ, or of A32 alone
      return narrow_update(q, of.gemm, L, of.at(task.U), C);
    throw std::logic_error("lasolve: a plan has a task that its method has not");
  }
};

}  // namespace lasolve
