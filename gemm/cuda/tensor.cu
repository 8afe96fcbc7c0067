// tensor: tensor cores, with pieces of C coming and going beside the product. At small k the traffic of C is the limit.
// Idea     fp64 on Hopper: producer warps bring tiles of A, B and C through a ring in shared memory by TMA. Consumer
//          warps multiply fragments in registers, add, and have C taken away. Meanwhile the next tile's A and B come.
//          Below fp64: wgmma multiplies the tiles where they are. On cards that are not Hopper: ampere/tensor_mma.cuh.
// Tiles    fp64 (hopper/fp64_dispatch.cuh): BM = 64, BN = 128, BK = 16, 4 warps of 64 × 32, and 4 that copy and give
//          their registers away. A ring of 4 × 24 KiB, 2 blocks an SM, which hide each other's beginnings and ends.
//          From k = 1024 on BM = 128 with 8 warps and a ring of 6 × 32 KiB, one block an SM.
//          For shorter work BN = 64, 4 warps of 32 × 32 and one that copies, a ring of 4 × 16 KiB, 3 blocks an SM. BN =
//          32 where the tiles are few, and BM = 32 as well where they are fewer still. These products begin by
//          programmatic dependent launch. All let the next kernel begin when their last blocks have begun.
//          Where tiles of 64 × 128 are few and their steps many, 2, 4 or 8 blocks of a cluster share a tile
//          (hopper/fp64_split_k.cuh).
//          Below fp64 (hopper/wgmma_kernel.cuh): fp16 and bf16 over operands as they lie, or packed (hopper/half.cuh).
//          tf32 over operands that are rounded on their way, A also through registers, or packed first
//          (hopper/tf32.cuh).
// Traffic  C once in and once out, 16 bytes an element in fp64 and 8 in the others. fp64: 2·64·128·16 flop per (64 +
//          128)·16·8 bytes = 10.7 flop/byte from L2, and 16 with BM = 128.
// Expect   fp64: by the tensor cores, 62 TFLOP/s, from k = 256; at k = 128 by memory, 50. Less, as the card reaches its
//          power limit, 700 W, and slows. The others: at k ≤ 512 nine tenths of the rate of a copy; at large k as
//          cuBLAS, by power.
// Reached  fp64 on a rested H200: 61 at 8192³; 45, 53 and 58 on updates of 16384² with k = 128, 256 and 512, which is
//          125, 112 and 105 % of cuBLAS.
// Source   NVIDIA, CUTLASS; the C tile brought early: the trailing updates of HPL codes; the files named above say more
#include "gemm/cuda/ampere/tensor_mma.cuh"
#include "gemm/cuda/hopper/fp64_dispatch.cuh"
#include "gemm/cuda/hopper/half.cuh"
#include "gemm/cuda/hopper/tf32.cuh"

namespace lasolve {

/// On Hopper the kernel that is made for it, where the build has its code; elsewhere that for any card.
template <auto for_hopper, class T, class In>
static void tensor(const void*, Queue<Cuda>& q, T alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, T beta,
                   MatrixView<T, Cuda> C) {
  const auto f = hopper::why_not(q.device()).empty() ? for_hopper : tensor_mma::gemm<In>;
  f(q, alpha, A, B, beta, C);
}

static std::string why_no_tensor(int device) {
  return hopper::why_not(device).empty() ? "" : tensor_mma::why_not(device);
}

/// In other precisions only operands are packed that do not lie at multiples of 16 bytes, which no shape tells.
static void prepare_tensor(const void*, Queue<Cuda>& q, const ProductShape& p) {
  if (p.precision == Precision::tf32 && hopper::why_not(q.device()).empty()) sm90::prepare_tf32(q, p);
}

extern const GemmBackend<Cuda> gemm_cuda_tensor;
const GemmBackend<Cuda> gemm_cuda_tensor{
    .name = "tensor",
    .summary = "tensor cores; operands and C come and go beside the product",
    .kernels = {tensor<tensor_f64::gemm, double, double>,
                GemmKernel<Precision::tf32, Cuda>(tensor<sm90::tensor_tf32, float, float>),
                // the tensor cores cut off the ends of their sums
                GemmKernel(tensor<sm90::tensor_half<fp16>, float, fp16>, 0x1p-20),
                GemmKernel(tensor<sm90::tensor_half<bf16>, float, bf16>, 0x1p-20)},
    .unavailable = why_no_tensor,
    .prepare = prepare_tensor,
    .thresholds = tensor_thresholds,
};

}  // namespace lasolve
