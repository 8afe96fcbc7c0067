// Panels of LU on the CPU: recursive, with leaves of a few columns that all cores share by rows.
#pragma once

#include <algorithm>
#include <vector>

#include "core/magnitude.hpp"
#include "lasolve/lasolve.hpp"
#include "solvers/devices/cpu/leaves.hpp"
#include "solvers/devices/cpu/rows.hpp"
#include "solvers/devices/cpu/triangle.hpp"
#include "solvers/lu/cpu/tournament.hpp"
#include "solvers/lu/method.hpp"

namespace lasolve {

/// A candidate for the pivot. NaN beats everything: with `>` it would lose, and be found nowhere.
template <class T>
struct Candidate {
  real_of<T> magnitude = -1;
  std::int64_t row = 0;
  void offer(real_of<T> its, std::int64_t i) {
    if (!(its <= magnitude) && magnitude == magnitude) magnitude = its, row = i;
  }
};

/// Step j of an LU whose pivot was found: it is noted down, and rows change places.
template <class T>
void take_pivot(MatrixView<T> A, Pivots<Cpu> pivots, std::int64_t j, const Candidate<T>& best) {
  pivots.p(j, 0) = pivots.start + best.row;
  if (best.magnitude == 0 && pivots.zero(0, 0) < 0) pivots.zero(0, 0) = pivots.start + j;
  if (best.row == j) return;
  for (std::int64_t c = 0; c < A.cols(); ++c) std::swap(A(j, c), A(best.row, c));
}

/// LU of A (m × n, few columns) on the calling thread.
template <class T>
void panel_lu_leaf_alone(MatrixView<T> A, Pivots<Cpu> pivots) {
  if (A.empty()) return;
  const std::int64_t zero =
      elimination<T>().factor(A.rows(), A.cols(), A.data(), A.ld(), pivots.p.data(), pivots.start);
  if (zero >= 0 && pivots.zero(0, 0) < 0) pivots.zero(0, 0) = pivots.start + zero;
}

/// The same in bands of rows, one for each core: a band is updated and searched for the next pivot in one pass.
template <class T>
void panel_lu_leaf(Queue<Cpu>& q, MatrixView<T> A, Pivots<Cpu> pivots) {
  const std::int64_t m = A.rows(), n = A.cols();
  const double work = 4 * double(m) * double(n);  // a pass is a division, a comparison, and products with n / 2 columns
  const std::int64_t bands = parts_for(q, work);
  if (bands == 1) return panel_lu_leaf_alone(A, pivots);
  std::vector<Candidate<T>> found(std::size_t(bands), Candidate<T>{});
  /// Elimination with column j, if j ≥ 0, of the rows below row j, and the search in column j + 1.
  const auto pass = [&](std::int64_t j) {
    on_cores(bands, work, [&](std::int64_t t) {
      const std::int64_t begin = std::max(m * t / bands, j + 1), end = m * (t + 1) / bands;
      if (j >= 0) elimination<T>().eliminate(n, A.data(), A.ld(), j, begin, end);
      Candidate<T> best;
      if (j + 1 < n && begin < end) {
        const std::int64_t i = begin + elimination<T>().largest(end - begin, &A(begin, j + 1));
        best.offer(magnitude(A(i, j + 1)), i);
      }
      found[std::size_t(t)] = best;
    });
  };
  pass(-1);
  for (std::int64_t j = 0; j < n; ++j) {
    Candidate<T> best;
    for (const auto& f : found)
      if (f.magnitude != -1) best.offer(f.magnitude, f.row);
    take_pivot(A, pivots, j, best);
    pass(j);
  }
}

/// P A = L U of a panel (m × n, m ≥ n), by halving its columns down to leaves. A leaf with the rows of one band is the same by partial pivoting.
/// Source: Toledo, "Locality of reference in LU decomposition with partial pivoting", SIMAX 1997.
template <class T>
void panel_lu(Queue<Cpu>& q, const Gemm<T, Cpu>& gemm, MatrixView<T> A, Pivots<Cpu> pivots, Pivoting by) {
  const std::int64_t m = A.rows(), n = A.cols(), leaf = panel_leaf_columns(q.tuning(), m);
  if (n <= leaf) {
    const std::int64_t rows_of_a_band = q.tuning().lu_tournament_rows;
    if (by != Pivoting::tournament || m <= rows_of_a_band) return panel_lu_leaf(q, A, pivots);
    return panel_lu_leaf_by_tournament(q, A, pivots, rows_of_a_band);
  }
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const auto A1 = A.columns(0, n1), A2 = A.columns(n1, n2), A11 = A.block(0, 0, n1, n1), A12 = A.block(0, n1, n1, n2);
  const auto A21 = A.block(n1, 0, m - n1, n1), A22 = A.block(n1, n1, m - n1, n2);
  const auto p1 = pivots.block(0, n1), p2 = pivots.block(n1, n2);

  panel_lu(q, gemm, A1, p1, by);             // P [A11; A21] = [L11; L21] U11
  interchange_rows(q, A2, p1);               // [A12; A22] ← P [A12; A22]
  trsm_left(q, gemm, lower_unit(A11), A12);  // U12 = inv(L11) A12
  gemm(q, T(-1), A21, A12, T(1), A22);       // A22 ← A22 − L21 U12
  panel_lu(q, gemm, A22, p2, by);            // P A22 = L22 U22
  interchange_rows(q, A21, p2);              // L21 ← P L21
}

/// A matrix that is one leaf: most columns of one of n rows; its factors; and X ← op(A)⁻¹ X with them, on the calling thread.
inline std::int64_t leaf_columns(Lu, const Tuning& t, std::int64_t n) { return panel_leaf_columns(t, n); }
template <class T>
void factor_leaf(Lu, MatrixView<T> A, MatrixView<std::int64_t> pivots, MatrixView<std::int64_t> failed_at) {
  panel_lu_leaf_alone(A, Pivots<Cpu>::in(pivots, failed_at));
}
template <class T>
void apply_leaf(Lu, MatrixView<T> A, MatrixView<std::int64_t> pivots, MatrixView<T> X, Op op) {
  const auto interchange = [&](std::int64_t i) {
    const std::int64_t p = pivots(i, 0);
    for (std::int64_t j = 0; p != i && j < X.cols(); ++j) std::swap(X(i, j), X(p, j));
  };
  if (op == Op::none) {
    for (std::int64_t i = 0; i < A.rows(); ++i) interchange(i);
    substitute(lower_unit(A), X);
    substitute(upper(A), X);
  } else {
    substitute(upper(A).transposed(op), X);
    substitute(lower_unit(A).transposed(op), X);
    for (std::int64_t i = A.rows() - 1; i >= 0; --i) interchange(i);
  }
}

}  // namespace lasolve
