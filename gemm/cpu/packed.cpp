// packed: panels copied in the order in which a block of C held in registers reads them.
// Idea     A block of C stays in vector registers while op(A) and op(B) stream past it: each step loads one column of A's
//          panel and broadcasts one row of B's. Both are copied first, so that they stream with unit stride, whatever op
//          and ld are: of B as much as L3 holds, of A as much as L2 holds, and a panel of B stays in L1.
// Tiles    registers: (MR, NR) = 24 × 8 (AVX-512), 8 × 6 (AVX2), 4 × 4 (else) in f64, twice the rows in f32;
//          As: MC × KC = 192 × 256 in f64, 192 × 512 in f32, 384 KiB; Bs: KC × NC, NC = 2048, 4 MiB.
// Traffic  2·24·8 flop per 24 + 8 loads from L2 and L1 (f64, AVX-512); C is read and written once per KC columns of A.
// Expect   nine tenths of the vector units' peak where k is large; bound by C from memory where k is below 128.
// Reached  97 % of the fastest in an LU in f64, n = 1000, one thread of an EPYC with AVX-512
// Source   Goto & van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 2008; Van Zee & van de Geijn,
//          "BLIS: A framework for rapidly instantiating BLAS functionality", TOMS 2015
//
// The kernel is in levels/packed.cpp, which is compiled for each set of instructions; here are its memory and its record.
#include <cstdlib>
#include <memory>
#include <new>

#include "core/by_type.hpp"
#include "core/cpu/level.hpp"
#include "core/of_this_thread.hpp"
#include "gemm/cpu/levels/packed.hpp"
#include "gemm/cpu/on_all_cores.hpp"

namespace lasolve {

LASOLVE_DECLARE_LEVELS(PackedProducts, packed_products)

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

/// For the widest vectors that this processor has.
template <class T>
static void packed(T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols();
  if (k == 0) return scale(beta, C);
  const PackedProducts& products = *LASOLVE_AT_LEVEL_HERE(packed_products);
  const PackedProduct<T> product = by_type<T>(products.f64, products.f32);
  const std::size_t bytes = std::size_t(product.room(m, n, k)) * sizeof(T);
  const auto strided = [](Operand<T> X) { return Strided<T>{X.data(), X.row_stride(), X.col_stride()}; };
  product.multiply(m, n, k, alpha, strided(A), strided(B), beta, C.data(), C.ld(),
                   static_cast<T*>(of_this_thread<Workspace>().of(bytes)));
}

extern const GemmBackend<Cpu> gemm_cpu_packed;
const GemmBackend<Cpu> gemm_cpu_packed{
    .name = "packed",
    .summary = "packed panels, and a block of C in vector registers",
    .kernels = {on_all_cores<packed<double>>, on_all_cores<packed<float>>},
};

}  // namespace lasolve
