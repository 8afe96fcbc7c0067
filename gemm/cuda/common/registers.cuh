// What the rungs with blocks of registers share. It says which rows and columns of a tile a thread owns, multiplies two
// fragments, brings tiles to shared memory, and updates C.
#pragma once

#include <algorithm>

#include "gemm/cuda/common/tile.cuh"

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

/// sums: (TN, TM) += b aᵀ, to and fro. Each product has an operand in common with the one before it, which then is not
/// read from the registers again. One way only is slower, because two operands of one bank are read one after the
/// other.
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

/// Whether vectors of 16 bytes of a column can be moved that start a multiple of 16 bytes below its first element.
template <class T>
__host__ __device__ bool is_aligned(const T* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld % vector_width<T> == 0;
}

/// How the threads of a block share a tile of C: the block owns BM × BN, a warp WM × WN of it, a thread TM × TN of that.
struct TileSizes {
  int BM, BN, WM, WN, TM, TN;
};
template <class T, TileSizes sizes>
struct WarpTiles {
  static constexpr int BM = sizes.BM, BN = sizes.BN, WM = sizes.WM, WN = sizes.WN, TM = sizes.TM, TN = sizes.TN;
  static constexpr int V = vector_width<T>, warps_m = BM / WM;
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
/// threads go along x. Where k_major, up to 8 of them go along l first, because there the neighbours in memory differ
/// in l.
/// one_row: so many go along l that all pieces of a thread are in one row of the tile.
template <int BX, int BK, int threads, bool k_major, int wide, int deep, bool one_row = false>
struct PieceMap {
  static constexpr int down = one_row ? BK / deep : std::min(8, BK / deep);
  static constexpr int across = k_major || one_row ? threads / down : std::min(BX / wide, threads);
  static constexpr int step_x = across * wide, step_l = k_major ? down * deep : threads / across;
  static constexpr int count = BX / step_x * (BK / step_l);
  static_assert(threads % across == 0 && BX % step_x == 0 && BK % step_l == 0);
  /// The first piece, and how far from it the others are.
  __device__ static int x() { return k_major ? threadIdx.x / down : threadIdx.x % across * wide; }
  __device__ static int l() { return k_major ? threadIdx.x % down * deep : threadIdx.x / across; }
  static constexpr int dx(int piece) { return piece % (BX / step_x) * step_x; }
  static constexpr int dl(int piece) { return piece / (BX / step_x) * step_l; }
};

/// A (BK, BX) tile in shared memory. Rows are padded by 16 bytes, so that a K-major tile is stored without bank
/// conflicts.
template <class T, int BK, int BX>
using SharedTile = T[BK][BX + vector_width<T>];

/// The pieces of one tile that this thread moves. `width` elements that are neighbours in memory make a piece.
template <class T, class W, int width_, bool k_major, bool guarded, int pitch>
struct Pieces {
  static constexpr int count = W::count, width = width_;
  const T* first;  // piece 0 in memory
  std::int64_t ld;
  int at;           // piece 0 in the shared tile
  int rows, depth;  // how many rows of op(X), and of k, there are from piece 0 on

  __device__ const T* from(int p) const {
    return first + (k_major ? W::dx(p) * ld + W::dl(p) : W::dx(p) + W::dl(p) * ld);
  }
  __device__ int to(int p) const { return at + W::dl(p) * pitch + W::dx(p); }
  __device__ bool exists(int p) const { return !guarded || (W::dx(p) < rows && W::dl(p) < depth); }
};

/// The (BK, BX) tiles of op(X)ᵀ from row `origin` of op(X) on, one after the other. K-major: op(X) = Xᵀ. Pieces are
/// vectors of `width` where they are aligned and the block is whole, else elements.
template <class T, int BX, int BK, int threads, bool k_major_, int width>
class TileStream {
 public:
  static constexpr bool k_major = k_major_;
  static constexpr int pitch = BX + vector_width<T>;

  __device__ TileStream(Operand<T, Cuda> X, std::int64_t origin)
      : tile_(X.data() + origin * X.row_stride()),
        ld_(X.ld()),
        full_(int(X.cols() / BK)),
        rest_(int(X.cols() % BK)),
        rows_(int(min(X.rows() - origin, std::int64_t(BX)))),
        wide_(rows_ == BX && (width == 1 || is_aligned(X.data(), X.ld()))),
        at_(Wide::l() * pitch + Wide::x()),
        offset_(k_major ? Wide::x() * ld_ + Wide::l() : Wide::x() + Wide::l() * ld_) {}

  /// move(pieces of tile t), when called for t = 0, 1, …; beyond the last tile, nothing.
  template <class Move>
  __device__ void next(int t, Move move) {
    if (wide_ && t < full_) {
      move(Pieces<T, Wide, width, k_major, false, pitch>{tile_ + offset_, ld_, at_});
    } else if (t <= full_) {
      const int x = Narrow::x(), l = Narrow::l(), depth = t < full_ ? BK : rest_;
      std::int64_t ld = ld_;
      asm volatile("" : "+l"(ld));  // or all multiples of ld would stay in registers for this rarer case
      move(Pieces<T, Narrow, 1, k_major, true, pitch>{tile_ + (k_major ? x * ld + l : x + l * ld), ld, l * pitch + x,
                                                      rows_ - x, depth - l});
    }
    tile_ += k_major ? BK : BK * ld_;
  }

 private:
  using Wide = PieceMap<BX, BK, threads, k_major, k_major ? 1 : width, k_major ? width : 1>;
  using Narrow = PieceMap<BX, BK, threads, k_major, 1, 1>;

  const T* tile_;
  std::int64_t ld_;
  int full_, rest_;  // tiles of BK, and what is left of k
  int rows_;
  bool wide_;
  int at_;  // this thread's first vector in a shared tile, and in memory from the first of the tile
  std::int64_t offset_;
};

/// tile: (BK, BX) ← tile t of the stream, through registers; zeros outside of op(X). All loads are issued before any is
/// waited for.
template <class T, class Stream>
__device__ void load_tile(T* tile, Stream& stream, int t) {
  stream.next(t, [&]<class P>(P pieces) {
    constexpr int width = P::width;
    Vector<T, width> held[P::count];
#pragma unroll
    for (int p = 0; p < P::count; ++p)
      if (pieces.exists(p))
        held[p] = *reinterpret_cast<const Vector<T, width>*>(pieces.from(p));
      else
        held[p] = {};
#pragma unroll
    for (int p = 0; p < P::count; ++p) {
      if constexpr (!Stream::k_major) {
        copy_vector<width>(tile + pieces.to(p), held[p].x);
      } else {
#pragma unroll
        for (int d = 0; d < width; ++d) tile[pieces.to(p) + d * Stream::pitch] = held[p].x[d];
      }
    }
  });
}

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

/// launch.operator()<a_k_major, b_k_major>(). An operand is K-major where neighbours in memory are neighbours along k.
template <class T, class Launch>
void with_major_modes(Operand<T, Cuda> A, Operand<T, Cuda> B, Launch launch) {
  with_ops(A.op(), B.op(),
           [&]<Op op_a, Op op_b>() { launch.template operator()<op_a == Op::transpose, op_b == Op::none>(); });
}

}  // namespace lasolve
