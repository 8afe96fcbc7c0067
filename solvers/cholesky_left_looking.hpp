// A = L Lᵀ, left-looking: each block column is touched only when its turn has come, and so may arrive late. Over the same
// primitives as cholesky.hpp.
#pragma once

#include "solvers/cholesky.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Left-looking, in block columns of nb: each is asked for when its turn has come, and brought up to date with all before.
/// On exit as factor_cholesky. A: n × n; with a supply, undefined on entry. Flops 1/3 n³.
template <class T, class Place>
void factor_cholesky_left_looking(Queue<Place>& q, const GemmBackend<Place>& gemm, MatrixView<T, Place> A,
                                  MatrixView<std::int64_t, Place> bad_minor, std::int64_t nb,
                                  const Supply<T, Place>& supply) {
  const std::int64_t n = A.rows();
  for (std::int64_t j = 0; j < n; j += nb) {
    const std::int64_t jb = std::min(nb, n - j);
    const auto C = A.block(j, j, n - j, jb), L = A.block(j, 0, n - j, j);
    if (supply) supply(q, j, A.columns(j, jb));

    q.phase(Phase::gemm, 2.0 * double(n - j) * double(jb) * double(j));
    gemm(q, T(-1), L, transposed(L.block(0, 0, jb, j)), T(1), C);  // C ← C − L L1ᵀ
    q.phase(Phase::panel, cholesky_panel_flops(double(n - j), double(jb)));
    cholesky_recursive(q, gemm, C, Minors<Place>{bad_minor, j});  // C = [L11; L21] L11ᵀ
    if (known_to_have_failed(q, bad_minor)) return;
  }
}

}  // namespace lasolve
