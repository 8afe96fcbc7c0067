// A = L Lᵀ for a symmetric positive definite A, of which only the lower triangle counts. Written once, over
// primitives that solvers/places/cpu and solvers/places/cuda provide: panel_cholesky_leaf, how wide panels and block columns are, and the GEMM
// backend.
#pragma once

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cholesky_flops(double n) { return 1.0 / 3.0 * n * n * n; }
/// Of a block column, m × n.
constexpr double cholesky_panel_flops(double m, double n) { return m * n * n - 2.0 / 3.0 * n * n * n; }

/// Where a factorization found that A is not positive definite. `bad_minor` is 1 × 1: the order of the first leading
/// minor that is not positive, or −1; row 0 of the block at hand is row `first` of the matrix that it speaks of.
template <class Place>
struct Minors {
  MatrixView<std::int64_t, Place> bad_minor;
  std::int64_t first = 0;

  constexpr Minors from(std::int64_t i) const { return {bad_minor, first + i}; }
};

/// C ← C − L L1ᵀ for few columns within a panel, and where L1 are the first rows of L only on and below the diagonal. L: m × k,
/// L1: n × k, C: m × n.
template <class T, class Place>
void update_near(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, MatrixView<T, Place> L1,
                 MatrixView<T, Place> C) {
  if (C.empty() || L.cols() == 0 || update_at_once(q, L, L1, C)) return;
  gemm(q, T(-1), L, transposed(L1), T(1), C);
}

/// [A11; A21] = [L11; L21] L11ᵀ for a block column A (m × n, m ≥ n), by halving its columns: right-looking on two block
/// columns. The strict upper triangle of A11 has no influence and is not meaningful on exit.
template <class T, class Place>
void cholesky_recursive(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, Minors<Place> minors) {
  const std::int64_t m = A.rows();
  by_halves(
      0, A.cols(), cholesky_leaf_columns(q, A),
      [&](std::int64_t j, std::int64_t n) { panel_cholesky_leaf(q, gemm, A.block(j, j, m - j, n), minors.from(j)); },
      [&](std::int64_t j, std::int64_t k, std::int64_t n) {
        const std::int64_t i = j + k;
        update_near(q, gemm, A.block(i, j, m - i, k), A.block(i, j, n, k),
                    A.block(i, i, m - i, n));  // A22 ← A22 − L21 L21ᵀ
      });
}

/// C ← C − L L1ᵀ for a block column C from its diagonal down, m × n, and L1 the first n rows of L, m × k. Of a wide one the
/// block on the diagonal goes by block columns, so that less is computed above the diagonal.
template <class T, class Place>
void update_block_column(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, MatrixView<T, Place> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = L.cols(), width = diagonal_update_columns(q),
                     end = n > width ? n : m;
  for (std::int64_t j = 0; j < n; j += width) {
    const std::int64_t w = std::min(width, n - j);
    gemm(q, T(-1), L.block(j, 0, end - j, k), transposed(L.block(j, 0, w, k)), T(1), C.block(j, j, end - j, w));
  }
  if (end < m) gemm(q, T(-1), L.block(n, 0, m - n, k), transposed(L.block(0, 0, n, k)), T(1), C.block(n, 0, m - n, n));
}

/// C ← C − A Aᵀ on the lower triangle of C, by block columns, each one GEMM from its diagonal down, which two queues
/// take in turns. The upper triangle of the blocks on the diagonal is overwritten. A: n × k, C: n × n. Flops n² k.
template <class T, class Place>
void update_lower(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, MatrixView<T, Place> C) {
  const std::int64_t n = C.rows(), k = A.cols(), width = symmetric_update_columns(q, n);
  Queue<Place>& other = n > width ? q.beside() : q;
  const auto block_column = [&](Queue<Place>& one, std::int64_t j) {
    const std::int64_t w = std::min(width, n - j);
    gemm(one, T(-1), A.block(j, 0, n - j, k), transposed(A.block(j, 0, w, k)), T(1), C.block(j, j, n - j, w));
  };
  other.wait(q);
  for (std::int64_t j = 0; j < n; j += 2 * width) {
    block_column(q, j);
    if (j + width < n) block_column(other, j + width);
  }
  q.join(other);
}

/// Right-looking, in panels of at most nb columns, with look-ahead. On exit the lower triangle of A holds
/// L; the upper is not meaningful. A: n × n. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky(Queue<Place>& bulk, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
                     MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb) {
  Queue<Place>& ahead = bulk.ahead();
  const std::int64_t n = A.rows();
  const auto panel_columns = [&](std::int64_t j) { return std::min(n - j, cholesky_panel_columns(bulk, nb, n - j)); };
  const auto factor_panel = [&](std::int64_t j, std::int64_t jb) {
    ahead.phase(Phase::panel, cholesky_panel_flops(double(n - j), double(jb)));
    cholesky_recursive(ahead, gemm, A.block(j, j, n - j, jb), Minors<Place>{bad_minor, j});
  };
  if (n == 0) return;
  ahead.wait(bulk);
  std::int64_t jb = panel_columns(0);
  factor_panel(0, jb);
  for (std::int64_t j = 0, j2 = jb; j2 < n; j = j2, j2 += jb) {
    if (known_to_have_failed(bulk, bad_minor)) return;
    const std::int64_t next = panel_columns(j2), j3 = j2 + next;
    const auto L2 = A.block(j2, j, n - j2, jb), L3 = A.block(j3, j, n - j3, jb);

    bulk.wait(ahead);  // panel j is factored
    ahead.wait(bulk);  // the next one is up to date with the panel before
    ahead.phase(Phase::gemm, double(next) * double(2 * (n - j3) + next) * double(jb));
    gemm(ahead, T(-1), L2, transposed(L2.block(0, 0, next, jb)), T(1), A.block(j2, j2, n - j2, next));
    factor_panel(j2, next);

    bulk.phase(Phase::gemm, double(n - j3) * double(n - j3) * double(jb));
    update_lower(bulk, gemm, L3, A.block(j3, j3, n - j3, n - j3));
    jb = next;
  }
  bulk.wait(ahead);
}

/// By halving, down to diagonal blocks of nb: as many flops as possible are in products with a large k. A: n × n.
template <class T, class Place>
void factor_cholesky_recursive(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A,
                               Minors<Place> minors, std::int64_t nb) {
  by_halves(
      0, A.cols(), nb,
      [&](std::int64_t j, std::int64_t n) {
        if (known_to_have_failed(q, minors.bad_minor)) return;
        q.phase(Phase::panel, cholesky_flops(double(n)));
        cholesky_recursive(q, gemm, A.block(j, j, n, n), minors.from(j));  // A11 = L11 L11ᵀ
      },
      [&](std::int64_t j, std::int64_t k, std::int64_t n) {
        if (known_to_have_failed(q, minors.bad_minor)) return;
        const auto A11 = A.block(j, j, k, k), A21 = A.block(j + k, j, n, k), A22 = A.block(j + k, j + k, n, n);
        q.phase(Phase::trsm, double(k) * double(k) * double(n));
        trsm_right(q, gemm, lower(A11).transposed(), A21);  // L21 = A21 inv(L11)ᵀ
        q.phase(Phase::gemm, double(n) * double(n) * double(k));
        update_lower(q, gemm, A21, A22);  // A22 ← A22 − L21 L21ᵀ
      });
}

}  // namespace lasolve
