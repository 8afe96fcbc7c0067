// P A = L U with partial pivoting. The algorithm is written once, over primitives that solvers/cpu and solvers/cuda
// provide: panel_lu and its leaf, swap_rows, solve_leaf (in trsm), and the GEMM backend.
#pragma once

#include <vector>

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cube(double n) { return n * n * n; }
/// Textbook counts, from which all rates are computed.
constexpr double lu_flops(double n) { return 2.0 / 3.0 * cube(n); }
constexpr double panel_flops(double m, double n) { return m * n * n - n * n * n / 3; }

/// The row exchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1. The further columns of p, and `panels`, where those
/// begin that were factored at once, are the place's own.
template <class Place>
struct Pivots {
  MatrixView<std::int64_t, Place> p, zero;
  std::vector<std::int64_t>* panels = nullptr;
  std::int64_t start = 0;

  static constexpr std::int64_t columns = 5;
  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const { return {p.block(i, 0, n, p.cols()), zero, panels, start + i}; }
};

/// Factors A (m × n, m ≥ n), whose row 0 is row pivots.start, by halving its columns: the same four steps as
/// right-looking, on two block columns.
/// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
template <class T, class Place>
void lu_recursive(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (n <= panel_leaf_columns(q, A)) return panel_lu_leaf(q, A, pivots);
  const std::int64_t leaf = panel_leaf_columns(q, A), n1 = (n / leaf + 1) / 2 * leaf, n2 = n - n1;
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

/// Brings a block column C (rows start, …) up to date with a factored panel L = [L11; L21] of nb columns.
template <class T, class Place>
void eliminate(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> L, Pivots<Place> pivots,
               MatrixView<T, Place> C) {
  const std::int64_t m = L.rows(), nb = L.cols(), n = C.cols();
  if (n == 0) return;
  const auto L11 = L.block(0, 0, nb, nb), L21 = L.block(nb, 0, m - nb, nb);
  const auto C1 = C.block(0, 0, nb, n), C2 = C.block(nb, 0, m - nb, n);

  q.phase(Phase::swap);
  swap_rows(q, C, pivots);  // [C1; C2] ← P [C1; C2]
  q.phase(Phase::trsm, double(nb) * double(nb) * double(n));
  trsm_left(q, gemm, lower_unit(L11), C1);  // C1 ← inv(L11) C1, which is U
  q.phase(Phase::gemm, 2.0 * double(m - nb) * double(nb) * double(n));
  gemm(q, T(-1), L21, C1, T(1), C2);  // C2 ← C2 − L21 C1
}

/// Right-looking, in panels of nb columns, with look-ahead: where a device has two queues, the next panel is brought up to
/// date and factored on the one while the columns behind it are updated on the other. On exit A holds U and, below the
/// diagonal, L with its unit diagonal left out. A zero pivot is recorded and the elimination goes on, as in LAPACK's
/// getrf. A: n × n. Flops 2/3 n³.
template <class T, class Place>
void factor_lu(Queue<Place>& bulk, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
               std::int64_t nb) {
  Queue<Place>& ahead = bulk.ahead();
  const std::int64_t n = A.rows();
  if (n == 0) return;
  const auto factor_panel = [&](std::int64_t j, std::int64_t jb) {
    ahead.phase(Phase::panel, panel_flops(double(n - j), double(jb)));
    panel_lu(ahead, gemm, A.block(j, j, n - j, jb), pivots.block(j, jb));  // P [A11; A21] = [L11; L21] U11
  };
  ahead.wait(bulk);
  factor_panel(0, std::min(nb, n));
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j), rest = n - j - jb, next = std::min(nb, rest);
    const std::int64_t first = &ahead != &bulk ? next : rest;  // how much of the rest the next panel waits for
    const auto L = A.block(j, j, n - j, jb);
    const auto p = pivots.block(j, jb);

    bulk.wait(ahead);  // panel j is factored
    ahead.wait(bulk);  // its columns are up to date with the panel before
    eliminate(ahead, gemm, L, p, A.block(j, j + jb, n - j, first));
    if (next > 0) factor_panel(j + jb, next);

    bulk.phase(Phase::swap);
    swap_rows(bulk, A.block(j, 0, n - j, j), p);  // the rows of L to the left
    eliminate(bulk, gemm, L, p, A.block(j, j + jb + first, n - j, rest - first));
  }
  bulk.wait(ahead);
}

/// By halving its columns down to panels of nb: as many flops as possible are in products with a large k. A: m × n, m ≥ n.
template <class T, class Place>
void factor_lu_recursive(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
                         std::int64_t nb) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (n <= nb) {
    q.phase(Phase::panel, panel_flops(double(m), double(n)));
    return panel_lu(q, gemm, A, pivots);
  }
  const std::int64_t n1 = (n / nb + 1) / 2 * nb, n2 = n - n1;
  const auto p1 = pivots.block(0, n1), p2 = pivots.block(n1, n2);
  factor_lu_recursive(q, gemm, A.columns(0, n1), p1, nb);
  eliminate(q, gemm, A.columns(0, n1), p1, A.columns(n1, n2));
  factor_lu_recursive(q, gemm, A.block(n1, n1, m - n1, n2), p2, nb);
  q.phase(Phase::swap);
  swap_rows(q, A.block(n1, 0, m - n1, n1), p2);
}

}  // namespace lasolve
