// P A = L U with partial pivoting. The algorithm is written once, over primitives that solvers/places/cpu and solvers/places/cuda
// provide: panel_lu and its leaf, swap_rows and what makes it fast, solve_leaf (in trsm), and the GEMM backend.
#pragma once

#include <vector>

#include "solvers/trsm.hpp"

namespace lasolve {

constexpr double cube(double n) { return n * n * n; }
/// Textbook counts, from which all rates are computed.
constexpr double lu_flops(double n) { return 2.0 / 3.0 * cube(n); }
constexpr double panel_flops(double m, double n) { return m * n * n - n * n * n / 3; }

/// Steps whose exchanges a place makes at once.
struct Exchanges {
  std::int64_t start, count;
  bool combined;
};

/// The row exchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1. The further columns of p, and `known`, the
/// exchanges so far, are the place's own.
template <class Place>
struct Pivots {
  MatrixView<std::int64_t, Place> p, zero;
  std::vector<Exchanges>* known = nullptr;
  std::int64_t start = 0;

  static constexpr std::int64_t columns = 9;
  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const { return {p.block(i, 0, n, p.cols()), zero, known, start + i}; }
};

/// Factors A (m × n, m ≥ n), whose row 0 is row pivots.start, by halving its columns: the same four steps as
/// right-looking, on two block columns.
/// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
template <class T, class Place>
void lu_recursive(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots) {
  const std::int64_t m = A.rows(), n = A.cols(), leaf = panel_leaf_columns(q, A);
  if (n <= leaf) return panel_lu_leaf(q, A, pivots);
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
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

/// The rows of U in columns C (rows start, …), whose rows were exchanged, given a factored panel L = [L11; L21] of nb
/// columns; as a phase or as a part of the one that runs.
template <class T, class Place>
void solve_for_U(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, MatrixView<T, Place> C,
                 bool as_phase = true) {
  const std::int64_t nb = L.cols(), n = C.cols();
  if (n == 0) return;
  if (as_phase) q.phase(Phase::trsm, double(nb) * double(nb) * double(n));
  trsm_left(q, gemm, lower_unit(L.block(0, 0, nb, nb)), C.block(0, 0, nb, n));  // C1 ← inv(L11) C1, which is U
}

template <class T, class Place>
void exchange_and_solve(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, Pivots<Place> pivots,
                        MatrixView<T, Place> C, bool as_phases = true) {
  if (C.empty()) return;
  if (as_phases) q.phase(Phase::swap);
  swap_rows(q, C, pivots);  // [C1; C2] ← P [C1; C2]
  solve_for_U(q, gemm, L, C, as_phases);
}

/// The rows below those of U.
template <class T, class Place>
void subtract_LU(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, MatrixView<T, Place> C,
                 bool as_phase = true) {
  const std::int64_t m = L.rows(), nb = L.cols(), n = C.cols();
  if (n == 0) return;
  if (as_phase) q.phase(Phase::gemm, 2.0 * double(m - nb) * double(nb) * double(n));
  gemm(q, T(-1), L.block(nb, 0, m - nb, nb), C.block(0, 0, nb, n), T(1), C.block(nb, 0, m - nb, n));  // C2 ← C2 − L21 U
}

/// Brings columns up to date with a factored panel.
template <class T, class Place>
void eliminate(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> L, Pivots<Place> pivots,
               MatrixView<T, Place> C, bool as_phases = true) {
  exchange_and_solve(q, gemm, L, pivots, C, as_phases);
  subtract_LU(q, gemm, L, C, as_phases);
}
template <class T, class Place>
double eliminate_flops(MatrixView<T, Place> L, MatrixView<T, Place> C) {
  return double(2 * L.rows() - L.cols()) * double(L.cols()) * double(C.cols());
}

/// By halving its columns down to panels of nb: as many flops as possible are in products with a large k. A: m × n, m ≥ n.
template <class T, class Place>
void factor_lu_recursive(Queue<Place>& q, const Gemm<T, Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
                         std::int64_t nb) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (n <= nb) {
    q.phase(Phase::panel, panel_flops(double(m), double(n)));
    if (!panel_lu(q, gemm, A, pivots)) swap_rows(q, A, pivots);
    return combine_exchanges(q, pivots);
  }
  const std::int64_t n1 = first_half(n, nb), n2 = n - n1;
  const auto p1 = pivots.block(0, n1), p2 = pivots.block(n1, n2);
  factor_lu_recursive(q, gemm, A.columns(0, n1), p1, nb);
  eliminate(q, gemm, A.columns(0, n1), p1, A.columns(n1, n2));
  factor_lu_recursive(q, gemm, A.block(n1, n1, m - n1, n2), p2, nb);
  q.phase(Phase::swap);
  swap_rows(q, A.block(n1, 0, m - n1, n1), p2);
}

}  // namespace lasolve
