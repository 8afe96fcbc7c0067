// The part of the rung `tensor` for cards without wgmma and the copy engine of Hopper: any of compute capability 8.0 or
// later.
// Idea     pipelined, with tensor cores. Tiles of op(A) and op(B) arrive in shared memory by cp.async, as they lie in
//          memory, while earlier ones are multiplied. A warp takes fragments of both into its registers (ldmatrix,
//          which also transposes halves), and multiplies them (mma.sync). The sums stay in registers until C is
//          updated. Operands that do not start at multiples of 16 bytes are packed first (common/pack.cuh), so that
//          there is one way of copying. All four types are one kernel, since their fragments have the same layout, in
//          cells of 32 bits or of a double.
// Tiles    BM = BN = 128, 64 × 64 a warp; fp64 BM = 128, BN = 64, 64 × 32 a warp; BK of 64 bytes. 4 warps, three stages
//          of 13 to 20 KiB, two blocks a multiprocessor; one where its shared memory has 100 KiB.
// Traffic  2·128·128 flop per (128 + 128)·2 bytes = 64 flop/byte before L2 (fp16), 32 (tf32), 10.7 (fp64); C once in,
//          once out.
// Expect   half to two thirds of cuBLAS on Hopper, whose tensor cores give mma.sync less than wgmma. fp64 has no other
//          instruction, and should reach nine tenths.
// Reached  on an H200 at 8192³ 48 % of cuBLAS in fp16, 47 % in bf16, 36 % in tf32, 89 % in fp64 (57.5 TFLOP/s).
// Source   NVIDIA, PTX ISA: mma, ldmatrix; CUTLASS; the header of pipelined.cu
#pragma once

#include "core/cuda/copy_async.cuh"
#include "core/cuda/fp64_tile.cuh"
#include "core/device_properties.hpp"
#include "gemm/cuda/common/as_tf32.cuh"
#include "gemm/cuda/common/pack.cuh"
#include "gemm/cuda/common/registers.cuh"

namespace lasolve::tensor_mma {

/// Why these kernels cannot run on a device; empty: they can.
inline std::string why_not(int device) {
  const DeviceProperties& has = device_properties(device);
  if (has.capability < 80)
    return "its kernels are for compute capability 8.0 and later, which this device does not have";
  if (has.code >= 80) return "";
  return "its kernels need 80 or a later one in LASOLVE_CUDA_ARCHITECTURES that device " + std::to_string(device) +
         " runs";
}

/// What products of operands of In are summed in, and what a lane holds of an operand in one register: a double, or 32 bits.
template <class In>
using Sum = std::conditional_t<sizeof(In) == 8, double, float>;
template <class In>
using Cell = std::conditional_t<sizeof(In) == 8, double, unsigned>;

/// How a block shares out its tile of C: to 2 × 2 warps. K: the depth of one product, 4 cells twice.
template <class In>
struct Shape {
  static constexpr int WM = 64, WN = sizeof(In) == 8 ? 32 : 64, BM = 2 * WM, BN = 2 * WN, BK = 64 / sizeof(In);
  static constexpr int K = sizeof(In) == 2 ? 16 : 8, stages = 3, threads = 128;
};

/// Tiles of an operand X, (BX, BK) of op(X) as they lie in memory. Where K-major a tile has lines of k, else of rows.
/// Lines are so far apart that the lanes of a fragment meet different banks.
template <class In, int BX, bool k_major, bool of_b>
class Tiles {
  using S = Shape<In>;
  static constexpr bool by_matrix = sizeof(In) == 2 || (sizeof(In) == 4 && k_major);  // ldmatrix can read them
  static constexpr int line = k_major ? S::BK : BX, lines = k_major ? BX : S::BK, V = vector_width<In>;
  static constexpr int pitch = line + (by_matrix ? 16 : 32) / int(sizeof(In));
  static constexpr int lines_at_once = S::threads / (line / V);

 public:
  static constexpr int size = lines * pitch;

  /// The stages that this operand's tiles from `row` on go to.
  __device__ Tiles(Operand<In, Cuda> X, std::int64_t row, In* stages) : stages_(stages), ld_(X.ld()) {
    const int x = threadIdx.x % (line / V) * V, y = threadIdx.x / (line / V);
    from_ = X.data() + row * X.row_stride() + x + y * ld_;
    at_ = y * pitch + x;
    rows_ = int(min(X.rows() - row, std::int64_t(BX))) - (k_major ? y : x);
    depth_ = X.cols() - (k_major ? x : y);
  }

