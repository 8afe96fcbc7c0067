// Iterative refinement with bounds, as LAPACK's gerfs and porfs have it.
#include <cmath>
#include <limits>
#include <vector>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

namespace {

/// Of each column, with solve(x, transposed): x ← op(A)⁻¹ x.
/// Source: Arioli, Demmel & Duff, "Solving sparse linear systems with sparse backward error", SIMAX 1989; Higham, "Accuracy and stability
/// of numerical algorithms", chapter 12.
template <class T, class Given, class Solve>
void refine_columns(Work<T>& w, const Given& A, Solve solve, MatrixView<T> B, MatrixView<T> X, T* ferr, T* berr) {
  constexpr int most_updates = 5;
  constexpr double u = std::numeric_limits<T>::epsilon() / 2, least = std::numeric_limits<T>::min();
  const Size n = B.rows();
  const double nz = double(n + 1), safe = nz * least;
  Matrix<T> R(n, 1);
  const auto column_of = [](MatrixView<T> M, Size j) { return MatrixView<const T>(M.columns(j, 1)); };
  for (Size j = 0; j < B.cols(); ++j) {
    ferr[j] = berr[j] = T(0);
    if (n == 0) continue;
    const MatrixView<const T> b = column_of(B, j), x = column_of(X, j);
    std::vector<double> sizes;
    double before = 3;
    for (int updates = 0;; ++updates) {
      residual_of<T>(w, A, x, b, R);
      sizes = magnitudes_of<T>(w, A, x);
      double most = 0;
      for (Size i = 0; i < n; ++i) {
        double& size = sizes[std::size_t(i)];
        size += std::abs(double(b(i, 0)));
        const double r = std::abs(double(R(i, 0))), its = size > safe / u ? r / size : (r + safe) / (size + safe);
        if (!(its <= most)) most = its;
      }
      berr[j] = T(most);
      if (!(most > u && 2 * most <= before && updates < most_updates)) break;
      solve(R.view(), false);
      for (Size i = 0; i < n; ++i) X(i, j) += R(i, 0);
      before = most;
    }
    // ‖ |op(A)⁻¹| (|r| + (n + 1) u (|op(A)||x| + |b|)) ‖∞, which is ‖ diag(·) op(A)⁻ᵀ ‖₁.
    double largest = 0;
    for (Size i = 0; i < n; ++i) {
      double& size = sizes[std::size_t(i)];
      size = std::abs(double(R(i, 0))) + nz * u * size + (size > safe / u ? 0 : safe);
      largest = std::max(largest, std::abs(double(x(i, 0))));
    }
    const auto scale = [&](MatrixView<T> M) {
      for (Size c = 0; c < M.cols(); ++c)
        for (Size i = 0; i < n; ++i) M(i, c) = T(double(M(i, c)) * sizes[std::size_t(i)]);
    };
    const NormOfInverse norm = norm_of_inverse<T>(n, [&](MatrixView<T> M, Op op) {
      if (op == Op::none) return solve(M, true), scale(M);
      scale(M), solve(M, false);
    });
    ferr[j] = T(std::ldexp(norm.estimate, -norm.exponent) / (largest > 0 ? largest : 1));
  }
}

}  // namespace

template <class T>
Size gerfs(char trans, MatrixView<T> A, MatrixView<T> AF, Integers ipiv, MatrixView<T> B, MatrixView<T> X, T* ferr,
           T* berr) {
  const Size n = A.rows();
  std::vector<Size> pivots(std::size_t(n), 0);
  for (Size i = 0; i < n && B.cols() > 0; ++i) pivots[std::size_t(i)] = ipiv[i] - 1;
  Work<T> w("GETRF", n, n);
  const bool is_transposed = trans != 'N';
  const auto solve = [&](MatrixView<T> M, bool transposed) {
    solve_lu(w, AF, pivots.data(), M, transposed != is_transposed ? Op::transpose : Op::none);
  };
  refine_columns(w, Operand<T>(A, is_transposed ? Op::transpose : Op::none), solve, B, X, ferr, berr);
  return 0;
}

template <class T>
Size porfs(Half<T> A, Half<T> AF, MatrixView<T> B, MatrixView<T> X, T* ferr, T* berr) {
  Work<T> w("POTRF", A.n(), A.n());
  refine_columns(
      w, A, [&](MatrixView<T> M, bool) { solve_cholesky(w, AF, M); }, B, X, ferr, berr);
  return 0;
}

#define LASOLVE_INSTANTIATE(T)                                                                             \
  template Size gerfs(char, MatrixView<T>, MatrixView<T>, Integers, MatrixView<T>, MatrixView<T>, T*, T*); \
  template Size porfs(Half<T>, Half<T>, MatrixView<T>, MatrixView<T>, T*, T*);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
