// What the adapter of a plugin kernel asks of a device. On the CPU it is done at once, on the core that asks; on CUDA it is enqueued.
//
//     copy_scaled(q, s, X, to)      to ← s·X, with zeros in the rows and columns that X does not have
//     add_scaled(q, α, X, β, C)     C ← α·X + β·C for an X that may have more rows and columns; β = 0 does not read C
//     scale(q, β, C)                C ← β·C; β = 0 does not read C
//     fill(q, s, X)                 each element of X ← s
//     write_guards(q, guards)       all ones, which is NaN, before and behind a copy
//     each_part(q, tiling, f)          f(part) for each part of a product
//     Ledger                        of a kernel, over all of its products: whether guards were found as they were written; its cost
//     Account                       of one part of a product: which of its time is the kernel's
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

#include "lasolve/gemm.hpp"
#include "plugin/blocking.hpp"

namespace lasolve::plugin {

/// Bytes of a guard.
inline constexpr std::size_t guard_bytes = 256;
/// Those of a copy; null: there is none.
struct Guards {
  char *before = nullptr, *behind = nullptr;
};
inline constexpr const char* what_guards_say = "wrote beside a matrix that it was given";

/// Of the calls of a kernel, and of what was done around them. Of all threads together; on CUDA of all queues.
struct Seconds {
  double kernel = 0, adapter = 0;
};
/// How the calls of a kernel are to be made.
struct Manner {
  bool measured = true;  ///< CUDA: their time is wanted; on the CPU it costs nothing
  bool alone = false;    ///< CUDA: one begins when the one before has ended, whatever queues they are in
};

template <class Space>
class Ledger;
template <class Space>
class Account;

// The CPU.

template <class T>
void copy_scaled(Queue<Cpu>&, T s, Operand<T> X, MatrixView<T> to);
template <class T>
void add_scaled(Queue<Cpu>&, T alpha, MatrixView<T> X, T beta, MatrixView<T> C);
template <class T>
void scale(Queue<Cpu>&, T beta, MatrixView<T> C) {
  lasolve::scale(beta, C);
}
template <class T>
void fill(Queue<Cpu>&, T s, MatrixView<T> X) {
  for (std::int64_t j = 0; j < X.cols(); ++j) std::fill_n(X.data() + j * X.ld(), X.rows(), s);
}
void write_guards(Queue<Cpu>&, Guards);

template <class F>
void each_part(Queue<Cpu>&, const Tiling& tiling, F f) {
  on_cores(tiling.parts, tiling.work, f);
}

template <>
class Ledger<Cpu> {
 public:
  void prepare(Queue<Cpu>&) {}
  /// Throws KernelFault where one is not as it was written: at once.
  void look_at(Queue<Cpu>&, const Guards (&)[3]) const;
  void require_intact() {}
  Seconds take() { return {1e-9 * double(kernel_ns_.exchange(0)), 1e-9 * double(adapter_ns_.exchange(0))}; }

 private:
  friend class Account<Cpu>;
  std::atomic<std::int64_t> kernel_ns_ = 0, adapter_ns_ = 0;
};

template <>
class Account<Cpu> {
 public:
  Account(Queue<Cpu>&, Ledger<Cpu>& ledger, Manner) : ledger_(ledger) {}
  ~Account() {
    ledger_.kernel_ns_ += kernel_ns_;
    ledger_.adapter_ns_ += adapter_ns_ + lap();
  }
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;

  /// What a kernel's functions get as data.
  void* data(const lasolve_kernel& kernel) const { return kernel.data; }
  /// The kernel is called next.
  void begin() { adapter_ns_ += lap(); }
  /// It has been called. So much of what it did was of use; the rest was with zeros.
  void end(double useful) {
    const std::int64_t took = lap(), its = std::int64_t(useful * double(took));
    kernel_ns_ += its, adapter_ns_ += took - its;
  }

 private:
  using Clock = std::chrono::steady_clock;
  /// Nanoseconds since it was last called.
  std::int64_t lap() {
    const auto before = std::exchange(since_, Clock::now());
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since_ - before).count();
  }

  Ledger<Cpu>& ledger_;
  Clock::time_point since_ = Clock::now();
  std::int64_t kernel_ns_ = 0, adapter_ns_ = 0;
};

// CUDA. Nothing here waits for the device.

template <class T>
void copy_scaled(Queue<Cuda>&, T s, Operand<T, Cuda> X, MatrixView<T, Cuda> to);
template <class T>
void add_scaled(Queue<Cuda>&, T alpha, MatrixView<T, Cuda> X, T beta, MatrixView<T, Cuda> C);
template <class T>
void scale(Queue<Cuda>&, T beta, MatrixView<T, Cuda> C);
template <class T>
void fill(Queue<Cuda>&, T s, MatrixView<T, Cuda> X);
void write_guards(Queue<Cuda>&, Guards);

template <class F>
void each_part(Queue<Cuda>&, const Tiling&, F f) {
  f(std::int64_t(0));
}

/// Of one device at a time: another starts anew.
template <>
class Ledger<Cuda> {
 public:
  Ledger();
  ~Ledger();
  /// Makes what products need, before they are timed.
  void prepare(Queue<Cuda>&);
  /// Enqueues a look: what it finds is known when the work of the queue is done.
  void look_at(Queue<Cuda>&, const Guards (&)[3]);
  /// Throws KernelFault where a look has found a guard changed since this was last asked.
  void require_intact();
  /// By events, of the products whose work is done; of the first 16384 since it was last asked.
  Seconds take();

 private:
  friend class Account<Cuda>;
  struct State;
  std::unique_ptr<State> state_;
};

/// One thread at a time.
template <>
class Account<Cuda> {
 public:
  Account(Queue<Cuda>&, Ledger<Cuda>&, Manner);
  ~Account();
  Account(const Account&) = delete;
  Account& operator=(const Account&) = delete;
  /// The stream of the queue.
  void* data(const lasolve_kernel&) const;
  void begin();
  void end(double useful);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lasolve::plugin
