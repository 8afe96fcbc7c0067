// Triangles that are stored in fewer bits than they are computed in: read a block column at a time, each widened when it is needed.
#pragma once

#include <algorithm>

#include "solvers/lu/pivots.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// A triangle stored as S, and room for a block column of it as F.
template <class F, class S, class Space>
struct NarrowTriangle {
  Triangle<S, Space> stored;
  MatrixView<F, Space> room;  // all its rows, and the columns of a block

  NarrowTriangle transposed(Op by = Op::transpose) const { return {stored.transposed(by), room}; }
};

/// All that is stored of A = L U, or of A = L Lᵀ.
template <class F, class S, class Space>
struct Narrow {
  MatrixView<S, Space> values;
  MatrixView<F, Space> room;
};

template <class F, class S, class Space>
NarrowTriangle<F, S, Space> triangle_of(const Narrow<F, S, Space>& factors, const StoredTriangle& its) {
  return {triangle_of(factors.values, its), factors.room};
}
/// Room is written just before it is read: nothing of it is there before.
template <class F, class S, class Space>
NarrowTriangle<F, S, Space> after_another(const NarrowTriangle<F, S, Space>& triangle) {
  return triangle;
}

/// C ← C − A B in the place of a backend, which residuals do not go through either.
template <class F, class Space>
struct BySubtraction {
  void operator()(Queue<Space>& q, F, Operand<F, Space> A, MatrixView<const F, Space> B, F,
                  MatrixView<F, Space> C) const {
    residual<F>(q, A, B, C, C);
  }
};
/// B ← inv(T) B with such products.
template <class F, class Space>
void trsm_left(Queue<Space>& q, const BySubtraction<F, Space>& gemm, Triangle<F, Space> tri, MatrixView<F, Space> B) {
  const std::int64_t n = tri.order(), nb = std::min(n, leaf_order<F>(q, B.cols()));
  for (std::int64_t done = 0; done < n; done += nb) {
    const std::int64_t w = std::min(nb, n - done), k = tri.lower ? done : n - done - w;
    const std::int64_t i = tri.lower ? k + w : 0, m = n - done - w;  // the rows that are left
    solve_leaf(q, tri.diagonal_block(k, w), B.block(k, 0, w, B.cols()));
    gemm(q, F(-1), tri.values.block(i, k, m, w), B.block(k, 0, w, B.cols()), F(1), B.block(i, 0, m, B.cols()));
  }
}

/// B ← inv(T) B. T: n × n, B: n × nrhs. Flops n² nrhs. Nothing is widened where a device takes the triangle as it is stored.
template <class F, class S, class Space, class Products>
void trsm_left(Queue<Space>& q, const Products& gemm, const NarrowTriangle<F, S, Space>& tri, MatrixView<F, Space> B) {
  if constexpr (requires { try_solve_as_stored(q, tri.stored, B); })
    if (try_solve_as_stored(q, tri.stored, B)) return;
  const std::int64_t n = B.rows(), nrhs = B.cols(), nb = tri.room.cols();
  const bool is_lower = tri.stored.lower, unit = tri.stored.unit;
  const auto widened = [&](std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t columns) {
    const Operand<S, Space> part = tri.stored.values.block(i, j, rows, columns);
    const MatrixView<const S, Space> from = part.stored();
    const MatrixView<F, Space> to(tri.room.data(), from.rows(), from.cols(), from.rows());
    convert(q, from, to);
    return Operand<F, Space>(to, part.op());
  };
  for (std::int64_t done = 0; done < n; done += nb) {
    const std::int64_t w = std::min(nb, n - done), left = n - done - w;
    const std::int64_t k = is_lower ? done : left,
                       i = is_lower ? k + w : 0;  // where w columns and the rows that are left begin
    const Operand<F, Space> column = widened(is_lower ? k : 0, k, w + left, w);
    trsm_left(q, gemm, Triangle<F, Space>{column.block(is_lower ? 0 : k, 0, w, w), is_lower, unit},
              B.block(k, 0, w, nrhs));
    gemm(q, F(-1), column.block(is_lower ? w : 0, 0, left, w), B.block(k, 0, w, nrhs), F(1), B.block(i, 0, left, nrhs));
  }
}

}  // namespace lasolve
