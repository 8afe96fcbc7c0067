// Brings what a kernel of somebody's own leaves out of the GEMM contract: lasolve/kernel.h says what it may leave out.
#pragma once

#include <optional>
#include <string>

#include "plugin/device.hpp"

namespace lasolve::plugin {

/// What was done around the calls of a kernel.
enum Work : unsigned { transposing = 1, scaling = 2, padding = 4, packing = 8, aligning = 16 };

/// What it cost, in seconds of all threads or queues together. Of a product with padding the adapter's part is that of the zeros.
struct Cost {
  double kernel_seconds = 0, adapter_seconds = 0;
  unsigned work = 0;
  /// The adapter's part; nothing where it was not timed.
  std::optional<double> share() const;
  std::string work_in_words() const;  ///< "transposes, padding"; empty where nothing was done
  /// "3 % of the time in its products is the adapter's: transposes, padding"; empty where nothing was done.
  std::string in_words() const;
};

/// Why the last call failed, as the plugin says (lasolve_plugin_error); null: it did not.
using WhyFailed = const char* (*)();

/// C ← α·op(A)·op(B) + β·C by a kernel that does a part of that.
///
/// A row-major kernel gets Cᵀ ← α·op(B)ᵀ·op(A)ᵀ + β·Cᵀ in place, since row-major memory holds the transpose. What it wants otherwise
/// is copied, in blocks: an operand that is transposed, has gaps, is not aligned, or ends at no multiple (then zeros follow), or one that
/// takes α for the kernel; and C, where that is so or αAB is to be added to it. A copy lies between guards that have to stay as they are.
/// A kernel that takes squares, or sizes up to some, is called for blocks of those.
/// On the CPU a kernel that computes on one core gets a part of C from each. On CUDA it is called once for all of C, or, where the
/// copies would be large, for blocks of it.
template <class Space>
class Adapter {
 public:
  template <class T>
  using In = Operand<T, Space>;
  template <class T>
  using Out = MatrixView<T, Space>;

  explicit Adapter(const lasolve_kernel&, WhyFailed = nullptr);

  /// Throws KernelFault where the kernel throws, says that it failed, or leaves floating-point numbers in another state; and on the CPU
  /// where it wrote into a guard.
  template <class T>
  void multiply(Queue<Space>&, T alpha, In<T> A, In<T> B, T beta, Out<T> C);
  /// Makes the queue's scratch memory large enough for a product.
  template <class T>
  void prepare(Queue<Space>&, std::int64_t m, std::int64_t n, std::int64_t k);
  /// For CUDA, when the work is done: throws KernelFault where the kernel wrote into a guard since this was last asked.
  void require_intact() { ledger_.require_intact(); }
  /// Since it was last asked.
  Cost take_cost();

  const lasolve_kernel& kernel() const { return kernel_; }

 private:
  bool has(lasolve_kernel_limit limit) const { return (kernel_.limits & limit) != 0; }
  Copies copies() const;
  Manner manner() const;
  template <class T>
  Tiling tiling(const Queue<Space>&, std::int64_t m, std::int64_t n, std::int64_t k) const;
  template <class T>
  class Part;

  lasolve_kernel kernel_;  // multiples and what is largest are those of column-major m, n and k
  WhyFailed why_failed_;
  Ledger<Space> ledger_;
  std::atomic<unsigned> work_ = 0;
};

}  // namespace lasolve::plugin
