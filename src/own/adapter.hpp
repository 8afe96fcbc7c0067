// Brings what a kernel of somebody's own leaves out of the GEMM contract: lasolve/kernel.h says what it may leave out.
#pragma once

#include <atomic>
#include <string>

#include "lasolve/gemm.hpp"
#include "lasolve/kernel.h"

namespace lasolve::own {

/// What was done around the calls of a kernel.
enum Work : unsigned { transposing = 1, scaling = 2, padding = 4, packing = 8 };

/// What it cost, in seconds of all threads together. Of a product with padding the adapter's part is that of the zeros.
struct Cost {
  double kernel_seconds = 0, adapter_seconds = 0;
  unsigned work = 0;
  /// "3 % of the time in its products is the adapter's: transposes, padding"; empty where nothing was done.
  std::string in_words() const;
};

/// C ← α·op(A)·op(B) + β·C by a kernel that does a part of that.
///
/// A row-major kernel gets Cᵀ ← α·op(B)ᵀ·op(A)ᵀ + β·Cᵀ in place, since row-major memory holds the transpose. What it wants otherwise
/// is copied, in blocks: an operand that is transposed, has gaps, or ends at no multiple (then zeros follow), or one that takes α for
/// the kernel; and C, where that is so or αAB is to be added to it. A copy lies between guards that have to stay as they are.
/// A kernel that computes on one core gets a tile of C from each.
class Adapter {
 public:
  explicit Adapter(const lasolve_kernel&);

  /// Throws std::runtime_error where the kernel wrote into a guard.
  template <class T>
  void multiply(Queue<Cpu>&, T alpha, Operand<T> A, Operand<T> B, T beta, MatrixView<T> C);
  /// Makes the queue's scratch memory large enough for a product.
  template <class T>
  void prepare(Queue<Cpu>&, std::int64_t m, std::int64_t n, std::int64_t k) const;
  /// Since it was last asked.
  Cost take_cost();

  const lasolve_kernel& kernel() const { return kernel_; }

 private:
  bool has(lasolve_kernel_limit limit) const { return (kernel_.limits & limit) != 0; }
  bool copies() const;
  template <class T>
  class Tile;
  struct Tiles;
  Tiles tiles_of(const Queue<Cpu>&, std::int64_t m, std::int64_t n, std::int64_t k) const;

  lasolve_kernel kernel_;  // multiples are those of column-major m, n and k
  std::atomic<std::int64_t> kernel_ns_ = 0, adapter_ns_ = 0;
  std::atomic<unsigned> work_ = 0;
};

}  // namespace lasolve::own
