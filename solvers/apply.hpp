// Solutions by finished factors, whatever their method: it says which triangles they are.
#pragma once

#include "solvers/lu/pivots.hpp"
#include "solvers/method.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// X ← op(A)⁻¹ B with the factors of P A = L U. X may be B. X: n × nrhs. Flops 2 n² nrhs. The factors are a MatrixView or Narrow, and products those
/// of a backend or BySubtraction.
template <class T, class Space, class Products, class Stored>
void apply_factors(Queue<Space>& q, const Products& gemm, const MethodRecord& method, const Stored& factors,
                   const Pivots<Space>& P, MatrixView<const T, Space> B, MatrixView<T, Space> X, Op op) {
  const auto [first, second] = method.triangles_of(op);
  const bool interchanges = method.interchanges(1) > 0, before = op == Op::none;
  trsm_left(q, gemm, triangle_of(factors, first), B, interchanges && before ? &P : no_pivots<Space>, X);
  trsm_left(q, gemm, after_another(triangle_of(factors, second)), X);
  if (interchanges && !before) permute_rows<T>(q, X, X, P, true);  // X ← Pᵀ X
}

}  // namespace lasolve
