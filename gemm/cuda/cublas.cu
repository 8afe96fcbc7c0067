// cublas: cuBLAS's dgemm and sgemm.
// Idea     The vendor's best, to compare with: tensor cores for f64, CUDA cores for f32 in full precision.
// Tiles    chosen by cuBLAS for each shape.
// Traffic  see the rungs above.
// Expect   nine tenths of peak for large k; at small k, bound by reading and writing C.
// Source   NVIDIA cuBLAS, 64-bit interface
#include "core/cuda/blas.hpp"

namespace lasolve {

extern const GemmBackend<Cuda> gemm_cuda_cublas;
const GemmBackend<Cuda> gemm_cuda_cublas{
    .name = "cublas",
    .summary = "cuBLAS's dgemm and sgemm",
    .f64 = cublas_gemm<double>,
    .f32 = cublas_gemm<float>,
};

}  // namespace lasolve
