// What a factorization leaves behind, and how it is applied.
#pragma once

#include "lasolve/lasolve.hpp"
#include "solvers/cholesky_arriving.hpp"
#include "solvers/lu_arriving.hpp"

namespace lasolve {

/// P A = L U or A = L Lᵀ in the precision F, in memory of its own.
template <class F, class Place>
class Factors {
 public:
  /// Takes the memory of A, which factor() will factor in place.
  Factors(Method method, Matrix<F, Place> A)
      : method_(method),
        values_(std::move(A)),
        pivots_(values_.rows(), Pivots<Place>::columns),
        status_(1, 1) {}

  /// Factors in place. With a supply, A is not there yet: it is asked for, a block column after the other.
  Outcome factor(Queue<Place>& q, const GemmBackend<Place>& gemm, std::int64_t nb,
                 const Supply<F, Place>& supply = {}) {
    const auto A = values_.view();
    fill(q, std::int64_t(-1), status_.view());
    if (method_ == Method::lu)
      supply ? factor_lu_arriving(q, gemm, A, pivots(), nb, supply) : factor_lu(q, gemm, A, pivots(), nb);
    else
      supply ? factor_cholesky_arriving(q, gemm, A, status_.view(), nb, supply)
             : factor_cholesky(q, gemm, A, status_.view(), nb);
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
      permute_rows(q, X, pivots(), false);
      trsm_left(q, gemm, lower_unit(A), X);  // L Y = P B
      trsm_left(q, gemm, upper(A), X);       // U X = Y
    } else {
      trsm_left(q, gemm, upper(A).transposed(), X);       // Uᵀ Z = B
      trsm_left(q, gemm, lower_unit(A).transposed(), X);  // Lᵀ Y = Z
      permute_rows(q, X, pivots(), true);                 // X = Pᵀ Y
    }
  }

  Method method() const { return method_; }
  MatrixView<const F, Place> values() const { return values_; }
  Pivots<Place> pivots() { return {pivots_, status_, &panels_}; }

 private:
  Method method_;
  Matrix<F, Place> values_;
  Matrix<std::int64_t, Place> pivots_, status_;
  std::vector<std::int64_t> panels_;
};

}  // namespace lasolve
