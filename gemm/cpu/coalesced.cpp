// coalesced: the loop order whose inner loop is unit stride.
// Idea     Walk memory as it lies. With A as stored, columns of A are added to a column of C; with A transposed, the
//          dot product of naive already walks a stored column.
// Tiles    none; the cores share C.
// Traffic  a column of C is read and written once for each column of A: 2 flop per 3·8 bytes (f64) from L1.
// Expect   vectorized, bound by L1 while A stays in cache and by memory when it does not.
// Reached  44 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   folklore; the name is the GPU's for the same idea
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

template <class T>
static void coalesced(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  scale(beta, C);
  if (k == 0) return;  // A may have no memory
  for (std::int64_t j = 0; j < n; ++j) {
    T* c = C.data() + j * C.ld();
    if (A.op() == Op::none) {
      for (std::int64_t l = 0; l < k; ++l) {
        const T* a = A.data() + l * A.ld();
        const T b = alpha * B(l, j);
        for (std::int64_t i = 0; i < m; ++i) c[i] += a[i] * b;
      }
    } else {
      for (std::int64_t i = 0; i < m; ++i) {
        const T* a = A.data() + i * A.ld();
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (std::int64_t l = 0; l < k; ++l) sum += a[l] * B(l, j);
        c[i] += alpha * sum;
      }
    }
  }
}

extern const GemmBackend<Cpu> gemm_cpu_coalesced;
const GemmBackend<Cpu> gemm_cpu_coalesced{
    .name = "coalesced",
    .summary = "the loop order whose inner loop is unit stride",
    .kernels = {on_all_cores<coalesced<double>>, on_all_cores<coalesced<float>>},
};

}  // namespace lasolve
