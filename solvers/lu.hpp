// P A = L U with partial pivoting. The algorithm is written once, over primitives that solvers/cpu and solvers/cuda
// provide: panel_lu, swap_rows, solve_leaf (in trsm), and the GEMM backend.
#pragma once

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cube(double n) { return n * n * n; }
/// Textbook counts, from which all rates are computed.
constexpr double lu_flops(double n) { return 2.0 / 3.0 * cube(n); }
constexpr double panel_flops(double m, double n) { return m * n * n - n * n * n / 3; }

/// The row exchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1.
template <class Place>
struct Pivots {
  MatrixView<std::int64_t, Place> p, zero;
  std::int64_t start = 0;

  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const { return {p.block(i, 0, n, 1), zero, start + i}; }
};

/// Factors A (m × n, m ≥ n), whose row 0 is row pivots.start, by halving its columns: the same four steps as
/// right-looking, on two block columns.
/// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
template <class T, class Place>
void lu_recursive(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (n <= panel_leaf_columns(q)) return panel_lu_leaf(q, A, pivots);
  const std::int64_t n1 = n / 2, n2 = n - n1;
  const auto A1 = A.columns(0, n1), A2 = A.columns(n1, n2), A11 = A.block(0, 0, n1, n1), A12 = A.block(0, n1, n1, n2);
  const auto A21 = A.block(n1, 0, m - n1, n1), A22 = A.block(n1, n1, m - n1, n2);
  const auto p1 = pivots.block(0, n1), p2 = pivots.block(n1, n2);

  lu_recursive(q, gemm, A1, p1);             // P [A11; A21] = [L11; L21] U11
  swap_rows(q, A2, p1);                      // [A12; A22] ← P [A12; A22]
  trsm_left(q, gemm, lower_unit(A11), A12);  // U12 = inv(L11) A12
  gemm(q, T(-1), A21, A12, T(1), A22);       // A22 ← A22 − L21 U12
  lu_recursive(q, gemm, A22, p2);            // P A22 = L22 U22
  swap_rows(q, A21, p2);                     // L21 ← P L21
}

/// Right-looking, in panels of nb columns. On exit A holds U and, below the diagonal, L with its unit diagonal left
/// out. A zero pivot is recorded and the elimination goes on, as in LAPACK's getrf. A: n × n. Flops 2/3 n³.
template <class T, class Place>
void factor_lu(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
               std::int64_t nb) {
  const std::int64_t n = A.rows();
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j), rest = n - j - jb;
    const auto A1 = A.block(j, j, n - j, jb), A2 = A.block(j, j + jb, n - j, rest);
    const auto A11 = A.block(j, j, jb, jb), A12 = A.block(j, j + jb, jb, rest);
    const auto A21 = A.block(j + jb, j, rest, jb), A22 = A.block(j + jb, j + jb, rest, rest);
    const auto p = pivots.block(j, jb);

    q.phase(Phase::panel, panel_flops(double(n - j), double(jb)));
    panel_lu(q, gemm, A1, p);  // P [A11; A21] = [L11; L21] U11
    q.phase(Phase::swap);
    swap_rows(q, A.block(j, 0, n - j, j), p);  // L ← P L
    swap_rows(q, A2, p);                       // [A12; A22] ← P [A12; A22]
    q.phase(Phase::trsm, double(jb) * double(jb) * double(rest));
    trsm_left(q, gemm, lower_unit(A11), A12);  // U12 = inv(L11) A12
    q.phase(Phase::gemm, 2.0 * double(rest) * double(rest) * double(jb));
    gemm(q, T(-1), A21, A12, T(1), A22);  // A22 ← A22 − L21 U12
  }
}

}  // namespace lasolve
