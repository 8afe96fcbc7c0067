// tiled: cache blocks.
// Idea     A block of op(A) that fits L2 is copied once and used for every column of C, so that A is read from memory
//          once; four of its columns at a time pass over the column of C, so that C is loaded once for 8 flops.
// Tiles    As: (BK, BM) = (128, 128), 128 KiB (f64); the chunk of a column of C is 1 KiB.
// Traffic  8 flop per 4 + 2 loads and stores of the vector unit.
// Expect   bound by loads from L2 and L1: a third of peak.
// Reached  57 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   Lam, Rothberg & Wolf, "The cache performance and optimizations of blocked algorithms", ASPLOS 1991
#include "core/of_this_thread.hpp"
#include "gemm/cpu/add_columns.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

constexpr std::int64_t BM = 128, BK = 128;

namespace {

template <class T>
struct TileOfA {
  alignas(64) T As[BM * BK];
};

}  // namespace

template <Precision P, class T = typename Arithmetic<P>::Result>
static void tiled(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  T* const As = of_this_thread<TileOfA<T>>().As;  // too large for the stack of some threads
  alignas(64) T b[BK];
  scale(beta, C);
  for (std::int64_t l0 = 0; l0 < A.cols(); l0 += BK)
    for (std::int64_t i0 = 0; i0 < C.rows(); i0 += BM) {
      const std::int64_t m = std::min(BM, C.rows() - i0), k = std::min(BK, A.cols() - l0);
      for (std::int64_t l = 0; l < k; ++l)
        for (std::int64_t i = 0; i < m; ++i) As[l * BM + i] = factor_of<P>(A(i0 + i, l0 + l));
      for (std::int64_t j = 0; j < C.cols(); ++j) {
        for (std::int64_t l = 0; l < k; ++l) b[l] = alpha * factor_of<P>(B(l0 + l, j));
        add_columns(m, k, As, BM, b, &C(i0, j));
      }
    }
}

extern const GemmBackend<Cpu> gemm_cpu_tiled;
const GemmBackend<Cpu> gemm_cpu_tiled{
    .name = "tiled",
    .summary = "cache blocks: A is read from memory once",
    .kernels = {on_all_cores<tiled<Precision::fp64>>, on_all_cores<tiled<Precision::fp32>>,
                GemmKernel<Precision::tf32, Cpu>(on_all_cores<tiled<Precision::tf32>>)},
};

}  // namespace lasolve
