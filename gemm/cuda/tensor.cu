// tensor: products in less than fp64 on Hopper's tensor cores.
// Idea     wgmma multiplies tiles in shared memory, which the copy engine (TMA) fills, and pieces of C come and go beside the
//          product: at small k it is their traffic that rules.
// Tiles    tensor_sm90.cuh: fp16 and bf16 over operands as they lie or packed (tensor_half.cuh), tf32 over operands that are
//          rounded and packed first (tensor_tf32.cuh).
// Traffic  C once in and once out, 8 bytes an element.
// Expect   k ≤ 512: nine tenths of the rate of a copy. Large k: as cuBLAS, by power.
// Source   NVIDIA, CUTLASS; the files named above say more
#include "gemm/cuda/tensor_tf32.cuh"

namespace lasolve {

extern const GemmBackend<Cuda> gemm_cuda_tensor;
const GemmBackend<Cuda> gemm_cuda_tensor{
    .name = "tensor",
    .summary = "tf32, fp16 and bf16 on tensor cores; operands and C come and go beside the product",
    .tf32 = sm90::tensor_tf32,
    .f16 = {sm90::tensor_half<fp16>, 0x1p-20},  // the tensor cores cut off the ends of their sums
    .bf16 = {sm90::tensor_half<bf16>, 0x1p-20},
    .unavailable = hopper::why_not,
};

}  // namespace lasolve
