// blas: OpenBLAS's dgemm and sgemm.
// Idea     The best that is installed: kernels in assembly for each processor, chosen at run time.
// Tiles    chosen by OpenBLAS from the processor.
// Traffic  see Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008.
// Expect   nine tenths of the vector units' peak.
// Source   OpenBLAS
// Needs    OpenBLAS
#include <cblas.h>

#include "core/by_type.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

static CBLAS_TRANSPOSE cblas_op(Op op) { return op == Op::none ? CblasNoTrans : CblasTrans; }

template <class T>
static void blas(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const auto gemm = by_type<T>(cblas_dgemm, cblas_sgemm);
  const auto size = [](std::int64_t n) {
    require(blasint(n) == n, "this OpenBLAS has 32-bit sizes, and the matrix is larger");
    return blasint(n);
  };
  const auto ld = [&](const auto& x) { return size(std::max<std::int64_t>(x.ld(), 1)); };
  gemm(CblasColMajor, cblas_op(A.op()), cblas_op(B.op()), size(C.rows()), size(C.cols()), size(A.cols()), alpha,
       A.data(), ld(A), B.data(), ld(B), beta, C.data(), ld(C));
}

/// Our threads share the product, each with a sequential OpenBLAS: its own threads would wait for work by spinning, on
/// the cores that the panel needs next.
template <class T>
static void blas_on_all_cores(Queue<Cpu>& q, T alpha, Operand<T, Cpu> A, Operand<T, Cpu> B, T beta,
                              MatrixView<T, Cpu> C) {
  const int threads = openblas_get_num_threads();
  if (threads != 1) openblas_set_num_threads(1);
  on_all_cores<T, blas<T>>(q, alpha, A, B, beta, C);
  if (threads != 1) openblas_set_num_threads(threads);
}

extern const GemmBackend<Cpu> gemm_cpu_blas;
const GemmBackend<Cpu> gemm_cpu_blas{
    .name = "blas",
    .summary = "OpenBLAS's dgemm and sgemm",
    .f64 = blas_on_all_cores<double>,
    .f32 = blas_on_all_cores<float>,
};

}  // namespace lasolve
