// A = L Lᵀ of a matrix whose columns arrive one after the other, over the same primitives as cholesky.hpp.
#pragma once

#include "solvers/cholesky.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Left-looking, in block columns of nb: each is asked for when its turn has come, and brought up to date with all before.
/// On exit as factor_cholesky. A: n × n, undefined on entry. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky_arriving(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                              MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb,
                              const Supply<T, Place>& supply) {
  const std::int64_t n = A.rows();
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j), rest = n - j - jb;
    const auto A11 = A.block(j, j, jb, jb), A21 = A.block(j + jb, j, rest, jb);
    supply(q, j, A.columns(j, jb));

    q.phase(Phase::gemm, double(jb) * double(j) * double(jb + 2 * rest));
    const auto L10 = A.block(j, 0, jb, j), L20 = A.block(j + jb, 0, rest, j);
    update_lower(q, gemm, L10, A11);                  // A11 ← A11 − L10 L10ᵀ
    gemm(q, T(-1), L20, transposed(L10), T(1), A21);  // A21 ← A21 − L20 L10ᵀ
    q.phase(Phase::panel, cholesky_flops(double(jb)));
    panel_cholesky(q, gemm, A11, j, bad_minor);  // A11 = L11 L11ᵀ
    q.phase(Phase::trsm, double(jb) * double(jb) * double(rest));
    trsm_right(q, gemm, lower(A11).transposed(), A21);  // L21 = A21 inv(L11)ᵀ
  }
}

}  // namespace lasolve
