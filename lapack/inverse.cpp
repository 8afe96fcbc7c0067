// Inverses from factors, and how large they are.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

namespace {

constexpr Size best_width = 64;  // of workspace, which is not used

/// The first zero on the diagonal, counted from 1; 0: there is none.
template <class T>
Size zero_on_diagonal(MatrixView<T> A) {
  for (Size i = 0; i < A.rows(); ++i)
    if (A(i, i) == T(0)) return i + 1;
  return 0;
}

/// RCOND, of an estimate of ‖A⁻¹‖. Where ‖A‖ is NaN it is that, and INFO is 0: programs expect it, and not that their XERBLA ends them.
template <class T>
Size reciprocal_condition(Size n, T anorm, const std::function<void(MatrixView<T>, Op)>& apply, int position, T* rcond,
                          T* image = nullptr) {
  if (anorm < T(0)) return -position;
  *rcond = n == 0 ? T(1) : std::isnan(anorm) ? anorm : T(0);
  if (n == 0 || anorm == T(0) || std::isnan(anorm)) return 0;
  const NormOfInverse norm = norm_of_inverse<T>(n, apply, image);
  if (std::isinf(anorm) && std::isnan(norm.estimate))  // factors of a matrix with an infinity
    *rcond = T(norm.estimate);
  else if (std::isfinite(norm.estimate) && norm.estimate > 0)
    *rcond = T(std::ldexp(1 / norm.estimate / double(anorm), norm.exponent));
  return 0;
}

}  // namespace

template <class T>
Size getri(MatrixView<T> A, Integers ipiv, T* work, Size lwork) {
  const Size n = A.rows();
  work[0] = T(std::max<Size>(1, n * best_width));
  if (lwork == -1 || n == 0) return 0;
  if (const Size zero = zero_on_diagonal(A)) return zero;
  std::vector<Size> pivots(std::size_t(n), 0);
  for (Size i = 0; i < n; ++i) pivots[std::size_t(i)] = ipiv[i] - 1;
  Work<T> w("GETRI", n, n);
  invert_triangle(w, Half<T>{A, false});
  inverse_from_factors(w, A, pivots.data());
  return 0;
}

template <class T>
Size potri(Half<T> A) {
  if (A.A.empty()) return 0;
  if (const Size zero = zero_on_diagonal(A.A)) return zero;
  Work<T> w("POTRI", A.n(), A.n());
  invert_triangle(w, A);
  square_of_inverse(w, A);
  return 0;
}

/// Without the pivots, which change the order of columns of A⁻¹ alone.
template <class T>
Size gecon(char norm, MatrixView<T> A, T anorm, T* rcond, T* work) {
  Work<T> w("GETRF", A.rows(), A.rows());
  const bool by_rows = norm == 'I';
  std::vector<Size> none(std::size_t(A.rows()), 0);
  std::iota(none.begin(), none.end(), Size(0));
  return reciprocal_condition<T>(
      A.rows(), anorm,
      [&](MatrixView<T> X, Op op) {
        solve_lu(w, A, none.data(), X, (op != Op::none) != by_rows ? Op::transpose : Op::none);
      },
      5, rcond, work ? work + A.rows() : nullptr);
}

template <class T>
Size pocon(Half<T> A, T anorm, T* rcond) {
  Work<T> w("POTRF", A.n(), A.n());
  return reciprocal_condition<T>(
      A.n(), anorm, [&](MatrixView<T> X, Op) { solve_cholesky(w, A, X); }, 5, rcond);
}

#define LASOLVE_INSTANTIATE(T)                            \
  template Size getri(MatrixView<T>, Integers, T*, Size); \
  template Size potri(Half<T>);                           \
  template Size gecon(char, MatrixView<T>, T, T*, T*);    \
  template Size pocon(Half<T>, T, T*);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
