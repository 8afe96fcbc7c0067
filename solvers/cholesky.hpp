// A = L Lᵀ for a symmetric positive definite A, of which only the lower triangle is read. Written once, over
// primitives that solvers/cpu and solvers/cuda provide: panel_cholesky, solve_leaf_right (in trsm), and the GEMM backend.
#pragma once

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cholesky_flops(double n) { return 1.0 / 3.0 * n * n * n; }

/// C ← C − A Aᵀ on the lower triangle of C, by halving: two half-size updates and one GEMM. The upper triangle of
/// leaves is overwritten. A: n × k, C: n × n. Flops n² k.
template <class T, class Place>
void update_lower(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, MatrixView<T, Place> C) {
  const std::int64_t n = C.rows(), k = A.cols();
  if (n <= symmetric_leaf_order(q)) return gemm(q, T(-1), A, transposed(A), T(1), C);
  const std::int64_t n1 = n / 2, n2 = n - n1;
  const auto A1 = A.block(0, 0, n1, k), A2 = A.block(n1, 0, n2, k);
  update_lower(q, gemm, A1, C.block(0, 0, n1, n1));
  gemm(q, T(-1), A2, transposed(A1), T(1), C.block(n1, 0, n2, n1));
  update_lower(q, gemm, A2, C.block(n1, n1, n2, n2));
}

/// Factors A by halving. `bad_minor` is 1 × 1: the order of the first leading minor that is not positive, or −1; row 0
/// of A is row `first` of the matrix that it speaks of.
/// Source: Gustavson, "Recursion leads to automatic variable blocking for dense linear-algebra algorithms", 1997.
template <class T, class Place>
void cholesky_recursive(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, std::int64_t first,
                        MatrixView<std::int64_t, Place> bad_minor) {
  const std::int64_t n = A.rows(), n1 = n / 2, n2 = n - n1;
  if (n <= panel_leaf_columns(q, A)) return panel_cholesky_leaf(q, A, first, bad_minor);
  const auto A11 = A.block(0, 0, n1, n1), A21 = A.block(n1, 0, n2, n1), A22 = A.block(n1, n1, n2, n2);
  cholesky_recursive(q, gemm, A11, first, bad_minor);
  trsm_right(q, gemm, lower(A11).transposed(), A21);
  update_lower(q, gemm, A21, A22);
  cholesky_recursive(q, gemm, A22, first + n1, bad_minor);
}

/// Right-looking, in panels of nb columns. On exit the lower triangle of A holds L; the upper is not meaningful.
/// A: n × n. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                     MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb) {
  const std::int64_t n = A.rows();
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j), rest = n - j - jb;
    const auto A11 = A.block(j, j, jb, jb), A21 = A.block(j + jb, j, rest, jb);
    const auto A22 = A.block(j + jb, j + jb, rest, rest);

    q.phase(Phase::panel, cholesky_flops(double(jb)));
    panel_cholesky(q, gemm, A11, j, bad_minor);  // A11 = L11 L11ᵀ
    if (known_to_have_failed(q, bad_minor)) return;
    q.phase(Phase::trsm, double(jb) * double(jb) * double(rest));
    trsm_right(q, gemm, lower(A11).transposed(), A21);  // L21 = A21 inv(L11)ᵀ
    q.phase(Phase::gemm, double(rest) * double(rest) * double(jb));
    update_lower(q, gemm, A21, A22);  // A22 ← A22 − L21 L21ᵀ
  }
}

}  // namespace lasolve
