// Scales of rows and columns, as LAPACK has them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lapack/routines.hpp"

namespace lasolve::lapack {

namespace {

template <class T>
constexpr T smallest = std::numeric_limits<T>::min();
constexpr double worth_scaling = 0.1;  // the smallest over the largest, below which it is

/// Whether the largest element is so small or large that A is scaled for that alone.
template <class T>
bool is_out_of_range(T amax) {
  const T small = smallest<T> / std::numeric_limits<T>::epsilon();
  return !(amax >= small && amax <= 1 / small);
}

/// Largest elements to scales, and the smallest over the largest. The first that is zero, counted from 1; or 0.
template <class T>
Size to_scales(T* largest, Size n, T* ratio, T* most) {
  const T big = 1 / smallest<T>;
  const auto [low, high] = std::minmax_element(largest, largest + n);
  const T least = *low, top = *high;
  *most = top;
  if (least == T(0)) return std::find(largest, largest + n, T(0)) - largest + 1;
  for (Size i = 0; i < n; ++i) largest[i] = 1 / std::clamp(largest[i], smallest<T>, big);
  *ratio = std::max(least, smallest<T>) / std::min(top, big);
  return 0;
}

}  // namespace

template <class T>
Size geequ(MatrixView<T> A, T* r, T* c, T* rowcnd, T* colcnd, T* amax) {
  const Size m = A.rows(), n = A.cols();
  *rowcnd = *colcnd = T(1), *amax = T(0);
  if (m == 0 || n == 0) return 0;
  std::fill_n(r, m, T(0));
  for (Size j = 0; j < n; ++j)
    for (Size i = 0; i < m; ++i) r[i] = std::max(r[i], std::abs(A(i, j)));
  if (const Size zero = to_scales(r, m, rowcnd, amax)) return zero;
  for (Size j = 0; j < n; ++j) {
    c[j] = 0;
    for (Size i = 0; i < m; ++i) c[j] = std::max(c[j], std::abs(A(i, j)) * r[i]);
  }
  T most_of_columns;
  const Size zero = to_scales(c, n, colcnd, &most_of_columns);
  return zero ? m + zero : 0;
}

template <class T>
Size poequ(MatrixView<T> A, T* s, T* scond, T* amax) {
  const Size n = A.rows();
  *scond = T(1), *amax = T(0);
  if (n == 0) return 0;
  for (Size i = 0; i < n; ++i) s[i] = A(i, i);
  const auto [low, high] = std::minmax_element(s, s + n);
  const T least = *low;
  *amax = *high;
  if (!(least > T(0))) return std::find_if(s, s + n, [](T x) { return !(x > T(0)); }) - s + 1;
  for (Size i = 0; i < n; ++i) s[i] = 1 / std::sqrt(s[i]);
  *scond = std::sqrt(least) / std::sqrt(*amax);
  return 0;
}

template <class T>
char laqge(MatrixView<T> A, const T* r, const T* c, T rowcnd, T colcnd, T amax) {
  if (A.empty()) return 'N';
  const bool rows = rowcnd < T(worth_scaling) || is_out_of_range(amax), columns = colcnd < T(worth_scaling);
  for (Size j = 0; (rows || columns) && j < A.cols(); ++j)
    for (Size i = 0; i < A.rows(); ++i) A(i, j) *= (columns ? c[j] : T(1)) * (rows ? r[i] : T(1));
  return rows ? (columns ? 'B' : 'R') : columns ? 'C' : 'N';
}

template <class T>
char laqsy(Half<T> A, const T* s, T scond, T amax) {
  if (A.A.empty() || (scond >= T(worth_scaling) && !is_out_of_range(amax))) return 'N';
  for (Size j = 0; j < A.n(); ++j)
    for (Size i = A.lower ? j : 0; i < (A.lower ? A.n() : j + 1); ++i) A.A(i, j) *= s[j] * s[i];
  return 'Y';
}

#define LASOLVE_INSTANTIATE(T)                                     \
  template Size geequ(MatrixView<T>, T*, T*, T*, T*, T*);          \
  template Size poequ(MatrixView<T>, T*, T*, T*);                  \
  template char laqge(MatrixView<T>, const T*, const T*, T, T, T); \
  template char laqsy(Half<T>, const T*, T, T);
LASOLVE_ELEMENTS(LASOLVE_INSTANTIATE)
#undef LASOLVE_INSTANTIATE

}  // namespace lasolve::lapack
