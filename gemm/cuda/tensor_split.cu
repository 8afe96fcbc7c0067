// tensor_split: fp32 in and out, near fp32's accuracy, on tensor cores that multiply fp16.
// Idea     Each operand is the sum of two parts of fp16, hi and lo; hi·hi + hi·lo + lo·hi leaves out only lo·lo. Rows
//          of op(A) and columns of op(B) are scaled by powers of two first, so that nothing overflows and lo keeps its
//          bits. The three products go into the same fp32 sums. A pass before the product scales and splits into
//          scratch memory.
// Tiles    as tensor's for halves, with 32 of hi and 32 of lo in a stage; six instructions on it where halves have
//          four.
// Lower    Where C is symmetric and B = Aᵀ, tiles above the diagonal are left out, and the pass is over A alone.
// Traffic  the pass reads A and B once, up to k = 2048, and writes them; then as tensor, on operands of twice the length.
// Expect   a third of the fp16 rate, four times fp32 on CUDA cores; at small k bound by the traffic of C, as tensor.
// Refined  178 % of the fastest in fp64: whole solves of LU at n = 32768 on an H100.
// Limits   An infinity in an operand may come out as NaN, since ∞·lo has either sign. An element keeps 22 bits. It
//          keeps fewer where it is 2¹⁵ times smaller than the largest of its row of op(A) or column of op(B).
// Source   Markidis et al., "NVIDIA Tensor Core Programmability, Performance & Precision"; H. Ootomo & R. Yokota,
//          "Recovering single precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak
//          performance"
#include "gemm/cuda/common/split.cuh"
#include "gemm/cuda/hopper/half.cuh"

namespace lasolve {

namespace sm90 {

constexpr std::int64_t depth = 8192;  // of op(A) and op(B) at once, which bounds the scratch memory

/// What a row of op(A) and a column of op(B) of k elements take when they are split.
static std::int64_t split_length(std::int64_t k) { return 2 * round_up(std::min(k, depth), 32); }

static void prepare(const void*, Queue<Cuda>& q, const ProductShape& p) {
  Packed<fp16>(q, p.m, p.n, split_length(p.k));
}

/// Whether B is Aᵀ, as it lies in memory.
static bool are_transposed(Operand<float, Cuda> A, Operand<float, Cuda> B) {
  return A.data() == B.data() && A.row_stride() == B.col_stride() && A.col_stride() == B.row_stride() &&
         A.rows() == B.cols();
}

/// C ← α·A·B + β·C with operands of fp32 in two parts of fp16: hi·hi + hi·lo + lo·hi. lower: see Use.
template <bool lower>
static void tensor_split(const void*, Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B,
                         float beta, MatrixView<float, Cuda> C) {
  const std::int64_t m = C.rows(), n = C.cols();
  if (A.cols() == 0) return scale(q, beta, C);
  const bool one = lower && are_transposed(A, B);
  for (std::int64_t l = 0; l < A.cols(); l += depth) {
    const std::int64_t k = std::min(depth, A.cols() - l), ld = split_length(k);
    Arguments p = arguments(q, alpha, l == 0 ? beta : 1, C);
    const Packed<fp16> to(q, m, n, ld);
    split(q, {A.block(0, l, m, k), to.a, ld, to.a_roots},
          {transposed(B.block(l, 0, k, one ? 0 : n)), to.b, ld, to.b_roots});
    p.A = operand_map(to.a, ld, m, ld), p.B = one ? p.A : operand_map(to.b, ld, n, ld);
    p.row_roots = to.a_roots, p.col_roots = one ? to.a_roots : to.b_roots;
    enqueue_product<KernelShape<fp16, true, true, KernelSchedule::cooperative_split, lower>>(q, p, ld);
  }
}

}  // namespace sm90

extern const GemmBackend<Cuda> gemm_cuda_tensor_split;
const GemmBackend<Cuda> gemm_cuda_tensor_split{
    .name = "tensor_split",
    .summary = "fp32 on tensor cores, each operand in two parts of fp16",
    .kernels = GemmKernel(sm90::tensor_split<false>, 0x1p-22).with_lower(sm90::tensor_split<true>),
    .unavailable = sm90::why_not,
    .prepare = sm90::prepare,
};

}  // namespace lasolve
