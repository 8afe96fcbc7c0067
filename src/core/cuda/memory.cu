#include "core/cuda/check.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve {

template <>
std::size_t Memory<Cuda>::available() {
  std::size_t free = 0, total = 0;
  CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

template <>
void* Memory<Cuda>::allocate(std::size_t bytes) {
  void* memory = nullptr;
  const cudaError_t e = cudaMalloc(&memory, bytes);
  if (e == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // not sticky
    throw OutOfMemory("device", bytes, available());
  }
  CUDA_CHECK(e);
  return memory;
}

template <>
void Memory<Cuda>::release(void* memory) noexcept {
  cudaFree(memory);
}

const CudaDevices& cuda_devices() {
  static const CudaDevices found = [] {
    CudaDevices devices;
    int count = 0;
    const cudaError_t e = cudaGetDeviceCount(&count);
    if (e != cudaSuccess) {
      cudaGetLastError();
      devices.why_none = std::string("this machine has no usable CUDA device (") + cudaGetErrorString(e) + ")";
      return devices;
    }
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties{};
      CUDA_CHECK(cudaGetDeviceProperties(&properties, i));
      devices.names.push_back(properties.name);
    }
    if (count == 0) devices.why_none = "this machine has no CUDA device";
    return devices;
  }();
  return found;
}

}  // namespace lasolve
