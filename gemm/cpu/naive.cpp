// naive: three loops, one dot product for each element of C.
// Idea     The definition of the product, read off the page: c(i, j) = Σ a(i, l)·b(l, j).
// Tiles    none; the cores share C.
// Traffic  a row of A is read across columns, a new cache line for each element.
// Expect   bound by cache misses once a row's lines no longer fit: below 1 GFLOP/s a core for large matrices.
// Reached  8 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   folklore
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

template <Precision P, class T = typename Arithmetic<P>::Result, class In = typename Arithmetic<P>::Operand>
static void naive(T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C) {
  for (std::int64_t i = 0; i < C.rows(); ++i)
    for (std::int64_t j = 0; j < C.cols(); ++j) {
      T sum = 0;
      for (std::int64_t l = 0; l < A.cols(); ++l) sum += factor_of<P>(A(i, l)) * factor_of<P>(B(l, j));
      C(i, j) = beta == T(0) ? alpha * sum : alpha * sum + beta * C(i, j);
    }
}

extern const GemmBackend<Cpu> gemm_cpu_naive;
const GemmBackend<Cpu> gemm_cpu_naive{
    .name = "naive",
    .summary = "three loops, one dot product for each element of C",
    .kernels = {on_all_cores<naive<Precision::fp64>>, on_all_cores<naive<Precision::fp32>>,
                GemmKernel<Precision::tf32, Cpu>(on_all_cores<naive<Precision::tf32>>),
                on_all_cores<naive<Precision::fp16>>, on_all_cores<naive<Precision::bf16>>},
};

}  // namespace lasolve
