#include "core/traffic.hpp"

#include "core/cuda/launch.cuh"

namespace lasolve {

__global__ static void wait_for(unsigned long long nanoseconds) {
  const auto now = [] {
    unsigned long long time;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
    return time;
  };
  for (const auto began = now(); now() - began < nanoseconds;) {
  }
}

void delay(Queue<Cuda>& q, double seconds) {
  launch(q, wait_for, dim3(1), dim3(1), (unsigned long long)(1e9 * seconds));
}

void fill_zero(Queue<Cuda>& q, void* to, std::size_t bytes) { CUDA_CHECK(cudaMemsetAsync(to, 0, bytes, q.stream())); }

void copy_within(Queue<Cuda>& q, void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q.stream()));
}

void copy_plainly(Queue<Cuda>& q, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                  std::size_t bytes, std::size_t columns) {
  CUDA_CHECK(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, columns, cudaMemcpyDefault, q.stream()));
}

}  // namespace lasolve
