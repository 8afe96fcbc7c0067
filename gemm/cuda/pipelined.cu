// pipelined: warp_tiled, whose tiles arrive in shared memory while earlier ones are multiplied.
// Idea     cp.async copies from memory to shared memory without passing through registers and without being waited for: while
//          one tile is multiplied, the next three are on their way, and the fragments of the next step are read during this
//          step. One barrier a tile. C comes into L2 meanwhile, so that an update of small k does not wait for it, and
//          blocks that share a multiprocessor multiply while one of them updates C.
// Tiles    f32: BM = 128, BN = 64, 64 × 32 a warp, 8 × 8 a thread, 128 threads, three blocks a multiprocessor; f64: 64 × 64,
//          32 × 64 a warp, 8 × 8 a thread, 64 threads, four blocks. BK = 8, four stages. The tiles of C go in strips of 16
//          rows of tiles, so that the tiles that run together need few rows of A and columns of B.
// Traffic  2·128·64·8 flop per (128 + 64)·8·4 bytes = 21 flop/byte (f32) before L2; C is read and written once.
// Expect   bound by issue: 512 FMA in about 600 instructions a tile. As fast as cuBLAS (f32) at large k, faster at small k.
// Source   A. Kerr et al., "CUTLASS: fast linear algebra in CUDA C++", NVIDIA 2017; cp.async: NVIDIA A100 white paper, 2020
#include "gemm/cuda/registers.cuh"

namespace lasolve {

/// Starts to copy 4, 8 or 16 bytes to shared memory; zeros, and nothing is read, unless `take`.
template <int bytes>
__device__ void copy_async(void* to, const void* from, bool take) {
  const unsigned address = unsigned(__cvta_generic_to_shared(to));
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(take ? 16 : 0));
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes),
                 "r"(take ? bytes : 0));
}
__device__ void close_group_of_copies() { asm volatile("cp.async.commit_group;"); }
/// Waits until at most `groups` groups of this thread's copies are on their way.
template <int groups>
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

/// The (BK, BX) tiles of op(X)ᵀ from row `origin` of op(X) on, one after the other. Turned: op(X) = Xᵀ. Vectors are copied
/// where they are aligned and not turned, else elements.
template <class T, int BX, int BK, int threads, bool turned>
class TileStream {
 public:
  static constexpr int pitch = BX + vector_width<T>;

  __device__ TileStream(Operand<T, Cuda> X, std::int64_t origin)
      : ld_(X.ld()),
        full_(int(X.cols() / BK)),
        rest_(int(X.cols() % BK)),
        rows_(int(min(X.rows() - origin, std::int64_t(BX)))),
        whole_(rows_ == BX),
        wide_(!turned && is_aligned(X.data(), X.ld()) && rows_ % vector_width<T> == 0) {
    const int x = wide_ ? Wide::x() : Narrow::x(), l = wide_ ? Wide::l() : Narrow::l();
    from_ = X.data() + (turned ? (origin + x) * ld_ + l : origin + x + l * ld_);
    to_ = l * pitch + x;
  }

  /// Starts to copy tile t to `tile`, when called for t = 0, 1, …
  __device__ void copy(T* tile, int t) {
    if (whole_ && t < full_)
      start<false>(tile, BK);
    else if (t <= full_)
      start<true>(tile, t < full_ ? BK : rest_);
    from_ += turned ? BK : BK * ld_;
  }

 private:
  using Wide = Walk<BX, BK, threads, false, vector_width<T>, 1>;
  using Narrow = Walk<BX, BK, threads, turned, 1, 1>;

  template <bool guarded>
  __device__ void start(T* tile, int depth) const {
    if (!turned && wide_)
      start_pieces<Wide, vector_width<T>, guarded>(tile, depth);
    else
      start_pieces<Narrow, 1, guarded>(tile, depth);
  }
  template <class W, int width, bool guarded>
  __device__ void start_pieces(T* tile, int depth) const {
    const int x = guarded ? to_ % pitch : 0, l = guarded ? to_ / pitch : 0;
#pragma unroll
    for (int p = 0; p < W::count; ++p)
      copy_async<width* int(sizeof(T))>(tile + to_ + W::dl(p) * pitch + W::dx(p),
                                        from_ + (turned ? W::dx(p) * ld_ + W::dl(p) : W::dx(p) + W::dl(p) * ld_),
                                        !guarded || (x + W::dx(p) < rows_ && l + W::dl(p) < depth));
  }

  const T* from_;  // this thread's first piece of the next tile
  std::int64_t ld_;
  int full_, rest_;  // tiles of BK, and what is left of k
  int rows_;         // that exist, of BX
  int to_;           // where that piece lies in a shared tile
  bool whole_, wide_;
};

template <class T_, int BM, int BN, int WM, int WN, int TM, int TN, int BK_, int stages_, int blocks_>
struct PipelineShape : WarpTiles<T_, BM, BN, WM, WN, TM, TN> {
  using T = T_;
  static constexpr int BK = BK_, stages = stages_, blocks = blocks_;
  static constexpr int a_tile = BK * (BM + vector_width<T>), b_tile = BK * (BN + vector_width<T>);
  static constexpr int bytes = stages * (a_tile + b_tile) * int(sizeof(T));
};
template <class T>
using Pipeline = std::conditional_t<sizeof(T) == 4, PipelineShape<T, 128, 64, 64, 32, 8, 8, 16, 3, 3>,
                                    PipelineShape<T, 64, 64, 64, 32, 8, 8, 8, 4, 4>>;

