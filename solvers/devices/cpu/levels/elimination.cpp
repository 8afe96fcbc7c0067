#include "solvers/devices/cpu/levels/elimination.hpp"

namespace lasolve::LASOLVE_LEVEL {

namespace {

#include "core/cpu/vectors.hpp"
#include "solvers/devices/cpu/levels/tiles.hpp"

constexpr std::int64_t block = 4;  // columns that are eliminated before those behind them hear of it

template <class T>
T magnitude(T x) {
  return x < 0 ? -x : x;
}

template <class T>
std::int64_t largest(std::int64_t n, const T* a) {
  constexpr int lanes = widest<T>, at_once = 2;
  constexpr std::int64_t rows = std::int64_t(at_once) * lanes;
  using Vector = typename Packet<T, lanes>::Value;
  T most = -1;
  const auto offer = [&](T x) {
    if (!(x <= most) && most == most) most = x;
  };
  if (n < 2 * rows) {
    std::int64_t first = 0;
    for (std::int64_t k = 0; k < n; ++k)
      if (const T x = magnitude(a[k]); !(x <= most) && most == most) most = x, first = k;
    return first;
  }
  std::int64_t i = 0;
  Vector best[at_once] = {Vector{} - 1, Vector{} - 1};
  for (; i + rows <= n; i += rows)
    for (int v = 0; v < at_once; ++v) {
      const Vector value = load<T, lanes>(a + i + v * lanes), x = value < 0 ? -value : value;
      best[v] = (x <= best[v]) | (best[v] != best[v]) ? best[v] : x;
    }
  for (int v = 0; v < at_once; ++v)
    for (int l = 0; l < lanes; ++l) offer(best[v][l]);
  for (; i < n; ++i) offer(magnitude(a[i]));
  for (i = 0; i < n; ++i)
    if (magnitude(a[i]) == most || (most != most && a[i] != a[i])) return i;
  return 0;
}

/// A ← A − l u for some columns of A from c on, l being column j and u row j, in rows begin, …, end − 1.
template <int columns, class T>
void subtract_outer_product(T* A, std::int64_t ld, std::int64_t j, std::int64_t c, std::int64_t begin,
                            std::int64_t end) {
  const T* const l = A + j * ld;
  T* const a = A + c * ld;
  T u[columns];
  for (int k = 0; k < columns; ++k) u[k] = a[j + k * ld];
#pragma GCC ivdep
  for (std::int64_t i = begin; i < end; ++i)
    for (int k = 0; k < columns; ++k) a[i + k * ld] -= l[i] * u[k];
}

template <class T>
void eliminate(std::int64_t n, T* A, std::int64_t ld, std::int64_t j, std::int64_t begin, std::int64_t end) {
  const T pivot = A[j + j * ld];
  if (pivot == T(0)) return;
  T* const l = A + j * ld;
  for (std::int64_t i = begin; i < end; ++i) l[i] /= pivot;  // a reciprocal would round twice
  std::int64_t c = j + 1;
  for (; c + 4 <= n; c += 4) subtract_outer_product<4>(A, ld, j, c, begin, end);  // l is read once for all four
  for (; c < n; ++c) subtract_outer_product<1>(A, ld, j, c, begin, end);
}

template <class T>
void swap_rows(std::int64_t n, T* A, std::int64_t ld, std::int64_t i, std::int64_t p) {
  if (i == p) return;
  for (std::int64_t c = 0; c < n; ++c) {
    const T of_i = A[i + c * ld];
    A[i + c * ld] = A[p + c * ld];
    A[p + c * ld] = of_i;
  }
}

/// X ← inv(L) X for the unit lower triangle of w × w, and n columns of X.
template <class T>
void solve_unit_lower(std::int64_t w, std::int64_t n, const T* L, T* X, std::int64_t ld) {
  for (std::int64_t c = 0; c < n; ++c, X += ld)
    for (std::int64_t l = 0; l < w; ++l)
      for (std::int64_t i = l + 1; i < w; ++i) X[i] -= L[i + l * ld] * X[l];
}

template <class T>
std::int64_t factor(std::int64_t m, std::int64_t n, T* A, std::int64_t ld, std::int64_t* pivots, std::int64_t start) {
  std::int64_t zero = -1;
  for (std::int64_t b = 0; b < n; b += block) {
    const std::int64_t end = least(b + block, n);
    for (std::int64_t j = b; j < end; ++j) {
      const std::int64_t p = j + largest(m - j, A + j + j * ld);
      pivots[j] = start + p;
      swap_rows(n, A, ld, j, p);
      if (A[j + j * ld] == T(0) && zero < 0) zero = j;
      eliminate(end, A, ld, j, j + 1, m);
    }
    if (end == n) break;
    T *const A12 = A + b + end * ld, *const A21 = A + end + b * ld;
    solve_unit_lower(end - b, n - end, A + b + b * ld, A12, ld);
    subtract_product(m - end, n - end, end - b, A21, ld, A12, 1, ld, A + end + end * ld, ld);
  }
  return zero;
}

}  // namespace

extern const Eliminations eliminations;
#define LASOLVE_TABLE(T) {factor<T>, eliminate<T>, largest<T>},
const Eliminations eliminations{LASOLVE_ELEMENTS(LASOLVE_TABLE)};
#undef LASOLVE_TABLE

}  // namespace lasolve::LASOLVE_LEVEL
