// Factors and solutions.
#include <algorithm>
#include <optional>
#include <vector>

#include "lapack/device.hpp"
#include "lapack/routines.hpp"

namespace lasolve::lapack {

template <class T>
Size getrf(MatrixView<T> A, Integers ipiv) {
  return gesv(A, ipiv, A.columns(0, 0));
}

template <class T>
Size getrs(char trans, MatrixView<T> A, Integers ipiv, MatrixView<T> B) {
  if (B.empty()) return 0;
  const Op op = trans == 'N' ? Op::none : Op::transpose;
  std::vector<Size> pivots(std::size_t(A.rows()));
  for (std::size_t i = 0; i < pivots.size(); ++i) pivots[i] = ipiv[Size(i)] - 1;
  if (solve_lu_on_device(A, pivots.data(), B, op)) return 0;
  Work<T> work("GETRF", A.rows(), A.cols());
  solve_lu(work, A, pivots.data(), B, op);
  return 0;
}

template <class T>
Size gesv(MatrixView<T> A, Integers ipiv, MatrixView<T> B) {
  if (A.empty()) return 0;
  std::vector<Size> pivots(std::size_t(std::min(A.rows(), A.cols())));
  std::optional<Size> zero = lu_on_device(A, pivots.data(), B);
  if (!zero) {
    Work<T> work("GETRF", A.rows(), A.cols());
    zero = factor_lu(work, A, pivots.data());
    if (*zero < 0) solve_lu(work, A, pivots.data(), B, Op::none);
  }
  for (std::size_t i = 0; i < pivots.size(); ++i) ipiv.set(Size(i), pivots[i] + 1);
  return *zero + 1;
}

template <class T>
Size potrf(Half<T> A) {
  return posv(A, A.A.columns(0, 0));
}

template <class T>
Size potrs(Half<T> A, MatrixView<T> B) {
  if (B.empty() || solve_cholesky_on_device(A, B)) return 0;
  Work<T> work("POTRF", A.n(), A.n());
  solve_cholesky(work, A, B);
  return 0;
}

template <class T>
Size posv(Half<T> A, MatrixView<T> B) {
  if (A.A.empty() || cholesky_on_device(A, B)) return 0;
  Work<T> work("POTRF", A.n(), A.n());
  const Size info = factor_cholesky(work, A);
  if (info == 0) solve_cholesky(work, A, B);
  return info;
}

#define LASOLVE_INSTANTIATE(T)                                       \
  template Size getrf(MatrixView<T>, Integers);                      \
  template Size getrs(char, MatrixView<T>, Integers, MatrixView<T>); \
  template Size gesv(MatrixView<T>, Integers, MatrixView<T>);        \
  template Size potrf(Half<T>);                                      \
  template Size potrs(Half<T>, MatrixView<T>);                       \
  template Size posv(Half<T>, MatrixView<T>);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
