// Another kernel beside those of a test, which does not end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "core/cuda/check.hpp"
#include "lasolve/queue.hpp"

namespace lasolve::test {

/// Memory of the host that the device reads and writes, too.
struct Signs {
  volatile int begun[1024], let_go, gave_up;
};

/// A block has a multiprocessor until the host lets go, for five seconds at most.
static __global__ void hold_multiprocessor(Signs* signs) {
  const auto now = [] {
    std::uint64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  const std::uint64_t began = now();
  signs->begun[blockIdx.x] = 1;
  while (!signs->let_go && !signs->gave_up)
    if (now() > began + 5'000'000'000) signs->gave_up = 1;
}

/// Another kernel, which does not end, on so many multiprocessors of the device, whatever it pretends to have.
class Holder {
 public:
  explicit Holder(int multiprocessors) {
    int shared = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    CUDA_CHECK(cudaHostAlloc(reinterpret_cast<void**>(&signs_), sizeof(Signs), cudaHostAllocMapped));
    std::fill_n(reinterpret_cast<char*>(signs_), sizeof(Signs), char(0));
    CUDA_CHECK(cudaFuncSetAttribute(hold_multiprocessor, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    const int blocks = std::min(multiprocessors, 1024);
    hold_multiprocessor<<<unsigned(blocks), 32, std::size_t(shared), q_.stream()>>>(signs_);
    CUDA_CHECK(cudaGetLastError());
    for (int i = 0; i < blocks; ++i)
      while (!signs_->begun[i] && !signs_->gave_up) std::this_thread::yield();
  }
  ~Holder() {
    signs_->let_go = 1;
    cudaStreamSynchronize(q_.stream());
    cudaFreeHost(signs_);
  }
  static int all_but(int left) {
    int multiprocessors = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    return multiprocessors - left;
  }
  bool holds() const { return !signs_->gave_up; }

 private:
  Queue<Cuda> q_{0};
  Signs* signs_ = nullptr;
};

}  // namespace lasolve::test