  /// Starts to copy the next tile to a stage; zeros outside of X. A thread has vectors of 16 bytes below one another.
  __device__ void bring(int stage) {
    const int depth = int(min(depth_, std::int64_t(S::BK)));
    const int along = k_major ? depth : rows_, across = k_major ? rows_ : depth;
    const int exist = max(0, min(V, along)) * int(sizeof(In));
#pragma unroll
    for (int y = 0; y < lines; y += lines_at_once)
      copy_async<16>(shared_address(stages_ + stage * size + at_ + y * pitch), from_ + y * ld_, y < across ? exist : 0);
    from_ += k_major ? S::BK : S::BK * ld_;
    depth_ -= S::BK;
  }

  /// x ← the fragments of rows row … row + 15 and of K columns from l on, in quarters of 8 rows and 4 cells. A lane g·4
  /// + t has cell t of row g of each quarter. First come those of the same columns for A, of the same rows for B, as
  /// the tensor core takes them.
  __device__ void load(Cell<In> (&x)[4], int stage, int row, int l) const {
    const In* const tile = stages_ + stage * size;
    const int lane = threadIdx.x % 32;
    const auto down = [](int quarter) { return (of_b ? quarter / 2 : quarter % 2) * 8; };
    const auto right = [](int quarter) { return (of_b ? quarter % 2 : quarter / 2) * (S::K / 2); };
    if constexpr (by_matrix) {  // lanes name the lines of the quarters, of 16 bytes
      const int r = row + down(lane / 8), c = l + right(lane / 8), low = lane % 8;
      const In* at = tile + (k_major ? (r + low) * pitch + c : (c + low) * pitch + r);
      const unsigned address = shared_address(at);
      if constexpr (k_major)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(address));
      else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(address));
    } else {
      for (int i = 0; i < 4; ++i) {
        const int r = row + down(i) + lane / 4, c = l + right(i) + lane % 4;
        x[i] = reinterpret_cast<const Cell<In>*>(tile)[k_major ? r * pitch + c : c * pitch + r];
      }
    }
    if constexpr (sizeof(In) == 4)
      for (unsigned& cell : x) cell = __float_as_uint(as_tf32(__uint_as_float(cell)));
  }

 private:
  In* stages_;
  const In* from_;  // this thread's first vector of the next tile
  int at_;          // and its place in a stage
  int rows_;        // from there on
  std::int64_t ld_, depth_;
};

/// sums: (16, 8) += a b, a: (16, K), b: (K, 8). Of the sums, a lane g·4 + t has elements (g, 2t), (g, 2t + 1), (g + 8, 2t) and
/// (g + 8, 2t + 1).
template <class In>
__device__ void multiply(Sum<In> (&sums)[4], const Cell<In> (&a)[4], Cell<In> b0, Cell<In> b1) {
#define LASOLVE_MMA(shape, type)                                                      \
  asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type                \
               ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])           \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1))
  if constexpr (std::is_same_v<In, fp16>) LASOLVE_MMA("m16n8k16", "f16");
  if constexpr (std::is_same_v<In, bf16>) LASOLVE_MMA("m16n8k16", "bf16");
  if constexpr (std::is_same_v<In, float>) LASOLVE_MMA("m16n8k8", "tf32");
  if constexpr (std::is_same_v<In, double>) multiply_tile(sums, a, {b0, b1}, sums);
#undef LASOLVE_MMA
}

/// C ← α·sums + β·C for the (16·MT, 8·NT) elements of a warp. c is the first of this lane, from which on there are m ×
/// n. All of 16 rows is read before any of it is written, so that the reads overlap.
template <class T, int MT, int NT>
__device__ void update_warp_tile(T* c, std::int64_t ld, std::int64_t m, std::int64_t n, T alpha,
                                 const T (&sums)[MT][NT][4], T beta) {
#pragma unroll
  for (int i = 0; i < MT; ++i) {
    T old[NT][4] = {};
    const auto each = [&](auto f) {
#pragma unroll
      for (int j = 0; j < NT; ++j)
#pragma unroll
        for (int x = 0; x < 4; ++x) {
          const int row = 16 * i + x / 2 * 8, col = 8 * j + x % 2;
          if (row < m && col < n) f(c[row + col * ld], old[j][x], sums[i][j][x]);
        }
    };
    if (beta != T(0)) each([&](const T& c, T& old, T) { old = beta * c; });
    each([&](T& c, T old, T sum) { c = alpha * sum + old; });
  }
}

