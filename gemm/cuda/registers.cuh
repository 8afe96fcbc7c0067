// What the rungs with blocks of registers share: which rows and columns of a tile a thread owns, the product of two
// fragments, tiles on their way to shared memory, and the update of C.
#pragma once

#include <algorithm>

#include "gemm/cuda/tile.cuh"

namespace lasolve {

/// How many elements are 16 bytes, the most that a thread moves at once.
template <class T>
constexpr int vector_width = 16 / int(sizeof(T));

template <class T, int width>
struct alignas(sizeof(T) * width) Vector {
  T x[width];
};

template <int width, class T>
__device__ void copy_vector(T* to, const T* from) {
  *reinterpret_cast<Vector<T, width>*>(to) = *reinterpret_cast<const Vector<T, width>*>(from);
}

/// The rows, or the columns, of a tile that one thread owns: `count` in groups of `width` neighbours, `pitch` apart.
template <int count_, int width_, int pitch>
struct Owned {
  static constexpr int count = count_, width = width_;
  int first;
  __device__ int operator[](int x) const { return first + x / width * pitch + x % width; }
};

/// The elements of a row of a shared tile that meet the thread's rows or columns of C.
template <class T, class Own>
__device__ void load_fragment(T (&fragment)[Own::count], const T* row, Own own) {
#pragma unroll
  for (int x = 0; x < Own::count; x += Own::width) copy_vector<Own::width>(fragment + x, row + own[x]);
}

/// sums: (TN, TM) += b aᵀ, to and fro: each product has an operand in common with the one before it, which then is not
/// read from the registers again.
template <class T, int TM, int TN>
__device__ void add_outer_product(T (&sums)[TN][TM], const T (&a)[TM], const T (&b)[TN]) {
#pragma unroll
  for (int j = 0; j < TN; ++j)
#pragma unroll
    for (int step = 0; step < TM; ++step) {
      const int i = j % 2 == 0 ? step : TM - 1 - step;
      sums[j][i] += a[i] * b[j];
    }
}

/// Whether every column that starts at a multiple of 16 bytes of a tile can be moved in vectors of 16 bytes.
template <class T>
__device__ bool is_aligned(const T* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % vector_width<T> == 0;
}

/// How the threads of a block share a BM × BN tile of C: a warp owns WM × WN of it, a thread TM × TN of that.
template <class T, int BM_, int BN_, int WM, int WN, int TM_, int TN_>
struct WarpTiles {
  static constexpr int BM = BM_, BN = BN_, TM = TM_, TN = TN_, V = vector_width<T>, warps_m = BM / WM;
  static constexpr int threads = warps_m * (BN / WN) * 32, lanes_m = WM / TM, lanes_n = WN / TN;
  static_assert(lanes_m * lanes_n == 32);
  __device__ static auto rows() {
    return Owned<TM, V, lanes_m * V>{int(threadIdx.x / 32 % warps_m * WM + threadIdx.x % lanes_m * V)};
  }
  __device__ static auto columns() {
    return Owned<TN, V, lanes_n * V>{int(threadIdx.x / 32 / warps_m * WN + threadIdx.x % 32 / lanes_m * V)};
  }
};

/// Which pieces of a (BK, BX) tile a thread moves: each `wide` neighbours in x, or `deep` neighbours in l. Neighbouring
/// threads go along x; where `turned`, up to 8 of them go along l first, because there the neighbours in memory differ in l.
template <int BX, int BK, int threads, bool turned, int wide, int deep>
struct Walk {
  static constexpr int down = std::min(8, BK / deep), across = turned ? threads / down : std::min(BX / wide, threads);
  static constexpr int step_x = across * wide, step_l = turned ? down * deep : threads / across;
  static constexpr int count = BX / step_x * (BK / step_l);
  static_assert(threads % across == 0 && BX % step_x == 0 && BK % step_l == 0);
  /// The first piece, and how far from it the others are.
  __device__ static int x() { return turned ? threadIdx.x / down : threadIdx.x % across * wide; }
  __device__ static int l() { return turned ? threadIdx.x % down * deep : threadIdx.x / across; }
  static constexpr int dx(int piece) { return piece % (BX / step_x) * step_x; }
  static constexpr int dl(int piece) { return piece / (BX / step_x) * step_l; }
};

/// A (BK, BX) tile in shared memory: rows padded by 16 bytes, so that a turned tile is stored without bank conflicts.
template <class T, int BK, int BX>
using SharedTile = T[BK][BX + vector_width<T>];

/// (BK, BX) tiles of op(X)ᵀ on their way through registers to shared memory: in vectors of `width` where they are aligned and
/// inside of op(X), else element by element, with zeros outside.
template <class T, int BX, int BK, int threads, int width>
class TileLoader {
 public:
  /// tile ← the elements from (x, l) on. All are asked for before any is waited for.
  __device__ void load(SharedTile<T, BK, BX>& tile, Operand<T, Cuda> X, std::int64_t x, std::int64_t l) {
    look_at(X, x, l);
    by_kind([&]<int w, bool turned, bool guarded>() {
      read_pieces<w, turned, guarded>(X, x, l);
      write_pieces<w, turned>(tile);
    });
  }
  /// The same in two steps, between which there is time for other work.
  __device__ void read(Operand<T, Cuda> X, std::int64_t x, std::int64_t l) {
    look_at(X, x, l);
    by_kind([&]<int w, bool turned, bool guarded>() { read_pieces<w, turned, guarded>(X, x, l); });
  }
  __device__ void write(SharedTile<T, BK, BX>& tile) {
    by_kind([&]<int w, bool turned, bool guarded>() { write_pieces<w, turned>(tile); });
  }

