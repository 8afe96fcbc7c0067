// tensor_split: fp32 in and out, near fp32's accuracy, on tensor cores that multiply fp16.
// Idea     Each operand is the sum of two parts of fp16, hi and lo; hi·hi + hi·lo + lo·hi leaves out only lo·lo. Rows of op(A)
//          and columns of op(B) are scaled by powers of two first, so that nothing overflows and lo keeps its bits, and
//          the three products go into the same fp32 sums. A pass before the product scales and splits into scratch memory.
// Tiles    as tensor's for halves, with 32 of hi and 32 of lo in a stage; six instructions on it where halves have four.
// Traffic  the pass reads A and B twice and writes them once; then as tensor, on operands of twice the length.
// Expect   a third of the fp16 rate, four times fp32 on CUDA cores; at small k bound by the traffic of C, as tensor.
// Limits   An infinity in an operand comes out as NaN (∞·lo has either sign). 22 bits of an operand are kept, of elements
//          2³⁰ times smaller than the largest of their row fewer. Sums are cut, not rounded, by the tensor cores.
// Source   Markidis et al., "NVIDIA Tensor Core Programmability, Performance & Precision"; H. Ootomo & R. Yokota, "Recovering
//          single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance"
#include "gemm/cuda/tensor_half.cuh"

namespace lasolve {

extern const GemmBackend<Cuda> gemm_cuda_tensor_split;
const GemmBackend<Cuda> gemm_cuda_tensor_split{
    .name = "tensor_split",
    .summary = "fp32 on tensor cores, each operand in two parts of fp16",
    .f32 = {hopper::tensor_split, 0x1p-22},
    .unavailable = hopper::why_not,
};

}  // namespace lasolve