/// A: (m, k), and B as its transpose, (n, k). Both start at multiples of 16 bytes, as do their columns in memory.
template <class In, bool a_k_major, bool b_k_major>
__global__ void __launch_bounds__(Shape<In>::threads, 2)
    kernel(Sum<In> alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, Sum<In> beta, MatrixView<Sum<In>, Cuda> C) {
#if __CUDA_ARCH__ >= 800
  using S = Shape<In>;
  extern __shared__ __align__(16) unsigned char memory[];
  In* const stages = reinterpret_cast<In*>(memory);
  const TileOrigin origin = origin_in_raster_order(C, S::BM, S::BN);
  using OfA = Tiles<In, S::BM, a_k_major, false>;
  OfA As(A, origin.i, stages);
  Tiles<In, S::BN, b_k_major, true> Bs(B, origin.j, stages + S::stages * OfA::size);
  const auto bring = [&](int stage) {
    As.bring(stage), Bs.bring(stage);
    close_group_of_copies();
  };
#pragma unroll
  for (int t = 0; t < S::stages - 1; ++t) bring(t);
  if (beta != Sum<In>(0)) prefetch(C, origin, S::BM, S::BN);

  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp % 2 * S::WM, col = warp / 2 * S::WN;
  Sum<In> sums[S::WM / 16][S::WN / 8][4] = {};
  // A tile is in `stage`; that which is stages - 1 further on goes to `free`, where the one before was.
  int stage = 0, free = S::stages - 1;
  for (std::int64_t left = ceil_div(A.cols(), S::BK); left > 0; --left) {
    wait_for_copies<S::stages - 2>();
    __syncthreads();
    bring(free);
#pragma unroll
    for (int l = 0; l < S::BK; l += S::K) {
      Cell<In> a[S::WM / 16][4], b[S::WN / 16][4];
#pragma unroll
      for (int i = 0; i < S::WM / 16; ++i) As.load(a[i], stage, row + 16 * i, l);
#pragma unroll
      for (int j = 0; j < S::WN / 16; ++j) Bs.load(b[j], stage, col + 16 * j, l);
#pragma unroll
      for (int i = 0; i < S::WM / 16; ++i)
#pragma unroll
        for (int j = 0; j < S::WN / 8; ++j)
          multiply<In>(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
    }
    free = stage;
    stage = stage + 1 == S::stages ? 0 : stage + 1;
  }
  const std::int64_t i = origin.i + row + lane / 4, j = origin.j + col + lane % 4 * 2;
  update_warp_tile(C.data() + i + j * C.ld(), C.ld(), C.rows() - i, C.cols() - j, alpha, sums, beta);
#endif
}

/// C ← α·A·B + β·C; tf32 where In is float.
template <class In>
void gemm(Queue<Cuda>& q, Sum<In> alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, Sum<In> beta,
          MatrixView<Sum<In>, Cuda> C) {
  using S = Shape<In>;
  if (const std::string why = why_not(q.device()); !why.empty())
    throw MachineError("CUDA: this backend cannot run: " + why);
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k > 0 && !(is_aligned(A.data(), A.ld()) && is_aligned(B.data(), B.ld()))) {
    const std::int64_t ld = round_up(k, vector_width<In>);
    In* const to = q.scratch<In>(ld, m + n).data();  // A transposed, and B
    pack<In>(q, {A, to, ld}, {transposed(B), to + m * ld, ld});
    A = transposed(MatrixView<const In, Cuda>(to, k, m, ld)), B = MatrixView<const In, Cuda>(to + m * ld, k, n, ld);
  }
  with_major_modes(A, B, [&]<bool a_k_major, bool b_k_major>() {
    const int bytes = S::stages * (Tiles<In, S::BM, a_k_major, false>::size + Tiles<In, S::BN, b_k_major, true>::size) *
                      int(sizeof(In));
    launch(q, kernel<In, a_k_major, b_k_major>, Blocks::independent, tiles_of(C, S::BM, S::BN), S::threads,
           std::size_t(bytes), alpha, A, transposed(B), beta, C);
  });
}

}  // namespace lasolve::tensor_mma
