// pipelined: warp_tiled, whose tiles arrive in shared memory while earlier ones are multiplied.
// Idea     cp.async copies from memory to shared memory without passing through registers, and without a wait. While
//          one tile is multiplied, the next two are on their way, and the fragments of the next step are read during
//          this step. One barrier a tile. Whether a block is whole is decided before the loop over its tiles, which
//          then has no branches: copies are started a few at a time, between products. C comes to L2 meanwhile, so that
//          an update of small k does not wait for it. The blocks that share a multiprocessor multiply while one of them
//          updates C.
// Tiles    BM = 128, BN = 64, BK = 16, three stages; 64 × 32 a warp, 8 × 8 a thread, 128 threads; three blocks a
//          multiprocessor (f32), two (f64). Tiles of C are taken in groups of 16 rows of tiles, so that those that run
//          together need few rows of A and columns of B.
// Traffic  2·128·64 flop per (128 + 64)·4 bytes = 21 flop/byte (f32) before L2; C is read and written once.
// Expect   f32: bound by issue, 1024 FMA in about 1150 instructions a tile; as fast as cuBLAS at large k, faster at
//          small k. f64: 80 % of the 33.5 TFLOP/s of the CUDA cores.
// Reached  on an H200 f32 106 % of cuBLAS at 8192³, f64 80 % of the CUDA cores at full clock, 75 % at the power limit.
// Source   A. Kerr et al., "CUTLASS: fast linear algebra in CUDA C++", NVIDIA 2017; cp.async: NVIDIA A100 white paper,
//          2020
#include "core/cuda/copy_async.cuh"
#include "core/device_properties.hpp"
#include "gemm/cuda/common/registers.cuh"

namespace lasolve {

/// The copies of one operand's tiles that this thread makes, piece by piece. Pieces are vectors of 16 bytes where the
/// block is `whole` and these are neighbours in a row of the tile, else elements.
template <class T, int BX, int BK, int threads, bool k_major, bool whole>
class Copies {
  static constexpr int width = whole && !k_major ? vector_width<T> : 1, pitch = BX + vector_width<T>;
  using W =
      PieceMap<BX, BK, threads, k_major, width, 1, whole>;  // one row: less to compute for the address of each piece

 public:
  static constexpr int count = W::count;

  __device__ Copies(Operand<T, Cuda> X, std::int64_t origin, T* tiles)
      : tiles_(tiles),
        pieces_{X.data() + (origin + W::x()) * X.row_stride() + W::l() * X.col_stride(), X.ld(),
                W::l() * pitch + W::x(), whole ? BX : int(min(X.rows() - origin, std::int64_t(BX))) - W::x(), 0} {}
  /// Of the next tile, `depth` columns exist.
  __device__ void begin(int depth) { pieces_.depth = depth - W::l(); }
  __device__ void start(int piece, int stage) const {
    auto pieces = pieces_;
    // or what follows from these would stay in registers for this rarer case
    if constexpr (!whole) asm volatile("" : "+l"(pieces.ld), "+r"(pieces.rows));
    constexpr int bytes = width * int(sizeof(T));
    const bool exists = whole ? W::dl(piece) < pieces.depth : pieces.exists(piece);
    copy_async<bytes>(shared_address(tiles_ + stage * BK * pitch + pieces.to(piece)), pieces.from(piece),
                      exists ? bytes : 0);
  }
  __device__ void end() { pieces_.first += k_major ? BK : BK * pieces_.ld; }

 private:
  T* tiles_;
  Pieces<T, W, width, k_major, true, pitch> pieces_;
};

/// How the threads share out a tile of C, and the ring of stages in shared memory: each holds one tile of A and one of B.
template <class T>
struct Pipeline : WarpTiles<T, TileSizes{.BM = 128, .BN = 64, .WM = 64, .WN = 32, .TM = 8, .TN = 8}> {
  using Tiles = WarpTiles<T, TileSizes{.BM = 128, .BN = 64, .WM = 64, .WN = 32, .TM = 8, .TN = 8}>;
  static constexpr int BK = 16, stages = 3, blocks = sizeof(T) == 4 ? 3 : 2;
  static constexpr int turns = 4;  // in which the copies of a tile are started
  static constexpr int a_pitch = Tiles::BM + Tiles::V, b_pitch = Tiles::BN + Tiles::V;
  static constexpr int a_tile = BK * a_pitch, b_tile = BK * b_pitch;
  static constexpr int bytes = stages * (a_tile + b_tile) * int(sizeof(T));
  static_assert(bytes <= int(least_shared_memory));
};

/// The copies of a block's rows of A and columns of B, tile by tile.
template <class T, bool a_k_major, bool b_k_major, bool whole>
class Feed {
  using S = Pipeline<T>;
  using OfA = Copies<T, S::BM, S::BK, S::threads, a_k_major, whole>;
  using OfB = Copies<T, S::BN, S::BK, S::threads, b_k_major, whole>;

