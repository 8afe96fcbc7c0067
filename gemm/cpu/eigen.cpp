// eigen: Eigen's product.
// Idea     What a C++ program gets without a BLAS: packed panels and a register block of vector packets.
// Tiles    chosen by Eigen from the cache sizes.
// Traffic  see Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008.
// Expect   three quarters of a tuned BLAS on wide vector units.
// Reached  87 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   Eigen 3.4
#include "core/cpu/by_eigen.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

template <class T>
static void eigen(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  if (beta != T(1)) scale(beta, C);
  add_product_by_eigen(alpha, A, B, C);
}

extern const GemmBackend<Cpu> gemm_cpu_eigen;
const GemmBackend<Cpu> gemm_cpu_eigen{
    .name = "eigen",
    .summary = "Eigen's product",
    .kernels = {on_all_cores<eigen<double>>, on_all_cores<eigen<float>>},
};

}  // namespace lasolve
