// P A = L U with partial pivoting. The algorithm is written once, over primitives that solvers/cpu and solvers/cuda
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

/// The rows of U in a block column C (rows start, …), given a factored panel L = [L11; L21] of nb columns.
template <class T, class Place>
void solve_for_U(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> L, Pivots<Place> pivots,
                 MatrixView<T, Place> C) {
  const std::int64_t nb = L.cols(), n = C.cols();
  if (n == 0) return;
  q.phase(Phase::swap);
  swap_rows(q, C, pivots);  // [C1; C2] ← P [C1; C2]
  q.phase(Phase::trsm, double(nb) * double(nb) * double(n));
  trsm_left(q, gemm, lower_unit(L.block(0, 0, nb, nb)), C.block(0, 0, nb, n));  // C1 ← inv(L11) C1, which is U
}

/// The rows below them.
template <class T, class Place>
void subtract_LU(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> L, MatrixView<T, Place> C) {
  const std::int64_t m = L.rows(), nb = L.cols(), n = C.cols();
  if (n == 0) return;
  q.phase(Phase::gemm, 2.0 * double(m - nb) * double(nb) * double(n));
  gemm(q, T(-1), L.block(nb, 0, m - nb, nb), C.block(0, 0, nb, n), T(1), C.block(nb, 0, m - nb, n));  // C2 ← C2 − L21 U
}

/// Brings a block column up to date with a factored panel.
template <class T, class Place>
void eliminate(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> L, Pivots<Place> pivots,
               MatrixView<T, Place> C) {
  solve_for_U(q, gemm, L, pivots, C);
  subtract_LU(q, gemm, L, C);
}

/// How LU walks at some point: panels of `panel` columns, of which `step` are factored at a time.
struct LuWidths {
  std::int64_t panel, step;
};

/// Right-looking, in panels of at most nb columns, with look-ahead in three queues, each before the next:
/// `chain`, what all wait for: a step of a panel is factored, and the columns of the next step are brought up to date;
/// `near`, the other columns up to the end of the next panel, step by step;
/// `bulk`, the columns behind it, once a panel is factored; first those that will be near next.
/// Where a device has one queue, a step brings all columns behind it up to date. On exit A holds U and, below the diagonal,
/// L with its unit diagonal left out. A zero pivot is recorded and the elimination goes on, as in LAPACK's getrf.
/// A: n × n. Flops 2/3 n³.
template <class T, class Place>
void factor_lu(Queue<Place>& bulk, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
               std::int64_t nb) {
  Queue<Place>&near = bulk.ahead(), &chain = near.ahead();
  const std::int64_t n = A.rows();
  if (n == 0) return;
  const bool alone = &chain == &bulk, later = swaps_L_at_the_end(bulk, n);
  const auto widths = [&](std::int64_t j) {
    const auto [panel, step] = lu_widths(bulk, nb, n - j);
    return LuWidths{std::min(panel, n - j), std::min(step, n - j)};
  };
  const auto factor_step = [&](std::int64_t j, std::int64_t columns) {
    if (columns == 0) return;
    chain.phase(Phase::panel, panel_flops(double(n - j), double(columns)));
    panel_lu(chain, gemm, A.block(j, j, n - j, columns), pivots.block(j, columns));  // P [A11; A21] = [L11; L21] U11
  };
  const auto behind = [&](std::int64_t j, std::int64_t from, std::int64_t to) {
    return A.block(j, from, n - j, std::max<std::int64_t>(0, to - from));
  };
  std::vector<std::int64_t> panels;
  chain.wait(bulk);
  auto [jb, step] = widths(0);
  factor_step(0, std::min(step, jb));
  for (std::int64_t j = 0; j < n;) {
    const auto [next, next_step] = widths(j + jb);
    const std::int64_t end = j + jb, near_end = end + next, soon_end = near_end + widths(near_end).panel;
    for (std::int64_t c = j; c < end; c += step) {
      const std::int64_t cb = std::min(step, end - c), c2 = c + cb;
      const std::int64_t columns = c2 < end ? std::min(step, end - c2) : std::min(next_step, next);
      const std::int64_t chain_end = alone ? n : c2 + columns;
      const auto L = A.block(c, c, n - c, cb);
      const auto p = pivots.block(c, cb);

      chain.wait(near);  // these columns are up to date with the step before
      chain.phase(Phase::swap);
      swap_rows(chain, behind(c, j, c), p);  // L, to the left in this panel
      eliminate(chain, gemm, L, p, behind(c, c2, chain_end));
      near.wait(chain);
      if (c2 == end) bulk.wait(chain);
      factor_step(c2, columns);
      eliminate(near, gemm, L, p, behind(c, chain_end, near_end));
    }
    const auto L = A.block(j, j, n - j, jb);
    const auto p = pivots.block(j, jb);
    bulk.phase(Phase::swap);
    combine_exchanges(bulk, p);
    if (!later) swap_rows(bulk, behind(j, 0, j), p);  // L, to the left of this panel
    panels.push_back(j);
    if (!alone) {
      solve_for_U(bulk, gemm, L, p, behind(j, near_end, n));
      subtract_LU(bulk, gemm, L, behind(j, near_end, soon_end));
      near.wait(bulk);
      subtract_LU(bulk, gemm, L, behind(j, soon_end, n));
    }
    j = end, jb = next, step = next_step;
  }
  bulk.wait(chain);
  bulk.wait(near);
  if (later) swap_rows_of_L(bulk, A, pivots, panels);
}

/// By halving its columns down to panels of nb: as many flops as possible are in products with a large k. A: m × n, m ≥ n.
template <class T, class Place>
void factor_lu_recursive(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A, Pivots<Place> pivots,
                         std::int64_t nb) {
  const std::int64_t m = A.rows(), n = A.cols();
  if (n <= nb) {
    q.phase(Phase::panel, panel_flops(double(m), double(n)));
    panel_lu(q, gemm, A, pivots);
    return combine_exchanges(q, pivots);
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
