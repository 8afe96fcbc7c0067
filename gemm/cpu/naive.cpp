// naive: three loops, one dot product for each element of C.
// Idea     The definition of the product, read off the page: c(i, j) = Σ a(i, l)·b(l, j).
// Tiles    none; the cores share C.
// Traffic  a row of A is read across columns, a new cache line for each element.
// Expect   bound by cache misses once a row's lines no longer fit: below 1 GFLOP/s a core for large matrices.
// Source   folklore
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

template <class T, class In = T>
static void naive(T alpha, Operand<In> A, Operand<In> B, T beta, MatrixView<T> C) {
  for (std::int64_t i = 0; i < C.rows(); ++i)
    for (std::int64_t j = 0; j < C.cols(); ++j) {
      T sum = 0;
      for (std::int64_t l = 0; l < A.cols(); ++l) sum += T(A(i, l)) * T(B(l, j));
      C(i, j) = beta == T(0) ? alpha * sum : alpha * sum + beta * C(i, j);
    }
}

extern const GemmBackend<Cpu> gemm_cpu_naive;
const GemmBackend<Cpu> gemm_cpu_naive{
    .name = "naive",
    .summary = "three loops, one dot product for each element of C",
    .f64 = on_all_cores<double, naive<double>>,
    .f32 = on_all_cores<float, naive<float>>,
    .f16 = on_all_cores<float, naive<float, fp16>, fp16>,
    .bf16 = on_all_cores<float, naive<float, bf16>, bf16>,
};

}  // namespace lasolve