 public:
  __device__ Feed(Operand<T, Cuda> A, Operand<T, Cuda> B, TileOrigin origin, T* As, T* Bs)
      : a_(A, origin.i, As), b_(transposed(B), origin.j, Bs), left_(A.cols()) {}
  /// A tile: begins, is copied in `turns` turns, and ends.
  __device__ void begin() {
    const int depth = int(min(left_, std::int64_t(S::BK)));
    a_.begin(depth);
    b_.begin(depth);
    left_ -= S::BK;
  }
  template <int turns>
  __device__ void start(int stage, int turn) const {
    constexpr int pieces = OfA::count + OfB::count, each = (pieces + turns - 1) / turns;
#pragma unroll
    for (int x = 0; x < each; ++x) {
      const int p = turn * each + x;
      if (p < OfA::count)
        a_.start(p, stage);
      else if (p < pieces)
        b_.start(p - OfA::count, stage);
    }
  }
  __device__ void end() {
    a_.end();
    b_.end();
    close_group_of_copies();
  }

 private:
  OfA a_;
  OfB b_;
  std::int64_t left_;  // of k
};

/// sums: (TN, TM) ← the product of this block's rows of A and columns of B, while C comes to L2 where β ≠ 0. What `whole` says
/// is known from the start, so that the loop has no branches, and the copies find room between the products.
template <class T, bool a_k_major, bool b_k_major, bool whole>
__device__ void multiply(Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C, TileOrigin origin,
                         T (&sums)[Pipeline<T>::TN][Pipeline<T>::TM]) {
  using S = Pipeline<T>;
  extern __shared__ __align__(16) unsigned char memory[];
  T* const As = reinterpret_cast<T*>(memory);  // As: stages of (BK, BM)
  T* const Bs = As + S::stages * S::a_tile;    // Bs: stages of (BK, BN)
  Feed<T, a_k_major, b_k_major, whole> feed(A, B, origin, As, Bs);
#pragma unroll
  for (int t = 0; t < S::stages - 1; ++t) {
    feed.begin();
    feed.template start<1>(t, 0);
    feed.end();
  }
  if (beta != T(0)) prefetch(C, origin, S::BM, S::BN);

  const auto rows = S::rows();
  const auto columns = S::columns();
  T a[2][S::TM], b[2][S::TN];
  const auto load = [&](int slot, int stage, int s) {
    load_fragment(a[slot], As + stage * S::a_tile + s * S::a_pitch, rows);
    load_fragment(b[slot], Bs + stage * S::b_tile + s * S::b_pitch, columns);
  };
  const auto next_tile = [&] {  // has arrived, and nobody needs the one before the last any more
    wait_for_copies<S::stages - 2>();
    __syncthreads();
  };
  const int tiles = int(ceil_div(A.cols(), S::BK));
  next_tile();
  load(0, 0, 0);
  // Tile t is in `stage`. The copies of tile t + stages - 1 go to `free`, where tile t - 1 was.
  for (int t = 0, stage = 0, free = S::stages - 1; t < tiles; ++t) {
    const int next = stage + 1 == S::stages ? 0 : stage + 1;
    feed.begin();
#pragma unroll
    for (int s = 0; s < S::BK; ++s) {
      if (s + 1 < S::BK) load((s + 1) % 2, stage, s + 1);
      if (s % (S::BK / S::turns) == 0) feed.template start<S::turns>(free, s / (S::BK / S::turns));
      if (s + 1 == S::BK) {
        feed.end();
        next_tile();
        load(0, next, 0);
      }
      add_outer_product(sums, a[s % 2], b[s % 2]);
    }
    free = stage;
    stage = next;
  }
}

template <class T, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Pipeline<T>::threads, Pipeline<T>::blocks)
    pipelined_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  using S = Pipeline<T>;
  const TileOrigin origin = origin_in_raster_order(C, S::BM, S::BN);
  T sums[S::TN][S::TM] = {};
  if (C.rows() - origin.i >= S::BM && C.cols() - origin.j >= S::BN && (a_k_major || is_aligned(A.data(), A.ld())) &&
      (b_k_major || is_aligned(B.data(), B.ld())))
    multiply<T, a_k_major, b_k_major, true>(A, B, beta, C, origin, sums);
  else
    multiply<T, a_k_major, b_k_major, false>(A, B, beta, C, origin, sums);
  update_tile(C, origin, S::rows(), S::columns(), alpha, sums, beta);
}

template <class T>
static void pipelined(const void*, Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                      MatrixView<T, Cuda> C) {
  using S = Pipeline<T>;
  with_major_modes(A, B, [&]<bool a_k_major, bool b_k_major>() {
    launch(q, pipelined_kernel<T, a_k_major, b_k_major>, Blocks::independent, tiles_of(C, S::BM, S::BN), S::threads,
           std::size_t(S::bytes), alpha, A, B, beta, C);
  });
}

extern const GemmBackend<Cuda> gemm_cuda_pipelined;
const GemmBackend<Cuda> gemm_cuda_pipelined{
    .name = "pipelined",
    .summary = "tiles arrive by cp.async while earlier ones are multiplied",
    .kernels = {pipelined<double>, pipelined<float>},
};

}  // namespace lasolve
