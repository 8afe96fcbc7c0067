// The part of the rung `tensor` for tf32, on Hopper: operands and C in fp32, products in tf32.
// Idea     wgmma takes tf32 only K-major from shared memory, and does not round but cuts off the last 13 bits. The copy
//          engine can round on its way, so a K-major operand comes as it lies. An A that lies down its columns comes so
//          too, in boxes of (32, 32), and goes on through registers, from which wgmma takes it as well. A thread has
//          pairs of neighbouring rows: for whichever rows of a tile it has sums, C can be updated to match. For any
//          other operand a first kernel packs it: rounded to nearest (a unit roundoff of 2⁻¹¹), K-major, padded with
//          zeros. Its pieces are byte for byte what a stage of shared memory holds, and one bulk copy each. All ways
//          give the same bits.
// Traffic  Packing reads and writes an operand once.
// Expect   Packing A costs 2 % at k = 256, a twentieth of a square 8192. Shared memory binds large k: in 128 clocks
//          m64n256k8 reads 10 KiB of the 16 that it can move, and TMA writes 6. Of A through registers threads read
//          what else wgmma does. Tiles of 192 columns leave no registers for A: they are for packed ones.
// Reached  as expected.
// Source   packing: Goto and van de Geijn, Anatomy of high-performance matrix multiplication (2008)
#pragma once

#include "gemm/cuda/common/as_tf32.cuh"
#include "gemm/cuda/hopper/half.cuh"

namespace lasolve::sm90 {

constexpr int packed_rows = 64, packed_depth = 32;  // of an operand, by a block of threads; a thread has 4 × 4
/// Elements of operands that are packed at once, 1 GiB, and the least of each row, even if these are more.
constexpr std::int64_t most_packed = 1 << 28, least_packed_depth = 512;

/// Four neighbours in memory, of which `count` are there: the others are 0.
__device__ inline float4 fetch_4(const float* from, std::int64_t count, bool aligned) {
  if (aligned && count >= 4) return *reinterpret_cast<const float4*>(from);
  return {count > 0 ? from[0] : 0, count > 1 ? from[1] : 0, count > 2 ? from[2] : 0, count > 3 ? from[3] : 0};
}

/// Whether an operand, (rows, k), can come as it lies.
inline bool lies_along_k(Operand<float, Cuda> X) { return X.op() == Op::transpose && reachable(X.data(), X.ld()); }

/// An operand, (rows, k), and where it is packed: in pieces of `height` × 32, k varying fastest within and among them. Parts are of
/// 64 rows; none where it comes as it lies.
struct Piecewise {
  Operand<float, Cuda> X;
  float* to;
  unsigned height, parts, steps;

