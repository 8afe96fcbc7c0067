// What a kernel of somebody's own was called with, while it is tried: its adapter may call it with other operands than those that a
// product has, and in parts.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/process.hpp"

namespace lasolve {

/// One call. A, B and C are those of the kernel, which a row-major one gets in the other order.
struct KernelCall {
  int of = 0;  ///< so many calls the product took; 0: none is known
  bool a_transposed = false, b_transposed = false;
  std::int64_t m = 0, n = 0, k = 0, lda = 0, ldb = 0, ldc = 0;
  double alpha = 0, beta = 0;
  bool is_scaled = true;   ///< by alpha and beta; else the kernel does not look at them, as its record says
  bool c_was_nan = false;  ///< C was no number: the kernel is not to read it
  bool alone = false;      ///< no other is made beside it, as its record wants
  int alignment[3] = {};   ///< the power of two, up to 256, that divides the addresses of A, B and C
};

/// The largest power of two, up to 256, that divides an address.
inline int alignment_of(const void* address) {
  return 1 << std::countr_zero(reinterpret_cast<std::uintptr_t>(address) | 256);
}

/// The part of the caller's C that a call is for.
struct PartOfC {
  const char* first = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;
  std::size_t element = 0;  ///< bytes

  bool has(const void* address) const {
    const std::ptrdiff_t bytes = static_cast<const char*>(address) - first;
    if (bytes < 0) return false;
    const std::int64_t at = bytes / std::ptrdiff_t(element);
    return at % ld < rows && at / ld < cols;
  }
};

/// The calls of a product. Kept only in a process that asks for them: to keep one takes longer than some products.
class KernelCalls {
 public:
  static KernelCalls& here() {
    constinit static NeverDestroyed<KernelCalls> all;
    return all.get([] { return KernelCalls(); });
  }
  void keep() { kept_ = true; }
  bool are_kept() const { return kept_.load(std::memory_order_relaxed); }

  /// A product begins.
  void forget() {
    if (!are_kept()) return;
    const std::lock_guard lock(mutex_);
    calls_.clear(), count_ = 0;
  }
  /// A call begins on this thread.
  void add(const KernelCall& call, const PartOfC& part) {
    of_this_thread() = call, of_this_thread().of = 1;
    const std::lock_guard lock(mutex_);
    ++count_;
    if (calls_.size() < most) calls_.push_back({call, part});
  }
  /// The last one for this element of C; where there is none, the last of all.
  KernelCall at(const void* element) const {
    const std::lock_guard lock(mutex_);
    if (calls_.empty()) return {};
    std::size_t found = calls_.size() - 1;
    for (std::size_t c = calls_.size(); c-- > 0;)
      if (calls_[c].part.has(element)) {
        found = c;
        break;
      }
    KernelCall call = calls_[found].call;
    call.of = count_;
    return call;
  }
  /// The last call that began on this thread, which the handler of a signal may ask for.
  static KernelCall& of_this_thread() {
    static thread_local KernelCall last;
    return last;
  }

 private:
  struct Kept {
    KernelCall call;
    PartOfC part;
  };
  static constexpr std::size_t most = 1 << 16;

  std::atomic<bool> kept_ = false;
  mutable std::mutex mutex_;
  std::vector<Kept> calls_;
  int count_ = 0;
};

}  // namespace lasolve
