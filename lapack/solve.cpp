// Factors and solutions.
#include <vector>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

template <class T>
Size getrf(MatrixView<T> A, Integers ipiv) {
  if (A.empty()) return 0;
  std::vector<Size> pivots(std::size_t(std::min(A.rows(), A.cols())));
  Work<T> work("GETRF", A.rows(), A.cols());
  const Size zero = factor_lu(work, A, pivots.data());
  for (std::size_t i = 0; i < pivots.size(); ++i) ipiv.set(Size(i), pivots[i] + 1);
  return zero + 1;
}

template <class T>
Size getrs(char trans, MatrixView<T> A, Integers ipiv, MatrixView<T> B) {
  if (B.empty()) return 0;
  std::vector<Size> pivots(std::size_t(A.rows()));
  for (std::size_t i = 0; i < pivots.size(); ++i) pivots[i] = ipiv[Size(i)] - 1;
  Work<T> work("GETRF", A.rows(), A.cols());
  solve_lu(work, A, pivots.data(), B, trans == 'N' ? Op::none : Op::transpose);
  return 0;
}

template <class T>
Size gesv(MatrixView<T> A, Integers ipiv, MatrixView<T> B) {
  const Size info = getrf(A, ipiv);
  return info == 0 ? getrs('N', A, ipiv, B) : info;
}

template <class T>
Size potrf(Half<T> A) {
  if (A.A.empty()) return 0;
  Work<T> work("POTRF", A.n(), A.n());
  return factor_cholesky(work, A);
}

template <class T>
Size potrs(Half<T> A, MatrixView<T> B) {
  if (B.empty()) return 0;
  Work<T> work("POTRF", A.n(), A.n());
  solve_cholesky(work, A, B);
  return 0;
}

template <class T>
Size posv(Half<T> A, MatrixView<T> B) {
  const Size info = potrf(A);
  return info == 0 ? potrs(A, B) : info;
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
