// Triangular solves with many right-hand sides, by halving: the bulk is large GEMMs through the chosen backend.
//
//     [T11    ] [X1]   [B1]      X1 = inv(T11) B1
//     [T21 T22] [X2] = [B2]      X2 = inv(T22) (B2 − T21 X1)
//
// Leaves are a primitive of the device (solve_leaf), whose residual must stay small however ill-conditioned the leaf is.
#pragma once

#include <type_traits>

#include "lasolve/gemm.hpp"
#include "solvers/by_halves.hpp"
#include "solvers/stored_triangle.hpp"

namespace lasolve {

/// The lower or upper triangle of op(X), with its own or a unit diagonal. The other triangle is never read.
template <class T, class Space>
struct Triangle {
  Operand<T, Space> values;
  bool lower;  // as seen after op
  bool unit;
  bool ready = false;  // was there before the last work of the queue began: may be read while that ends

  constexpr std::int64_t order() const { return values.rows(); }
  Triangle diagonal_block(std::int64_t i, std::int64_t n) const {
    return {values.block(i, i, n, n), lower, unit, ready};
  }
  Operand<T, Space> block(Range rows, Range columns) const {
    return values.block(rows.begin, columns.begin, rows.count(), columns.count());
  }
  /// Its transpose, or its adjoint.
  Triangle transposed(Op by = Op::transpose) const {
    return {{values.stored(), values.op() == Op::none ? by : Op::none}, !lower, unit, ready};
  }
};

template <class T, class Space>
Triangle<T, Space> lower_unit(MatrixView<T, Space> L) {
  return {L, true, true};
}
template <class T, class Space>
Triangle<T, Space> lower(MatrixView<T, Space> L) {
  return {L, true, false};
}
template <class T, class Space>
Triangle<T, Space> upper(MatrixView<T, Space> U) {
  return {U, false, false};
}

template <class T, class Space>
auto triangle_of(MatrixView<T, Space> factors, const StoredTriangle& its) {
  const bool lower = its.lower == (its.op == Op::none);
  return Triangle<std::remove_const_t<T>, Space>{{factors, its.op}, lower, its.unit};
}

/// A triangle that was there before the solve with another one.
template <class T, class Space>
Triangle<T, Space> after_another(Triangle<T, Space> triangle) {
  triangle.ready = true;
  return triangle;
}

/// B ← inv(T) B. T: n × n, B: n × nrhs. Flops n² nrhs.
template <class T, class Space>
void trsm_left(Queue<Space>& q, const Gemm<T, Space>& gemm, Triangle<T, Space> tri, MatrixView<T, Space> B) {
  const auto at = [&](Range rows) { return B.block(rows.begin, 0, rows.count(), B.cols()); };
  solve_by_halves(
      {0, tri.order()}, leaf_order<T>(q, B.cols()), tri.lower,
      [&](Range r) { solve_leaf(q, tri.diagonal_block(r.begin, r.count()), at(r)); },
      [&](Range done, Range r) { gemm(q, T(-1), tri.block(r, done), at(done), T(1), at(r)); });
}

/// B ← B inv(T). T: n × n, B: m × n. Flops n² m.
template <class T, class Space>
void trsm_right(Queue<Space>& q, const Gemm<T, Space>& gemm, Triangle<T, Space> tri, MatrixView<T, Space> B) {
  const auto at = [&](Range columns) { return B.columns(columns.begin, columns.count()); };
  solve_by_halves(
      {0, tri.order()}, leaf_order<T>(q, B.rows()), !tri.lower,
      [&](Range r) { solve_leaf_right(q, tri.diagonal_block(r.begin, r.count()), at(r)); },
      [&](Range done, Range r) { gemm(q, T(-1), at(done), tri.block(done, r), T(1), at(r)); });
}

}  // namespace lasolve
