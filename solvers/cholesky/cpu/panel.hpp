// Panels of Cholesky on the CPU.
#pragma once

#include "solvers/cholesky/method.hpp"
#include "solvers/devices/cpu/leaves.hpp"
#include "solvers/devices/cpu/triangle.hpp"

namespace lasolve {

template <class T>
std::int64_t cholesky_leaf_columns(const Queue<Cpu>& q, MatrixView<T>) {
  return q.tuning().cholesky_leaf;
}

/// A = L Lᵀ of few columns on the calling thread; the lower triangle of A, n × n. Stops at the first minor that is not positive.
template <class T>
void panel_cholesky_leaf_alone(MatrixView<T> A, Minors<Cpu> minors) {
  const std::int64_t bad = substitution<T>().cholesky(A.cols(), A.data(), A.ld());
  if (bad > 0) minors.bad_minor(0, 0) = minors.first + bad;
}

/// [A11; A21] = [L11; L21] L11ᵀ of few columns. Nothing where a minor before was not positive.
template <class T>
void panel_cholesky_leaf(Queue<Cpu>& q, const Gemm<T, Cpu>&, MatrixView<T> A, Minors<Cpu> minors) {
  const std::int64_t n = A.cols();
  const auto A11 = A.block(0, 0, n, n), A21 = A.block(n, 0, A.rows() - n, n);
  const auto& bad_minor = minors.bad_minor(0, 0);
  if (bad_minor < 0) panel_cholesky_leaf_alone(A11, minors);
  if (bad_minor < 0) solve_leaf_right(q, lower(A11).transposed(), A21);
}

/// A matrix that is one leaf: see solvers/lu/cpu/panel.hpp.
inline std::int64_t leaf_columns(Cholesky, const Tuning& t, std::int64_t) { return t.cholesky_leaf; }
template <class T>
void factor_leaf(Cholesky, MatrixView<T> A, MatrixView<std::int64_t>, MatrixView<std::int64_t> failed_at) {
  panel_cholesky_leaf_alone(A, Minors<Cpu>{failed_at});
}
template <class T>
void apply_leaf(Cholesky, MatrixView<T> A, MatrixView<std::int64_t>, MatrixView<T> X, Op) {
  substitute(lower(A), X);
  substitute(lower(A).transposed(), X);
}

}  // namespace lasolve
