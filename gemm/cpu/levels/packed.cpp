// packed on one core: see gemm/cpu/packed.cpp.
#include "gemm/cpu/levels/packed.hpp"

namespace lasolve::LASOLVE_LEVEL {

namespace {

#include "core/cpu/vectors.hpp"

constexpr std::int64_t MC = 192, NC = 2048;
template <class T>
constexpr std::int64_t KC = 2048 / sizeof(T);

// Of the block of C in registers, V vectors × NR. Its vectors and a column of A's panel are all of them, but for one or two.
#if defined(__AVX512F__)
constexpr int V = 3, NR = 8;
#elif defined(__AVX2__)
constexpr int V = 2, NR = 6;
#else
constexpr int V = 2, NR = 4;
#endif
template <class T>
constexpr int MR = V* widest<T>;

constexpr std::int64_t round_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

/// c ← α·a·b + β·c for panels a: (MR, k) and b: (k, NR), and c: (MR, NR).
template <class T>
void micro_kernel(std::int64_t k, const T* __restrict a, const T* __restrict b, T alpha, T beta, T* __restrict c,
                  std::int64_t ldc) {
  constexpr int lanes = widest<T>;
  using Vector = typename Packet<T, lanes>::Value;
  for (int j = 0; j < NR; ++j)
    for (int v = 0; v < V; ++v) __builtin_prefetch(c + j * ldc + v * lanes, 1);
  Vector sum[NR][V] = {};
  for (std::int64_t l = 0; l < k; ++l, a += MR<T>, b += NR) {
    Vector column[V];
    for (int v = 0; v < V; ++v) column[v] = load<T, lanes>(a + v * lanes);
    for (int j = 0; j < NR; ++j)
      for (int v = 0; v < V; ++v) sum[j][v] += column[v] * b[j];
  }
  for (int j = 0; j < NR; ++j)
    for (int v = 0; v < V; ++v) {
      T* const to = c + j * ldc + v * lanes;
      store<T, lanes>(to, beta == T(0) ? alpha * sum[j][v] : beta * load<T, lanes>(to) + alpha * sum[j][v]);
    }
}

template <class T>
void copy(const T* from, std::int64_t n, T* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i];
}

/// Panels of W rows of X (m × k), each column by column, the last filled up with zeros. Reads along what is contiguous in X: whole
/// columns, or a cache line of each row at a time.
template <int W, class T>
void pack(std::int64_t m, std::int64_t k, Strided<T> X, T* to) {
  const std::int64_t whole = m / W * W, rest = m - whole;
  constexpr std::int64_t line = 64 / sizeof(T);
  if (rest > 0)
    for (std::int64_t i = 0; i < W * k; ++i) to[whole * k + i] = 0;
  if (X.row == 1) {
    for (std::int64_t l = 0; l < k; ++l) {
      const T* const from = X.data + l * X.col;
      for (std::int64_t i = 0; i < whole; i += W)
        for (int w = 0; w < W; ++w) to[i * k + l * W + w] = from[i + w];
      copy(from + whole, rest, to + whole * k + l * W);
    }
  } else {
    for (std::int64_t i0 = 0; i0 < m; i0 += W)
      for (std::int64_t l0 = 0; l0 < k; l0 += line)
        for (std::int64_t i = 0, l1 = least(k, l0 + line); i < least(W, m - i0); ++i) {
          const T* const from = X.data + (i0 + i) * X.row;
          for (std::int64_t l = l0; l < l1; ++l) to[i0 * k + l * W + i] = from[l];
        }
  }
}

/// C ← α·As·Bs + β·C for packed panels of MR rows and NR columns.
template <class T>
void multiply_panels(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* As, const T* Bs, T beta, T* C,
                     std::int64_t ldc) {
  for (std::int64_t j = 0; j < n; j += NR)
    for (std::int64_t i = 0; i < m; i += MR<T>) {
      const std::int64_t rows = least(MR<T>, m - i), columns = least(NR, n - j);
      T* const c = C + i + j * ldc;
      if (rows == MR<T> && columns == NR) {
        micro_kernel(k, As + i * k, Bs + j * k, alpha, beta, c, ldc);
        continue;
      }
      alignas(64) T tile[MR<T> * NR];
      micro_kernel(k, As + i * k, Bs + j * k, alpha, T(0), tile, MR<T>);
      for (std::int64_t jj = 0; jj < columns; ++jj)
        for (std::int64_t ii = 0; ii < rows; ++ii) {
          T& to = c[ii + jj * ldc];
          to = beta == T(0) ? tile[jj * MR<T> + ii] : beta * to + tile[jj * MR<T> + ii];
        }
    }
}

/// How much of k is packed at once.
template <class T>
std::int64_t depth_of(std::int64_t k) {
  const std::int64_t parts = (k + KC<T> - 1) / KC<T>;
  return (k + parts - 1) / parts;
}

template <class T>
std::int64_t room_for_A(std::int64_t m, std::int64_t k) {
  return depth_of<T>(k) * round_up(least(m, MC), MR<T>);
}

template <class T>
std::int64_t room(std::int64_t m, std::int64_t n, std::int64_t k) {
  return room_for_A<T>(m, k) + depth_of<T>(k) * round_up(least(n, NC), NR);
}

template <class T>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, Strided<T> A, Strided<T> B, T beta, T* C,
              std::int64_t ldc, T* memory) {
  const std::int64_t kb = depth_of<T>(k);
  T *const As = memory, *const Bs = memory + room_for_A<T>(m, k);
  for (std::int64_t j = 0; j < n; j += NC)
    for (std::int64_t l = 0; l < k; l += kb) {
      const std::int64_t nj = least(NC, n - j), kl = least(kb, k - l);
      pack<NR>(nj, kl, Strided<T>{B.data + l * B.row + j * B.col, B.col, B.row}, Bs);
      for (std::int64_t i = 0; i < m; i += MC) {
        const std::int64_t mi = least(MC, m - i);
        pack<MR<T>>(mi, kl, Strided<T>{A.data + i * A.row + l * A.col, A.row, A.col}, As);
        multiply_panels(mi, nj, kl, alpha, As, Bs, l == 0 ? beta : T(1), C + i + j * ldc, ldc);
      }
    }
}

}  // namespace

extern const PackedProducts packed_products;
const PackedProducts packed_products{{room<double>, multiply<double>}, {room<float>, multiply<float>}};

}  // namespace lasolve::LASOLVE_LEVEL
