#include "core/traffic.hpp"

#include "core/cuda/check.hpp"

namespace lasolve {

void fill_zero(Queue<Cuda>& q, void* to, std::size_t bytes) { CUDA_CHECK(cudaMemsetAsync(to, 0, bytes, q.stream())); }

void copy_within(Queue<Cuda>& q, void* to, const void* from, std::size_t bytes) {
  CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, q.stream()));
}

}  // namespace lasolve