  Piecewise(Operand<float, Cuda> X, unsigned height, std::int64_t padded_rows, float* to)
      : X(X),
        to(to),
        height(height),
        parts(unsigned(padded_rows / packed_rows)),
        steps(unsigned(ceil_div(X.cols(), packed_depth))) {}
};

/// Packs A, and B, which is given as its transpose, where they have parts. Blocks follow one another as operands lie in memory.
static __global__ void __launch_bounds__(128) pack_tf32_kernel(Piecewise A, Piecewise B) {
#ifdef LASOLVE_HOPPER
  launch_dependents();
  const unsigned of_A = A.parts * A.steps;
  const Piecewise p = blockIdx.x < of_A ? A : B;
  const unsigned index = blockIdx.x < of_A ? blockIdx.x : blockIdx.x - of_A;
  const bool down = p.X.op() == Op::none;  // rows are neighbours, not k
  const unsigned part = down ? index % p.parts : index / p.steps, step = down ? index / p.parts : index % p.steps;
  const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 8 * 4, chunk = lane % 8;
  const std::int64_t first = std::int64_t(part) * packed_rows, i = first + row,
                     l = std::int64_t(step) * packed_depth + 4 * chunk;
  const std::int64_t along = down ? p.X.rows() - i : p.X.cols() - l, across = down ? p.X.cols() - l : p.X.rows() - i;
  const bool aligned = reachable(p.X.data(), p.X.ld());
  const float* from = p.X.data() + i * p.X.row_stride() + l * p.X.col_stride();
  float4 x[4];
#pragma unroll
  for (int t = 0; t < 4; ++t) x[t] = fetch_4(from + t * p.X.ld(), t < across ? along : 0, aligned);
  if (down) {  // transposed, so that k varies fastest
    const auto exchange = [](float& a, float& b) {
      const float c = a;
      a = b, b = c;
    };
    exchange(x[0].y, x[1].x), exchange(x[0].z, x[2].x), exchange(x[0].w, x[3].x);
    exchange(x[1].z, x[2].y), exchange(x[1].w, x[3].y), exchange(x[2].w, x[3].z);
  }
  float* to =
      p.to + (first / p.height * p.steps + step) * p.height * packed_depth + (first % p.height + row) * packed_depth;
#pragma unroll
  for (int t = 0; t < 4; ++t) {
    const float4 y{as_tf32(x[t].x), as_tf32(x[t].y), as_tf32(x[t].z), as_tf32(x[t].w)};  // as the copy engine rounds
    __stcg(reinterpret_cast<float4*>(to + t * packed_depth + (chunk ^ (row + t) % 8) * 4),
           y);  // as TMA swizzles 128 bytes
  }
#endif
}

/// C ← α·A·B + β·C. Where k is large in parts, so that packed operands stay below 1 GiB. a_k_major: A comes K-major, or
/// packed; else as it lies, down its columns, and through registers.
template <KernelSchedule schedule, bool a_k_major = true>
void multiply_tf32(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                   MatrixView<float, Cuda> C) {
  using Shape = KernelShape<float, a_k_major, true, schedule>;
  constexpr std::int64_t high = BM * Shape::cluster;
  const bool a_lies = !a_k_major || lies_along_k(A), b_lies = lies_along_k(transposed(B));
  const std::int64_t A_rows = a_lies ? 0 : round_up(C.rows(), high),
                     B_rows = b_lies ? 0 : round_up(C.cols(), Shape::BN);
  const std::int64_t rows = A_rows + B_rows;  // that are packed
  const std::int64_t depth =
      rows == 0 ? A.cols() : std::max(most_packed / rows / packed_depth * packed_depth, least_packed_depth);
  const auto map = [](const Piecewise& p, unsigned rows) {
    return tensor_map(p.X.data(), p.X.cols(), p.X.rows(), p.X.ld(), Shape::BK, rows, fetch,
                      CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
  };
  Arguments p = arguments(q, alpha, beta, C);
  for (std::int64_t l = 0; l < A.cols(); l += depth, p.beta = 1) {
    const std::int64_t k = std::min(depth, A.cols() - l), padded_k = round_up(k, packed_depth);
    float* packed = q.scratch<float>(padded_k, rows).data();
    const Piecewise a(A.block(0, l, C.rows(), k), BM, A_rows, packed);
    const Piecewise b(transposed(B.block(l, 0, k, C.cols())), Shape::BN, B_rows, packed + padded_k * A_rows);
    if (rows > 0) launch(q, pack_tf32_kernel, (a.parts + b.parts) * a.steps, 128, a, b);
    p.packed_a = a_lies ? nullptr : reinterpret_cast<const char*>(a.to);
    p.packed_b = b_lies ? nullptr : reinterpret_cast<const char*>(b.to);
    if (!a_k_major)
      p.A = tensor_map(a.X.data(), C.rows(), k, a.X.ld(), 32, Shape::BK, fetch, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32);
    else if (a_lies)
      p.A = map(a, BM);
    if (b_lies) p.B = map(b, Shape::BN / Shape::cluster);
    enqueue_product<Shape>(q, p, k);
  }
}

inline void tensor_tf32(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                        MatrixView<float, Cuda> C) {
  const std::int64_t k = A.cols();
  if (k == 0) return scale(q, beta, C);
  // How long it takes in tiles of BN columns, of which so many blocks have some below one another. The narrower ones
  // need more of their operands for each flop.
  const auto time = [&](std::int64_t BN, std::int64_t blocks) {
    return ceil_div(ceil_div(C.rows(), BM * blocks) * ceil_div(C.cols(), BN), q.multiprocessors() / blocks) * BN;
  };
  const bool lies_down = A.op() == Op::none && reachable(A.data(), A.ld());
  if (is_deep(q, k) && lies_down)
    multiply_tf32<KernelSchedule::cooperative_multicast, false>(q, alpha, A, B, beta, C);
  else if (is_deep(q, k))
    multiply_tf32<KernelSchedule::cooperative_multicast>(q, alpha, A, B, beta, C);
  else if (q.properties().has_clusters_of(2) && takes_wide_tiles(q.tuning(), k, time(192, 2), time(128, 1)))
    multiply_tf32<KernelSchedule::pingpong_multicast>(q, alpha, A, B, beta, C);
  else if (lies_down && lies_along_k(transposed(B)))  // else there is a packing kernel anyway
    multiply_tf32<KernelSchedule::pingpong, false>(q, alpha, A, B, beta, C);
  else
    multiply_tf32<KernelSchedule::pingpong>(q, alpha, A, B, beta, C);
}

/// The scratch memory for what tensor_tf32 packs of products of at most this size, whose operands the copy engine can reach.
inline void prepare_tf32(Queue<Cuda>& q, const ProductShape& p) {
  const bool has_clusters = q.properties().has_clusters_of(2), packs_B = p.b == Op::transpose;
  // Of a deep product A goes through registers. Beside a B that lies along k it is packed for wide tiles only.
  const std::int64_t k_of_A = has_clusters ? std::min(p.k, q.tuning()[tensor_multicast_from] - 1) : p.k;
  const bool packs_A = p.a == Op::none && (packs_B || (has_clusters && k_of_A >= q.tuning()[tensor_tf32_wide_from]));
  constexpr std::int64_t rest = 255;  // to whole tiles, which are at most 256 high or wide
  const std::int64_t A_rows = packs_A ? p.m + rest : 0, B_rows = packs_B ? p.n + rest : 0;
  const auto make_room = [&](std::int64_t rows, std::int64_t k) {
    q.scratch<float>(std::min(rows * round_up(k, packed_depth), std::max(most_packed, rows * least_packed_depth)), 1);
  };
  make_room(A_rows + B_rows, k_of_A), make_room(B_rows, p.k);
}

}  // namespace lasolve::sm90
