// cublas: cuBLAS's products.
// Idea     The vendor's best, to compare with: tensor cores for all but f32, which stays on CUDA cores in full precision.
// Tiles    chosen by cuBLAS for each shape.
// Traffic  see the rungs above.
// Expect   nine tenths of peak for large k; at small k, bound by reading and writing C.
// Source   NVIDIA cuBLAS, 64-bit interface
#include "core/cuda/blas.hpp"

namespace lasolve {

/// C ← α·A·B + β·C with operands of In, which cuBLAS calls `type`.
template <class In, cudaDataType_t type, cublasComputeType_t compute>
static void mixed(Queue<Cuda>& q, float alpha, Operand<In, Cuda> A, Operand<In, Cuda> B, float beta,
                  MatrixView<float, Cuda> C) {
  const auto ld = [](const auto& x) { return std::max<std::int64_t>(x.ld(), 1); };
  CUDA_CHECK(cublasGemmEx_64(q.blas(), cublas_op(A.op()), cublas_op(B.op()), C.rows(), C.cols(), A.cols(), &alpha,
                             A.data(), type, ld(A), B.data(), type, ld(B), &beta, C.data(), CUDA_R_32F, ld(C), compute,
                             CUBLAS_GEMM_DEFAULT));
}

extern const GemmBackend<Cuda> gemm_cuda_cublas;
const GemmBackend<Cuda> gemm_cuda_cublas{
    .name = "cublas",
    .summary = "cuBLAS's products",
    .f64 = cublas_gemm<double>,
    .f32 = cublas_gemm<float>,
    .tf32 = mixed<float, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32>,
    .f16 = mixed<fp16, CUDA_R_16F, CUBLAS_COMPUTE_32F>,
    .bf16 = mixed<bf16, CUDA_R_16BF, CUBLAS_COMPUTE_32F>,
};

}  // namespace lasolve
