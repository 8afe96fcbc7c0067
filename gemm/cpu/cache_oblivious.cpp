// cache_oblivious: halves, and halves of these.
// Idea     The longest of m, n and k is halved until a product is small. Whatever a cache holds, from some depth on the
//          operands of a product fit it, and what is below that depth reads them from there: no size of a cache is named.
// Tiles    none but the leaf: at most 128 × 128 × 128, with op(A) in a block of its own so that its columns are contiguous.
// Traffic  to a cache of Z elements 2 m n k √3 / √Z elements for operands that are too large for it, as with tiles for that cache.
// Expect   bound by loads and stores of the leaf, as tiled, and a little slower: it copies op(A) again for each 128 columns.
// Reached  54 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   Frigo, Leiserson, Prokop & Ramachandran, "Cache-oblivious algorithms", FOCS 1999
#include "core/of_this_thread.hpp"
#include "gemm/cpu/add_columns.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

constexpr std::int64_t leaf = 128;

namespace {

template <class T>
struct LeafOfA {
  alignas(64) T As[leaf * leaf];
};

}  // namespace

/// C ← C + α·A·B of at most leaf × leaf × leaf.
template <class T>
static void add_leaf(T alpha, Operand<T> A, Operand<T> B, MatrixView<T> C) {
  T* const As = of_this_thread<LeafOfA<T>>().As;  // too large for the stack of some threads
  alignas(64) T b[leaf];
  const std::int64_t m = C.rows(), k = A.cols();
  for (std::int64_t l = 0; l < k; ++l)
    for (std::int64_t i = 0; i < m; ++i) As[l * leaf + i] = A(i, l);
  for (std::int64_t j = 0; j < C.cols(); ++j) {
    for (std::int64_t l = 0; l < k; ++l) b[l] = alpha * B(l, j);
    add_columns(m, k, As, leaf, b, &C(0, j));
  }
}

/// C ← C + α·A·B.
template <class T>
static void add_product(T alpha, Operand<T> A, Operand<T> B, MatrixView<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols(), longest = std::max({m, n, k});
  if (longest <= leaf) return add_leaf(alpha, A, B, C);
  const std::int64_t half = round_up(longest / 2, 8);
  if (m == longest) {
    add_product(alpha, A.block(0, 0, half, k), B, C.block(0, 0, half, n));
    add_product(alpha, A.block(half, 0, m - half, k), B, C.block(half, 0, m - half, n));
  } else if (n == longest) {
    add_product(alpha, A, B.block(0, 0, k, half), C.block(0, 0, m, half));
    add_product(alpha, A, B.block(0, half, k, n - half), C.block(0, half, m, n - half));
  } else {
    add_product(alpha, A.block(0, 0, m, half), B.block(0, 0, half, n), C);
    add_product(alpha, A.block(0, half, m, k - half), B.block(half, 0, k - half, n), C);
  }
}

template <class T>
static void cache_oblivious(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  scale(beta, C);
  if (!C.empty() && A.cols() > 0) add_product(alpha, A, B, C);
}

extern const GemmBackend<Cpu> gemm_cpu_cache_oblivious;
const GemmBackend<Cpu> gemm_cpu_cache_oblivious{
    .name = "cache_oblivious",
    .summary = "halves, and halves of these: fits any cache",
    .kernels = {on_all_cores<cache_oblivious<double>>, on_all_cores<cache_oblivious<float>>},
};

}  // namespace lasolve
