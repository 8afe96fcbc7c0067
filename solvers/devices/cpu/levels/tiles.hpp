// Products of small matrices from where they lie: no panels are packed. Included as core/cpu/vectors.hpp, and after it.

/// f<lanes, vectors>(i) for blocks of rows i, i + 1, … of [i, m): of as many vectors as go well together, of one, and of parts of one.
template <class T, int lanes = widest<T>, class F>
inline void by_blocks_of_rows(std::int64_t i, std::int64_t m, const F& f) {
  constexpr std::int64_t rows = std::int64_t(tile_vectors) * lanes;
  if constexpr (lanes == widest<T>)
    for (; i + rows <= m; i += rows) f.template operator()<lanes, tile_vectors>(i);
  for (; i + lanes <= m; i += lanes) f.template operator()<lanes, 1>(i);
  if constexpr (lanes > 1) by_blocks_of_rows<T, lanes / 2>(i, m, f);
}

/// f<columns>(j) for blocks of columns of [0, n).
template <class F>
inline void by_blocks_of_columns(std::int64_t n, const F& f) {
  std::int64_t j = 0;
  for (; j + tile_columns <= n; j += tile_columns) f.template operator()<tile_columns>(j);
  if constexpr (tile_columns > 4)
    for (; j + 4 <= n; j += 4) f.template operator()<4>(j);
  for (; j < n; ++j) f.template operator()<1>(j);
}

/// A block of a matrix in registers.
template <class T, int lanes, int V, int N>
struct Tile {
  using Vector = typename Packet<T, lanes>::Value;
  Vector x[N][V];

  Tile(const T* from, std::int64_t ld) {
    for (int j = 0; j < N; ++j)
      for (int v = 0; v < V; ++v) x[j][v] = load<T, lanes>(from + j * ld + v * lanes);
  }
  void store_to(T* to, std::int64_t ld) const {
    for (int j = 0; j < N; ++j)
      for (int v = 0; v < V; ++v) store<T, lanes>(to + j * ld + v * lanes, x[j][v]);
  }
  /// Subtracts A·B for k columns of A and rows of B, one after the other. Element (l, j) of B is b[l·b_row + j·b_col].
  void subtract(std::int64_t k, const T* a, std::int64_t lda, const T* b, std::int64_t b_row, std::int64_t b_col) {
    for (std::int64_t l = 0; l < k; ++l, a += lda, b += b_row) {
      Vector column[V];
      for (int v = 0; v < V; ++v) column[v] = load<T, lanes>(a + v * lanes);
      for (int j = 0; j < N; ++j)
        for (int v = 0; v < V; ++v) x[j][v] -= column[v] * b[j * b_col];
    }
  }
};

/// C ← C − A·B for C: m × n, A: m × k, both by columns. Element (l, j) of B is b[l·b_row + j·b_col].
template <class T>
inline void subtract_product(std::int64_t m, std::int64_t n, std::int64_t k, const T* a, std::int64_t lda, const T* b,
                             std::int64_t b_row, std::int64_t b_col, T* c, std::int64_t ldc) {
  by_blocks_of_columns(n, [&]<int N>(std::int64_t j) {
    by_blocks_of_rows<T>(0, m, [&]<int lanes, int V>(std::int64_t i) {
      T* const at = c + i + j * ldc;
      Tile<T, lanes, V, N> tile(at, ldc);
      tile.subtract(k, a + i, lda, b + j * b_col, b_row, b_col);
      tile.store_to(at, ldc);
    });
  });
}
