// The routines, of views that have been looked at. Each returns INFO. Pivots count from 1.
#pragma once

#include "lapack/call.hpp"
#include "lapack/engine.hpp"

namespace lasolve::lapack {

/// P A = L U; solutions with that, X in the place of B; both.
template <class T>
Size getrf(MatrixView<T> A, Integers ipiv);
template <class T>
Size getrf2(MatrixView<T> A, Integers ipiv) {
  return getrf(A, ipiv);
}
template <class T>
Size getrs(char trans, MatrixView<T> A, Integers ipiv, MatrixView<T> B);
template <class T>
Size gesv(MatrixView<T> A, Integers ipiv, MatrixView<T> B);

/// A = L Lᵀ or Uᵀ U; solutions with that; both.
template <class T>
Size potrf(Half<T> A);
template <class T>
Size potrf2(Half<T> A) {
  return potrf(A);
}
template <class T>
Size potrs(Half<T> A, MatrixView<T> B);
template <class T>
Size posv(Half<T> A, MatrixView<T> B);

}  // namespace lasolve::lapack
