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

/// A⁻¹ from factors. lwork −1: work[0] is how much is best, and nothing else is done.
template <class T>
Size getri(MatrixView<T> A, Integers ipiv, T* work, Size lwork);
template <class T>
Size potri(Half<T> A);

/// 1 / (‖A‖‖A⁻¹‖) from factors and ‖A‖: an estimate. work: 2n elements or null; behind the first n is then the solution with which it was found,
/// which LAPACK's latdf reads there.
template <class T>
Size gecon(char norm, MatrixView<T> A, T anorm, T* rcond, T* work);
template <class T>
Size pocon(Half<T> A, T anorm, T* rcond);

/// Solutions are refined, and each has a bound of its error and a componentwise backward error.
template <class T>
Size gerfs(char trans, MatrixView<T> A, MatrixView<T> AF, Integers ipiv, MatrixView<T> B, MatrixView<T> X, T* ferr,
           T* berr);
template <class T>
Size porfs(Half<T> A, Half<T> AF, MatrixView<T> B, MatrixView<T> X, T* ferr, T* berr);

/// Scales that bring the largest of each row and column to 1, or the diagonal.
template <class T>
Size geequ(MatrixView<T> A, T* r, T* c, T* rowcnd, T* colcnd, T* amax);
template <class T>
Size poequ(MatrixView<T> A, T* s, T* scond, T* amax);
/// A is scaled where that is worth it. The letter for EQUED.
template <class T>
char laqge(MatrixView<T> A, const T* r, const T* c, T rowcnd, T colcnd, T amax);
template <class T>
char laqsy(Half<T> A, const T* s, T scond, T amax);

/// All of the above.
template <class T>
Size gesvx(char fact, char trans, MatrixView<T> A, MatrixView<T> AF, Integers ipiv, char* equed, T* r, T* c,
           MatrixView<T> B, MatrixView<T> X, T* rcond, T* ferr, T* berr, T* growth);
template <class T>
Size posvx(char fact, Half<T> A, Half<T> AF, char* equed, T* s, MatrixView<T> B, MatrixView<T> X, T* rcond, T* ferr,
           T* berr);

/// Factors in float, refined in double: dsgesv and dsposv. iter: the iterations, or why the factors are in double.
template <class T>
Size sgesv(MatrixView<T> A, Integers ipiv, MatrixView<T> B, MatrixView<T> X, Integers iter);
template <class T>
Size sposv(Half<T> A, MatrixView<T> B, MatrixView<T> X, Integers iter);

}  // namespace lasolve::lapack
