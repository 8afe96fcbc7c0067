#include "core/current_device.hpp"

#include <map>
#include <mutex>

#include "core/cuda/check.hpp"
#include "core/cuda/driver.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

/// The context that CUDA's runtime uses on a device, too. Kept until the process ends, as the runtime keeps it.
CUcontext primary_context(const Driver& d, int device) {
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<int, CUcontext>> contexts;
  CUdevice handle = 0;
  CUDA_CHECK(d.device(&handle, device));
  const std::lock_guard lock(guard);
  CUcontext& context = contexts.get()[device];
  unsigned flags = 0;
  int active = 0;  // no more after a cudaDeviceReset
  if (context) CUDA_CHECK(d.state_of_primary(handle, &flags, &active));
  if (!active) CUDA_CHECK(d.retain_primary(&context, handle));
  return context;
}

}  // namespace

// cudaSetDevice would make a context on the caller's device when that comes back, where the caller has none yet.
CurrentDevice::CurrentDevice(int device) {
  const Driver& d = driver();
  CUDA_CHECK(d.push(primary_context(d, device)));
  pushed_ = true;
}

CurrentDevice::CurrentDevice(int device, std::nothrow_t) noexcept {
  try {
    const Driver& d = driver();
    pushed_ = d.push(primary_context(d, device)) == CUDA_SUCCESS;
  } catch (...) {
  }
}

CurrentDevice::~CurrentDevice() {
  CUcontext ours;
  if (pushed_) loaded_driver()->pop(&ours);
}

}  // namespace lasolve
