// What kernels of a queue tell the host. To wait until a stream is idle takes some 2 µs longer than to see a number change.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "core/cuda/check.hpp"
#include "core/fetched.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

/// Memory for a few numbers that kernels of a queue write: of the host, or of the device where they are many.
template <class T>
class Results {
 public:
  Results(Queue<Cuda>& q, std::int64_t count)
      : q_(&q), count_(std::size_t(count)), here_(q.results(count_ * sizeof(T))) {
    if (!here_) there_ = std::make_shared<Matrix<T, Cuda>>(count, 1);
  }
  T* data() const { return here_ ? static_cast<T*>(here_.get()) : there_->data(); }

  /// f(the numbers), when it is read.
  template <class F>
  auto fetched(F f) const {
    return Fetched<decltype(f(std::vector<T>()))>::later([results = *this, f] { return f(results.read()); });
  }
  /// All numbers.
  Fetched<std::vector<T>> fetched() const {
    return fetched([](std::vector<T> all) { return all; });
  }

  /// Of numbers that kernels write by tell_host(): to be called before these are launched.
  void expect() const {
    if (here_) std::for_each(begin(), begin() + count_, [](T& number) { number.written = 0; });
  }
  /// Then the same as fetched(), as soon as all are told. A kernel that tells them has done its work.
  std::vector<T> values() const {
    if (!here_) return read();
    const auto is_written = [](const T& number) { return __atomic_load_n(&number.written, __ATOMIC_ACQUIRE) != 0; };
    q_->wait_for_results([&] { return std::all_of(begin(), begin() + count_, is_written); });
    return {begin(), begin() + count_};
  }

 private:
  std::vector<T> read() const {
    std::vector<T> numbers(count_);
    if (there_)
      CUDA_CHECK(
          cudaMemcpyAsync(numbers.data(), there_->data(), count_ * sizeof(T), cudaMemcpyDeviceToHost, q_->stream()));
    q_->wait_for_results();
    if (here_) std::copy_n(static_cast<const T*>(here_.get()), count_, numbers.begin());
    return numbers;
  }

  T* begin() const { return static_cast<T*>(here_.get()); }

  Queue<Cuda>* q_;
  std::size_t count_;
  std::shared_ptr<void> here_;
  std::shared_ptr<Matrix<T, Cuda>> there_;
};

}  // namespace lasolve
