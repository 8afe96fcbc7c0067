#include "core/page_locked.hpp"

#include "core/cuda/check.hpp"

namespace lasolve {

bool lock_pages(void* memory, std::size_t bytes, int device) {
  constexpr std::size_t page = 4096;
  // The kernel gives large pages to who touches them first, and CUDA small ones.
  for (std::size_t i = 0; i < bytes; i += page) static_cast<volatile char*>(memory)[i] = 0;
  const CurrentDevice current(device);
  return succeeded(cudaHostRegister(memory, bytes, cudaHostRegisterPortable));
}

void unlock_pages(void* memory, int device) noexcept {
  const CurrentDevice current(device, std::nothrow);
  succeeded(cudaHostUnregister(memory));
}

int device_of_thread() {
  int device = 0;
  CUDA_CHECK(cudaGetDevice(&device));
  return device;
}

}  // namespace lasolve
