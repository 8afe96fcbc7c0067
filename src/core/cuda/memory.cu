#include "core/cuda/check.hpp"
#include "core/whereabouts.hpp"

namespace lasolve {

namespace {

int current_device() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

}  // namespace

template <>
std::size_t Memory<Cuda>::available(std::size_t) {
  const CurrentDevice current(current_device());
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

template <>
void* Memory<Cuda>::allocate(std::size_t bytes) {
  const CurrentDevice current(current_device());
  void* memory = nullptr;
  const cudaError_t e = cudaMalloc(&memory, bytes);
  if (e == cudaErrorMemoryAllocation && !succeeded(e)) throw OutOfMemory("device", bytes, available());
  CUDA_CHECK(e);
  return memory;
}

// On the device of the memory: where a thread has no context, CUDA would make one on another.
template <>
void Memory<Cuda>::release(void* memory) noexcept {
  const CurrentDevice current(whereabouts(memory).cuda_device, std::nothrow);
  succeeded(cudaFree(memory));
}

}  // namespace lasolve