/// The tile of this block: down a strip of 16 rows of tiles, then to the next column of tiles.
template <class T>
__device__ TileOrigin origin_in_strips(MatrixView<T, Cuda> C, int BM, int BN) {
  constexpr unsigned strip = 16;
  const unsigned down = unsigned(ceil_div(C.rows(), BM)), across = unsigned(ceil_div(C.cols(), BN));
  const unsigned first = blockIdx.x / (strip * across) * strip, within = blockIdx.x % (strip * across);
  const unsigned height = min(strip, down - first);
  return {std::int64_t(first + within % height) * BM, std::int64_t(within / height) * BN};
}

/// Brings a tile of C to L2.
template <class T>
__device__ void prefetch(MatrixView<T, Cuda> C, TileOrigin origin, int BM, int BN) {
  constexpr int line = 128 / sizeof(T);
  for (int x = threadIdx.x; x < BM / line * BN; x += blockDim.x) {
    const std::int64_t i = origin.i + x % (BM / line) * line, j = origin.j + x / (BM / line);
    if (i < C.rows() && j < C.cols()) asm volatile("prefetch.global.L2 [%0];" ::"l"(C.data() + i + j * C.ld()));
  }
}

template <class S, bool turn_a, bool turn_b, class T = typename S::T>
__global__ void __launch_bounds__(S::threads, S::blocks)
    pipelined_kernel(T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  extern __shared__ __align__(16) unsigned char memory[];
  T* const As = reinterpret_cast<T*>(memory);  // As: stages of (BK, BM)
  T* const Bs = As + S::stages * S::a_tile;    // Bs: stages of (BK, BN)
  const TileOrigin origin = origin_in_strips(C, S::BM, S::BN);
  const auto rows = S::rows();
  const auto columns = S::columns();
  TileStream<T, S::BM, S::BK, S::threads, turn_a> from_a(A, origin.i);
  TileStream<T, S::BN, S::BK, S::threads, turn_b> from_b(transposed(B), origin.j);
  const auto copy = [&](int stage, int t) {
    from_a.copy(As + stage * S::a_tile, t);
    from_b.copy(Bs + stage * S::b_tile, t);
    close_group_of_copies();
  };
  for (int t = 0; t < S::stages - 1; ++t) copy(t, t);
  if (beta != T(0)) prefetch(C, origin, S::BM, S::BN);

  const int tiles = int(ceil_div(A.cols(), S::BK));
  T a[2][S::TM], b[2][S::TN], sums[S::TN][S::TM] = {};
  const auto load = [&](int slot, int stage, int s) {
    load_fragment(a[slot], As + stage * S::a_tile + s * from_a.pitch, rows);
    load_fragment(b[slot], Bs + stage * S::b_tile + s * from_b.pitch, columns);
  };
  const auto next_tile = [&] {  // has arrived, and nobody needs the one before the last any more
    wait_for_copies<S::stages - 2>();
    __syncthreads();
  };
  next_tile();
  load(0, 0, 0);
  for (int t = 0, stage = 0, free = S::stages - 1; t < tiles; ++t) {
    const int next = stage + 1 == S::stages ? 0 : stage + 1;
#pragma unroll
    for (int s = 0; s < S::BK; ++s) {
      if (s + 1 < S::BK) {
        load((s + 1) % 2, stage, s + 1);
      } else {
        next_tile();
        load(0, next, 0);
      }
      if (s == 0) copy(free, t + S::stages - 1);
      add_outer_product(sums, a[s % 2], b[s % 2]);
    }
    free = stage;
    stage = next;
  }
  update_tile(C, origin, rows, columns, alpha, sums, beta);
}

template <class S, class T = typename S::T>
static void launch_pipelined(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta,
                             MatrixView<T, Cuda> C) {
  const auto launch = [&](auto kernel) {
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::bytes));
    kernel<<<tiles_of(C, S::BM, S::BN), S::threads, S::bytes, q.stream()>>>(alpha, A, B, beta, C);
    CUDA_CHECK_LAUNCH();
  };
  const bool turn_a = A.op() == Op::transpose, turn_b = B.op() == Op::none;
  if (turn_a)
    turn_b ? launch(pipelined_kernel<S, true, true>) : launch(pipelined_kernel<S, true, false>);
  else
    turn_b ? launch(pipelined_kernel<S, false, true>) : launch(pipelined_kernel<S, false, false>);
}

template <class T>
static void pipelined(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  launch_pipelined<Pipeline<T>>(q, alpha, A, B, beta, C);
}

extern const GemmBackend<Cuda> gemm_cuda_pipelined;
const GemmBackend<Cuda> gemm_cuda_pipelined{
    .name = "pipelined",
    .summary = "tiles arrive by cp.async while earlier ones are multiplied",
    .f64 = pipelined<double>,
    .f32 = pipelined<float>,
};

}  // namespace lasolve
