// tensor: tensor cores, and a ring of tiles that comes while the product runs.
// Idea     A trailing update has small k, and then reading and writing C takes as long as the product. So a block computes
//          several tiles of C one after the other, and one of its warps brings what the others will need through a ring of
//          buffers: the steps of A and B, behind them the tile of C, behind it the next tile's A and B. While some warps
//          still add and store C, others are in the next product.
// Tiles    BM = BN = 128, BK = 16; 8 warps of 64 × 32 that compute, and 4 that copy and have given their registers away;
//          a ring of 7 × 32 KiB. Where such tiles are fewer than eight for each SM, or k is large, or memory is not aligned to
//          16 bytes, BM = BN = 64: 4 warps of 32 × 32, 3 blocks an SM, which hide each other's beginnings and ends.
// Traffic  2·128·128·16 flop per 2·128·16·8 bytes = 16 flop/byte from L2, and 2·k flop per 16 bytes of C.
// Expect   f64: bound by the tensor cores, 62 TFLOP/s, from k = 256; at k = 128 by memory, 50. Measured: 44 at k = 128, where
//          cuBLAS has 35; the card reaches its limit of power, 700 W, and slows from 1.98 to 1.75 GHz.
//          tf32, fp16, bf16: see tensor_tf32.cuh and tensor_sm90.cuh, which are for compute capability 9.0.
// Source   warp specialization and the ring: NVIDIA, CUTLASS; the C tile brought early: see the trailing updates of HPL codes
#include "gemm/cuda/tensor_f64.cuh"
#include "gemm/cuda/tensor_half.cuh"
#include "gemm/cuda/tensor_tf32.cuh"

namespace lasolve {

static std::string unavailable(int device) {
  int major = 0;
  if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) != cudaSuccess)
    return "the device does not answer";
  return major >= 8 ? "" : "needs tensor cores for fp64 (compute capability 8.0), and this device has none";
}

extern const GemmBackend<Cuda> gemm_cuda_tensor;
const GemmBackend<Cuda> gemm_cuda_tensor{
    .name = "tensor",
    .summary = "tensor cores, operands and C brought through a ring while the product runs",
    .f64 = tensor_f64::gemm,
    .tf32 = tensor_tf32::gemm,
    .f16 = {sm90::tensor_half<fp16>, 0x1p-20},  // the tensor cores cut off the ends of their sums
    .bf16 = {sm90::tensor_half<bf16>, 0x1p-20},
    .unavailable = unavailable,
};

}  // namespace lasolve
