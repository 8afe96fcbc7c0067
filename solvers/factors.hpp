// What a factorization leaves behind, and how it is applied.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/lu.hpp"

namespace lasolve {

/// P A = L U or A = L Lᵀ in the precision F, in memory of its own.
template <class F, class Place>
class Factors {
 public:
  /// Copies A, rounding it to F, to be factored by factor().
  template <class T>
  Factors(Queue<Place>& q, MatrixView<const T, Place> A, Method method)
      : method_(method), values_(A.rows(), A.cols()), pivots_(A.rows(), 1), status_(1, 1) {
    convert(q, A, values_.view());
    prepare(q);  // what a queue makes once is made before the clock runs
  }

  /// Factors in place.
  Outcome factor(Queue<Place>& q, const GemmBackend<Place>& gemm, std::int64_t nb) {
    fill(q, std::int64_t(-1), status_.view());
    if (method_ == Method::lu)
      factor_lu(q, gemm, values_.view(), pivots(), nb);
    else
      factor_cholesky(q, gemm, values_.view(), status_.view(), nb);
    q.phase(Phase::other);
    const std::int64_t at = fetch(q, status_.view());
    if (at < 0) return {};
    return {method_ == Method::lu ? Outcome::singular : Outcome::not_positive_definite, at};
  }

  /// X ← op(A)⁻¹ X. X: n × nrhs. Flops 2 n² nrhs.
  void apply(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<F, Place> X, Op op) {
    const auto A = values_.view();
    if (method_ == Method::cholesky) {
      trsm_left(q, gemm, lower(A), X);               // L Y = B
      trsm_left(q, gemm, lower(A).transposed(), X);  // Lᵀ X = Y
    } else if (op == Op::none) {
      swap_rows(q, X, pivots());
      trsm_left(q, gemm, lower_unit(A), X);  // L Y = P B
      trsm_left(q, gemm, upper(A), X);       // U X = Y
    } else {
      trsm_left(q, gemm, upper(A).transposed(), X);       // Uᵀ Z = B
      trsm_left(q, gemm, lower_unit(A).transposed(), X);  // Lᵀ Y = Z
      swap_rows_back(q, X, pivots());                     // X = Pᵀ Y
    }
  }

  Method method() const { return method_; }
  MatrixView<const F, Place> values() const { return values_; }
  Pivots<Place> pivots() { return {pivots_, status_}; }

 private:
  Method method_;
  Matrix<F, Place> values_;
  Matrix<std::int64_t, Place> pivots_, status_;
};

}  // namespace lasolve
