// packed: panels copied in the order in which a block of C held in registers reads them.
// Idea     A block of C stays in vector registers while op(A) and op(B) stream past it: each step loads one column of A's
//          panel and broadcasts one row of B's. Both are copied first, so that they stream with unit stride, whatever op
//          and ld are: of B as much as L3 holds, of A as much as L2 holds, and a panel of B stays in L1.
// Tiles    registers: (MR, NR) = 24 × 8 (AVX-512), 8 × 6 (AVX2), 4 × 4 (else) in f64, twice the rows in f32;
//          As: MC × KC = 192 × 256 in f64, 192 × 512 in f32, 384 KiB; Bs: KC × NC, NC = 2048, 4 MiB.
// Traffic  2·24·8 flop per 24 + 8 loads from L2 and L1 (f64, AVX-512); C is read and written once per KC columns of A.
// Expect   nine tenths of the vector units' peak where k is large; bound by C from memory where k is below 128.
// Source   Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008; Van Zee & van de Geijn,
//          "BLIS: A framework for rapidly instantiating BLAS functionality", TOMS 2015

#include <cstdlib>
#include <memory>
#include <new>

#include "core/ceil_div.hpp"
#include "core/of_this_thread.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

constexpr std::int64_t MC = 192, NC = 2048;
template <class T>
constexpr std::int64_t KC = 2048 / sizeof(T);

/// c ← α·a·b + β·c for panels a: (V·lanes, k) and b: (k, N), and c: (V·lanes, N). A macro, because the instruction set
/// belongs to the function: a shared body would be lowered to the narrowest vectors before it is inlined.
#define MICRO_KERNEL(name, bytes, isa)                                                                                 \
  template <class T, int V, int N>                                                                                     \
  isa static void name(std::int64_t k, const T* __restrict a, const T* __restrict b, T alpha, T beta, T* __restrict c, \
                       std::int64_t ldc) {                                                                             \
    typedef T Vector __attribute__((vector_size(bytes)));                                                              \
    typedef T Unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));                           \
    constexpr int lanes = bytes / sizeof(T);                                                                           \
    for (int j = 0; j < N; ++j)                                                                                        \
      for (int v = 0; v < V; ++v) __builtin_prefetch(c + j * ldc + v * lanes, 1);                                      \
    Vector sum[N][V] = {};                                                                                             \
    for (std::int64_t l = 0; l < k; ++l, a += V * lanes, b += N) {                                                     \
      Vector column[V];                                                                                                \
      for (int v = 0; v < V; ++v) column[v] = *reinterpret_cast<const Unaligned*>(a + v * lanes);                      \
      for (int j = 0; j < N; ++j)                                                                                      \
        for (int v = 0; v < V; ++v) sum[j][v] += column[v] * b[j];                                                     \
    }                                                                                                                  \
    for (int j = 0; j < N; ++j)                                                                                        \
      for (int v = 0; v < V; ++v) {                                                                                    \
        auto& to = *reinterpret_cast<Unaligned*>(c + j * ldc + v * lanes);                                             \
        to = beta == T(0) ? alpha * sum[j][v] : beta * to + alpha * sum[j][v];                                         \
      }                                                                                                                \
  }
MICRO_KERNEL(with_128_bits, 16, )
#ifdef __x86_64__
MICRO_KERNEL(with_avx2, 32, __attribute__((target("avx2,fma"))))
MICRO_KERNEL(with_avx512, 64, __attribute__((target("avx512f"))))
#endif
#undef MICRO_KERNEL

/// Panels of W rows of X, each column by column, the last filled up with zeros. Reads along what is contiguous in X: whole
/// columns, or a cache line of each row at a time.
template <int W, class T>
static void pack(Operand<T> X, T* to) {
  const std::int64_t m = X.rows(), k = X.cols(), whole = m / W * W, rest = m - whole;
  constexpr std::int64_t line = 64 / sizeof(T);
  if (rest > 0) std::fill_n(to + whole * k, W * k, T(0));
  if (X.row_stride() == 1) {
    for (std::int64_t l = 0; l < k; ++l) {
      const T* from = &X(0, l);
      for (std::int64_t i = 0; i < whole; i += W) std::copy_n(from + i, W, to + i * k + l * W);
      std::copy_n(from + whole, rest, to + whole * k + l * W);
    }
  } else {
    for (std::int64_t i0 = 0; i0 < m; i0 += W)
      for (std::int64_t l0 = 0; l0 < k; l0 += line)
        for (std::int64_t i = 0, l1 = std::min(k, l0 + line); i < std::min<std::int64_t>(W, m - i0); ++i) {
          const T* from = &X(i0 + i, 0);
          for (std::int64_t l = l0; l < l1; ++l) to[i0 * k + l * W + i] = from[l];
        }
  }
}

