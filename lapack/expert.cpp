// The drivers that do everything: equilibrated, factored, refined, with bounds and a condition number.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

namespace {

/// |x|, or NaN where one of both is that.
template <class T>
void take_larger(T& most, T x) {
  const T its = std::abs(x);
  if (!(its <= most) && most == most) most = its;
}

template <class T>
T largest_of(MatrixView<T> A, Size columns, bool upper_alone) {
  T most = 0;
  for (Size j = 0; j < columns; ++j)
    for (Size i = 0; i < (upper_alone ? j + 1 : A.rows()); ++i) take_larger(most, A(i, j));
  return most;
}

/// max|A| / max|U|: small where elements grew.
template <class T>
T reciprocal_growth(MatrixView<T> A, MatrixView<T> LU, Size columns) {
  const T of_U = largest_of(LU, columns, true);
  return of_U == T(0) ? T(1) : largest_of(A, columns, false) / of_U;
}

/// ‖A‖₁, or ‖A‖∞.
template <class T>
T norm_of(MatrixView<T> A, bool by_rows) {
  std::vector<T> sums(std::size_t(by_rows ? A.rows() : A.cols()), T(0));
  for (Size j = 0; j < A.cols(); ++j)
    for (Size i = 0; i < A.rows(); ++i) sums[std::size_t(by_rows ? i : j)] += std::abs(A(i, j));
  T most = 0;
  for (const T sum : sums) take_larger(most, sum);
  return most;
}
template <class T>
T norm_of(Half<T> A) {
  std::vector<T> sums(std::size_t(A.n()), T(0));
  for (Size j = 0; j < A.n(); ++j)
    for (Size i = A.lower ? j : 0; i < (A.lower ? A.n() : j + 1); ++i) {
      const T its = std::abs(A.A(i, j));
      sums[std::size_t(i)] += its;
      if (i != j) sums[std::size_t(j)] += its;
    }
  T most = 0;
  for (const T sum : sums) take_larger(most, sum);
  return most;
}

template <class T>
void copy_matrix(MatrixView<T> from, MatrixView<T> to) {
  for (Size j = 0; j < from.cols(); ++j) std::copy_n(&from(0, j), from.rows(), &to(0, j));
}
template <class T>
void copy_matrix(Half<T> from, Half<T> to) {
  for (Size j = 0; j < from.n(); ++j)
    for (Size i = from.lower ? j : 0; i < (from.lower ? from.n() : j + 1); ++i) to.A(i, j) = from.A(i, j);
}
template <class T>
void scale_rows(MatrixView<T> X, const T* s) {
  for (Size j = 0; j < X.cols(); ++j)
    for (Size i = 0; i < X.rows(); ++i) X(i, j) *= s[i];
}

/// Whether the caller's scales serve, and the smallest over the largest.
template <class T>
bool are_scales(const T* s, Size n, T* ratio) {
  *ratio = T(1);
  if (n == 0) return true;
  const T least = std::numeric_limits<T>::min();
  const auto [low, high] = std::minmax_element(s, s + n);
  if (!(*low > T(0))) return false;
  *ratio = std::max(*low, least) / std::min(*high, 1 / least);
  return true;
}

/// X of the scaled system to that of the caller's, and its bounds.
template <class T>
void scale_back(MatrixView<T> X, const T* s, T ratio, T* ferr) {
  scale_rows(X, s);
  for (Size j = 0; j < X.cols(); ++j) ferr[j] /= ratio;
}

/// INFO where the condition leaves no digit.
template <class T>
Size judged(Size n, T rcond) {
  return rcond < std::numeric_limits<T>::epsilon() / 2 ? n + 1 : 0;
}

}  // namespace

template <class T>
Size gesvx(char fact, char trans, MatrixView<T> A, MatrixView<T> AF, Integers ipiv, char* equed, T* r, T* c,
           MatrixView<T> B, MatrixView<T> X, T* rcond, T* ferr, T* berr, T* growth) {
  const Size n = A.rows();
  const bool is_plain = trans == 'N';
  T rowcnd = 1, colcnd = 1, amax = 0;
  char state = 'N';
  if (fact == 'F') {
    state = capital(*equed);
    if (std::string_view("NRCB").find(state) == std::string_view::npos) return -10;
    if ((state == 'R' || state == 'B') && !are_scales(r, n, &rowcnd)) return -11;
    if ((state == 'C' || state == 'B') && !are_scales(c, n, &colcnd)) return -12;
  } else {
    if (fact == 'E' && geequ(A, r, c, &rowcnd, &colcnd, &amax) == 0) state = laqge(A, r, c, rowcnd, colcnd, amax);
    *equed = state;
  }
  const bool by_rows = state == 'R' || state == 'B', by_columns = state == 'C' || state == 'B';
  const bool scales_B = is_plain ? by_rows : by_columns, scales_X = is_plain ? by_columns : by_rows;
  if (scales_B) scale_rows(B, is_plain ? r : c);
  if (fact != 'F') {
    copy_matrix(A, AF);
    if (const Size zero = getrf(AF, ipiv)) {
      *growth = reciprocal_growth(A, AF, zero);
      *rcond = 0;
      return zero;
    }
  }
  const T growth_here = reciprocal_growth(A, AF, n);
  gecon(is_plain ? '1' : 'I', AF, norm_of(A, !is_plain), rcond, static_cast<T*>(nullptr));
  copy_matrix(B, X);
  getrs(trans, AF, ipiv, X);
  gerfs(trans, A, AF, ipiv, B, X, ferr, berr);
  if (scales_X) scale_back(X, is_plain ? c : r, is_plain ? colcnd : rowcnd, ferr);
  *growth = growth_here;
  return judged(n, *rcond);
}

template <class T>
Size posvx(char fact, Half<T> A, Half<T> AF, char* equed, T* s, MatrixView<T> B, MatrixView<T> X, T* rcond, T* ferr,
           T* berr) {
  const Size n = A.n();
  T scond = 1, amax = 0;
  char state = 'N';
  if (fact == 'F') {
    state = capital(*equed);
    if (state != 'N' && state != 'Y') return -9;
    if (state == 'Y' && !are_scales(s, n, &scond)) return -10;
  } else {
    if (fact == 'E' && poequ(A.A, s, &scond, &amax) == 0) state = laqsy(A, s, scond, amax);
    *equed = state;
  }
  if (state == 'Y') scale_rows(B, s);
  if (fact != 'F') {
    copy_matrix(A, AF);
    if (const Size minor = potrf(AF)) {
      *rcond = 0;
      return minor;
    }
  }
  pocon(AF, norm_of(A), rcond);
  copy_matrix(B, X);
  potrs(AF, X);
  porfs(A, AF, B, X, ferr, berr);
  if (state == 'Y') scale_back(X, s, scond, ferr);
  return judged(n, *rcond);
}

#define LASOLVE_INSTANTIATE(T)                                                                                         \
  template Size gesvx(char, char, MatrixView<T>, MatrixView<T>, Integers, char*, T*, T*, MatrixView<T>, MatrixView<T>, \
                      T*, T*, T*, T*);                                                                                 \
  template Size posvx(char, Half<T>, Half<T>, char*, T*, MatrixView<T>, MatrixView<T>, T*, T*, T*);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
