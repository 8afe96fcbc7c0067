// Triangular solves with many right-hand sides, by halving: the bulk is large GEMMs through the chosen backend.
//
//     [T11    ] [X1]   [B1]      X1 = inv(T11) B1
//     [T21 T22] [X2] = [B2]      X2 = inv(T22) (B2 − T21 X1)
//
// Leaves are a primitive of the device (solve_leaf), whose residual must stay small however ill-conditioned the leaf is.
// Source: Elmroth, Gustavson, Jonsson & Kågström, "Recursive blocked algorithms and hybrid data structures", 2004.
#pragma once

#include "lasolve/gemm.hpp"
#include "solvers/by_halves.hpp"

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

/// A triangle that was there before the solve with another one.
template <class T, class Space>
Triangle<T, Space> after_another(Triangle<T, Space> triangle) {
  triangle.ready = true;
  return triangle;
}

/// B ← inv(T) B. T: n × n, B: n × nrhs. Flops n² nrhs.
template <class T, class Space>
void trsm_left(Queue<Space>& q, const Gemm<T, Space>& gemm, Triangle<T, Space> tri, MatrixView<T, Space> B) {
  const std::int64_t n = tri.order(), leaf = leaf_order<T>(q, B.cols());
  if (n <= leaf) return solve_leaf(q, tri, B);
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const auto T1 = tri.diagonal_block(0, n1), T2 = tri.diagonal_block(n1, n2);
  const auto B1 = B.block(0, 0, n1, B.cols()), B2 = B.block(n1, 0, n2, B.cols());
  if (tri.lower) {
    trsm_left(q, gemm, T1, B1);
    gemm(q, T(-1), tri.values.block(n1, 0, n2, n1), B1, T(1), B2);
    trsm_left(q, gemm, T2, B2);
  } else {
    trsm_left(q, gemm, T2, B2);
    gemm(q, T(-1), tri.values.block(0, n1, n1, n2), B2, T(1), B1);
    trsm_left(q, gemm, T1, B1);
  }
}

/// B ← B inv(T). T: n × n, B: m × n. Flops n² m.
template <class T, class Space>
void trsm_right(Queue<Space>& q, const Gemm<T, Space>& gemm, Triangle<T, Space> tri, MatrixView<T, Space> B) {
  const std::int64_t n = tri.order(), leaf = leaf_order<T>(q, B.rows());
  if (n <= leaf) return solve_leaf_right(q, tri, B);
  const std::int64_t n1 = first_half(n, leaf), n2 = n - n1;
  const auto T1 = tri.diagonal_block(0, n1), T2 = tri.diagonal_block(n1, n2);
  const auto B1 = B.columns(0, n1), B2 = B.columns(n1, n2);
  if (tri.lower) {
    trsm_right(q, gemm, T2, B2);
    gemm(q, T(-1), B2, tri.values.block(n1, 0, n2, n1), T(1), B1);
    trsm_right(q, gemm, T1, B1);
  } else {
    trsm_right(q, gemm, T1, B1);
    gemm(q, T(-1), B1, tri.values.block(0, n1, n1, n2), T(1), B2);
    trsm_right(q, gemm, T2, B2);
  }
}

}  // namespace lasolve
