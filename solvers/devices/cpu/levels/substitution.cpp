#include "solvers/devices/cpu/levels/substitution.hpp"

namespace lasolve::LASOLVE_LEVEL {

namespace {

#include "core/cpu/vectors.hpp"
#include "solvers/devices/cpu/levels/tiles.hpp"

/// The same triangle, or that of its rows and columns in reverse order, so that it is upper. Then columns of B are taken in reverse.
template <class T>
TriangleLeaf<T> as_upper(TriangleLeaf<T> t) {
  if (!t.lower) return t;
  const std::int64_t last = t.order - 1;
  return {t.data + last * (t.row + t.col), -t.row, -t.col, t.order, false, t.unit};
}

/// Columns j, …, j + N − 1 of X inv(T), where those before are there, and T is upper. `inverse`: of T's diagonal, from j on.
template <int lanes, int V, int N, class T>
inline void solve_columns(const TriangleLeaf<T>& t, const T* inverse, std::int64_t j, T* x, std::int64_t ldx) {
  T* const at = x + j * ldx;
  Tile<T, lanes, V, N> tile(at, ldx);
  tile.subtract(j, x, ldx, t.data + j * t.col, t.row, t.col);
  const T* const diagonal = t.data + j * (t.row + t.col);
  for (int c = 0; c < N; ++c) {
    for (int p = 0; p < c; ++p) {
      const T above = diagonal[p * t.row + c * t.col];
      for (int v = 0; v < V; ++v) tile.x[c][v] -= tile.x[p][v] * above;
    }
    if (!t.unit)
      for (int v = 0; v < V; ++v) tile.x[c][v] *= inverse[c];
  }
  tile.store_to(at, ldx);
}

constexpr std::int64_t inverses_at_once = 64;

/// False: one of them overflows, as that of a subnormal element does.
template <class T>
bool invert_diagonal(const TriangleLeaf<T>& t, std::int64_t from, std::int64_t n, T* inverse) {
  int overflows = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    inverse[j] = t.unit ? T(1) : T(1) / t.data[(from + j) * (t.row + t.col)];
    overflows |= !(inverse[j] * 0 == 0);
  }
  return overflows == 0;
}

/// Columns j0, …, j0 + n − 1 of X ← X inv(T) for an upper T, where those before are there: without reciprocals.
template <class T>
void divide_columns(const TriangleLeaf<T>& t, std::int64_t j0, std::int64_t n, std::int64_t m, T* x, std::int64_t ldx) {
  for (std::int64_t j = j0; j < j0 + n; ++j) {
    for (std::int64_t k = 0; k < j; ++k)
      for (std::int64_t i = 0; i < m; ++i) x[i + j * ldx] -= x[i + k * ldx] * t.data[k * t.row + j * t.col];
    for (std::int64_t i = 0; i < m; ++i) x[i + j * ldx] /= t.data[j * (t.row + t.col)];
  }
}

/// X ← X inv(T) for an upper T.
template <class T>
void solve_upper(const TriangleLeaf<T>& t, std::int64_t m, T* x, std::int64_t ldx) {
  T inverse[inverses_at_once];
  for (std::int64_t j0 = 0; j0 < t.order; j0 += inverses_at_once) {
    const std::int64_t n = least(inverses_at_once, t.order - j0);
    if (!invert_diagonal(t, j0, n, inverse)) {
      divide_columns(t, j0, n, m, x, ldx);
      continue;
    }
    by_blocks_of_rows<T>(0, m, [&]<int lanes, int V>(std::int64_t i) {
      by_blocks_of_columns(
          n, [&]<int N>(std::int64_t j) { solve_columns<lanes, V, N>(t, inverse + j, j0 + j, x + i, ldx); });
    });
  }
}

template <class T>
void solve_right(TriangleLeaf<T> t, std::int64_t m, T* B, std::int64_t ldb) {
  if (t.lower) B += (t.order - 1) * ldb, ldb = -ldb;
  solve_upper(as_upper(t), m, B, ldb);
}

/// By columns of the transposed triangle and some of the right-hand sides, copied so that these are contiguous.
template <class T>
void solve_left(TriangleLeaf<T> t, std::int64_t nrhs, T* B, std::int64_t ldb) {
  constexpr std::int64_t W = tile_vectors * widest<T>;
  alignas(64) T Bt[most_order_with_many * W];  // (n, width)
  const TriangleLeaf<T> transposed = {t.data, t.col, t.row, t.order, !t.lower, t.unit};
  for (std::int64_t j0 = 0; j0 < nrhs; j0 += W) {
    const std::int64_t n = least(W, nrhs - j0), width = n > widest<T> ? W : widest<T>;
    T* const b = B + j0 * ldb;
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < t.order; ++i) Bt[i * width + j] = b[i + j * ldb];
    for (std::int64_t i = 0; n < width && i < t.order; ++i)
      for (std::int64_t j = n; j < width; ++j) Bt[i * width + j] = 0;
    solve_right(transposed, width, Bt, width);
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < t.order; ++i) b[i + j * ldb] = Bt[i * width + j];
  }
}

constexpr std::int64_t at_once = 8;  // columns of a matrix that is multiplied by one column

/// r ← r − Aᵀ x with N columns of A.
template <int N, class T>
inline void subtract_dots(std::int64_t m, const T* A, std::int64_t ld, const T* x, T* r) {
  constexpr int lanes = widest<T>;
  typename Packet<T, lanes>::Value sums[N] = {};
  std::int64_t i = 0;
  for (; i + lanes <= m; i += lanes) {
    const auto xi = load<T, lanes>(x + i);
    for (int c = 0; c < N; ++c) sums[c] += load<T, lanes>(A + c * ld + i) * xi;
  }
  for (int c = 0; c < N; ++c) {
    T sum = 0;
    for (int l = 0; l < lanes; ++l) sum += sums[c][l];
    for (std::int64_t k = i; k < m; ++k) sum += A[c * ld + k] * x[k];
    r[c] -= sum;
  }
}