 private:
  template <int w, bool turned>
  using Pieces = Walk<BX, BK, threads, turned, turned ? 1 : w, turned ? w : 1>;

  __device__ void look_at(Operand<T, Cuda> X, std::int64_t x, std::int64_t l) {
    turned_ = X.op() == Op::transpose;
    whole_ = x + BX <= X.rows() && l + BK <= X.cols() && (width == 1 || is_aligned(X.data(), X.ld()));
  }
  template <class F>
  __device__ void by_kind(F f) const {
    if (whole_ && turned_) f.template operator()<width, true, false>();
    if (whole_ && !turned_) f.template operator()<width, false, false>();
    if (!whole_ && turned_) f.template operator()<1, true, true>();
    if (!whole_ && !turned_) f.template operator()<1, false, true>();
  }

  template <int w, bool turned, bool guarded>
  __device__ void read_pieces(Operand<T, Cuda> X, std::int64_t x, std::int64_t l) {
    using P = Pieces<w, turned>;
    x += P::x(), l += P::l();
    const T* from = X.data() + (turned ? x * X.ld() + l : x + l * X.ld());
#pragma unroll
    for (int p = 0; p < P::count; ++p)
      if (!guarded || (x + P::dx(p) < X.rows() && l + P::dl(p) < X.cols())) {
        copy_vector<w>(held_ + p * w, from + (turned ? P::dx(p) * X.ld() + P::dl(p) : P::dx(p) + P::dl(p) * X.ld()));
      } else {
        held_[p] = 0;
      }
  }
  template <int w, bool turned>
  __device__ void write_pieces(SharedTile<T, BK, BX>& tile) const {
    using P = Pieces<w, turned>;
#pragma unroll
    for (int p = 0; p < P::count; ++p) {
      T* to = &tile[P::l() + P::dl(p)][P::x() + P::dx(p)];
      if constexpr (!turned) {
        copy_vector<w>(to, held_ + p * w);
      } else {
#pragma unroll
        for (int d = 0; d < w; ++d) to[d * (BX + vector_width<T>)] = held_[p * w + d];
      }
    }
  }

  alignas(16) T held_[BX * BK / threads];
  bool turned_, whole_;
};

/// C(rows, columns) ← α·sums + β·C in vectors of `width`. All of a few columns is read before any of it is written, so that
/// the reads overlap.
template <int width, class T, class Rows, class Columns, int TM, int TN>
__device__ void update_columns(T* c, std::int64_t ld, std::int64_t m, std::int64_t n, Rows rows, Columns columns,
                               T alpha, const T (&sums)[TN][TM], T beta) {
  constexpr int batch = std::min(TN, 4);
  static_assert(Rows::width % width == 0 && TN % batch == 0);
#pragma unroll
  for (int first = 0; first < TN; first += batch) {
    Vector<T, width> old[batch][TM / width] = {};
    if (beta != T(0))
#pragma unroll
      for (int j = 0; j < batch; ++j)
#pragma unroll
        for (int i = 0; i < TM; i += width)
          if (rows[i] < m && columns[first + j] < n)
            old[j][i / width] = *reinterpret_cast<const Vector<T, width>*>(c + rows[i] + columns[first + j] * ld);
#pragma unroll
    for (int j = 0; j < batch; ++j)
#pragma unroll
      for (int i = 0; i < TM; i += width)
        if (rows[i] < m && columns[first + j] < n) {
          Vector<T, width>& v = old[j][i / width];
#pragma unroll
          for (int x = 0; x < width; ++x)
            v.x[x] = beta == T(0) ? alpha * sums[first + j][i + x] : alpha * sums[first + j][i + x] + beta * v.x[x];
          *reinterpret_cast<Vector<T, width>*>(c + rows[i] + columns[first + j] * ld) = v;
        }
  }
}

/// C(rows, columns) ← α·sums + β·C for the tile at `origin`.
template <class T, class Rows, class Columns, int TM, int TN>
__device__ void update_tile(MatrixView<T, Cuda> C, TileOrigin origin, Rows rows, Columns columns, T alpha,
                            const T (&sums)[TN][TM], T beta) {
  T* c = C.data() + origin.i + origin.j * C.ld();
  const std::int64_t m = C.rows() - origin.i, n = C.cols() - origin.j;
  if (is_aligned(C.data(), C.ld()) && m % Rows::width == 0)
    update_columns<Rows::width>(c, C.ld(), m, n, rows, columns, alpha, sums, beta);
  else
    update_columns<1>(c, C.ld(), m, n, rows, columns, alpha, sums, beta);
}

}  // namespace lasolve