/// C ← α·As·Bs + β·C for packed panels of MR rows and NR columns.
template <int MR, int NR, auto micro_kernel, class T>
static void multiply_panels(std::int64_t k, T alpha, const T* As, const T* Bs, T beta, MatrixView<T> C) {
  for (std::int64_t j = 0; j < C.cols(); j += NR)
    for (std::int64_t i = 0; i < C.rows(); i += MR) {
      const std::int64_t m = std::min<std::int64_t>(MR, C.rows() - i), n = std::min<std::int64_t>(NR, C.cols() - j);
      if (m == MR && n == NR) {
        micro_kernel(k, As + i * k, Bs + j * k, alpha, beta, &C(i, j), C.ld());
        continue;
      }
      alignas(64) T tile[MR * NR];
      micro_kernel(k, As + i * k, Bs + j * k, alpha, T(0), tile, MR);
      for (std::int64_t jj = 0; jj < n; ++jj)
        for (std::int64_t ii = 0; ii < m; ++ii) {
          T& c = C(i + ii, j + jj);
          c = beta == T(0) ? tile[jj * MR + ii] : beta * c + tile[jj * MR + ii];
        }
    }
}

namespace {

/// Memory that grows when it must, and is kept.
class Workspace {
 public:
  void* of(std::size_t bytes) {
    if (bytes > bytes_) {
      bytes_ = 0, memory_.reset();
      const std::size_t rounded = (bytes + page - 1) / page * page;
      memory_.reset(std::aligned_alloc(page, rounded));
      if (!memory_) throw std::bad_alloc();
      bytes_ = rounded;
    }
    return memory_.get();
  }

 private:
  static constexpr std::size_t page = 4096;
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  std::size_t bytes_ = 0;
};

}  // namespace

template <class T, int MR, int NR, auto micro_kernel>
static void packed_as(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k == 0) return scale(beta, C);
  const std::int64_t parts = ceil_div(k, KC<T>), kb = ceil_div(k, parts);
  const std::int64_t a_size = kb * round_up(std::min(m, MC), MR), b_size = kb * round_up(std::min(n, NC), NR);
  T* const As = static_cast<T*>(of_this_thread<Workspace>().of(std::size_t(a_size + b_size) * sizeof(T)));
  T* const Bs = As + a_size;
  for (std::int64_t j = 0; j < n; j += NC)
    for (std::int64_t l = 0; l < k; l += kb) {
      const std::int64_t nj = std::min(NC, n - j), kl = std::min(kb, k - l);
      pack<NR>(transposed(B.block(l, j, kl, nj)), Bs);
      for (std::int64_t i = 0; i < m; i += MC) {
        const std::int64_t mi = std::min(MC, m - i);
        pack<MR>(A.block(i, l, mi, kl), As);
        multiply_panels<MR, NR, micro_kernel>(kl, alpha, As, Bs, l == 0 ? beta : T(1), C.block(i, j, mi, nj));
      }
    }
}

/// For the widest vectors that this processor has.
template <class T>
static void packed(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  constexpr int lanes = 16 / sizeof(T);
#ifdef __x86_64__
  static const bool avx512 = __builtin_cpu_supports("avx512f");
  static const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) return packed_as<T, 3 * 4 * lanes, 8, with_avx512<T, 3, 8>>(alpha, A, B, beta, C);
  if (avx2) return packed_as<T, 2 * 2 * lanes, 6, with_avx2<T, 2, 6>>(alpha, A, B, beta, C);
#endif
  packed_as<T, 2 * lanes, 4, with_128_bits<T, 2, 4>>(alpha, A, B, beta, C);
}

extern const GemmBackend<Cpu> gemm_cpu_packed;
const GemmBackend<Cpu> gemm_cpu_packed{
    .name = "packed",
    .summary = "packed panels, and a block of C in vector registers",
    .f64 = on_all_cores<double, packed<double>>,
    .f32 = on_all_cores<float, packed<float>>,
};

}  // namespace lasolve