template <class T>
void subtract_product_with_one(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r) {
  std::int64_t j = 0;
  for (; j + at_once <= n; j += at_once) subtract_product(m, 1, at_once, A + j * ld, ld, x + j, 1, 0, r, 0);
  if (j < n) subtract_product(m, 1, n - j, A + j * ld, ld, x + j, 1, 0, r, 0);
}

template <class T>
void subtract_transposed(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, T* r) {
  std::int64_t j = 0;
  for (; j + at_once <= n; j += at_once) subtract_dots<at_once>(m, A + j * ld, ld, x, r + j);
  for (; j < n; ++j) subtract_dots<1>(m, A + j * ld, ld, x, r + j);
}

template <class T>
void add_magnitudes(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, double scale, double* sums) {
  const auto add = [&]<int columns>(std::int64_t j) {
    const T* const a = A + j * ld;
#pragma GCC ivdep
    for (std::int64_t i = 0; i < m; ++i) {
      double sum = sums[i];
      for (int c = 0; c < columns; ++c) sum += scale * __builtin_fabs(double(a[i + c * ld]));
      sums[i] = sum;
    }
  };
  std::int64_t j = 0;
  for (; j + 4 <= n; j += 4) add.template operator()<4>(j);
  for (; j < n; ++j) add.template operator()<1>(j);
}

/// Unknowns first, …, first ± (n − 1), one after the other, with what they have of each other.
template <class T>
inline void substitute_next(const TriangleLeaf<T>& t, std::int64_t first, std::int64_t n, T* b) {
  const std::int64_t step = t.lower ? 1 : -1;
  for (std::int64_t a = 0; a < n; ++a) {
    const std::int64_t j = first + a * step;
    if (b[j] == T(0)) continue;
    if (!t.unit) b[j] /= t.data[j * (t.row + t.col)];
    for (std::int64_t c = a + 1; c < n; ++c) {
      const std::int64_t i = first + c * step;
      b[i] -= t.data[i * t.row + j * t.col] * b[j];
    }
  }
}

template <class T>
void solve_one(TriangleLeaf<T> t, T* b) {
  const std::int64_t n = t.order;
  for (std::int64_t done = 0; done < n; done += at_once) {
    const std::int64_t w = least(at_once, n - done), rest = n - done - w;
    const std::int64_t j0 = t.lower ? done : rest;  // the least of the next unknowns
    if (t.row != 1 && t.lower) subtract_transposed(done, w, t.data + j0 * t.row, t.row, b, b + j0);
    if (t.row != 1 && !t.lower) subtract_transposed(done, w, t.data + j0 * t.row + j0 + w, t.row, b + j0 + w, b + j0);
    substitute_next(t, t.lower ? j0 : j0 + w - 1, w, b);
    if (t.row == 1 && t.lower)
      subtract_product_with_one(rest, w, t.data + j0 * t.col + j0 + w, t.col, b + j0, b + j0 + w);
    if (t.row == 1 && !t.lower) subtract_product_with_one(rest, w, t.data + j0 * t.col, t.col, b + j0, b);
  }
}

/// Unblocked, of a few columns.
template <class T>
inline std::int64_t cholesky_of_few(std::int64_t n, T* A, std::int64_t ld, T* inverse) {
  for (std::int64_t j = 0; j < n; ++j) {
    T* const a = A + j * ld;
    if (!(a[j] > T(0))) return j + 1;
    a[j] = sizeof(T) == 8 ? T(__builtin_sqrt(a[j])) : T(__builtin_sqrtf(float(a[j])));
    inverse[j] = T(1) / a[j];
    for (std::int64_t i = j + 1; i < n; ++i) a[i] /= a[j];
    for (std::int64_t c = j + 1; c < n; ++c)
      for (std::int64_t i = c; i < n; ++i) A[i + c * ld] -= a[i] * a[c];
  }
  return 0;
}

/// By block columns, left-looking.
template <class T>
std::int64_t cholesky(std::int64_t n, T* A, std::int64_t ld) {
  constexpr int N = tile_columns;
  const TriangleLeaf<T> transposed = {A, ld, 1, n, false, false};  // Lᵀ
  for (std::int64_t j = 0; j < n; j += N) {
    const std::int64_t w = least(N, n - j);
    T* const A11 = A + j + j * ld;
    T inverse[N];
    if (j > 0) subtract_product(w, w, j, A + j, ld, A + j, ld, 1, A11, ld);
    if (const std::int64_t bad = cholesky_of_few(w, A11, ld, inverse)) return j + bad;
    by_blocks_of_rows<T>(j + w, n, [&]<int lanes, int V>(std::int64_t i) {  // none where w < N
      solve_columns<lanes, V, N>(transposed, inverse, j, A + i, ld);
    });
  }
  return 0;
}

}  // namespace

extern const Substitutions substitutions;
#define LASOLVE_TABLE(T)            \
  {                                 \
      cholesky<T>,                  \
      solve_right<T>,               \
      solve_left<T>,                \
      solve_one<T>,                 \
      subtract_product_with_one<T>, \
      subtract_transposed<T>,       \
      add_magnitudes<T>},
const Substitutions substitutions{LASOLVE_ELEMENTS(LASOLVE_TABLE)};
#undef LASOLVE_TABLE

}  // namespace lasolve::LASOLVE_LEVEL
