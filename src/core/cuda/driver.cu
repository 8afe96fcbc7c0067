#include "core/cuda/driver.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "core/cuda/check.hpp"

namespace lasolve {

namespace {

template <class F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

std::atomic<const Driver*> known = nullptr;

/// Null where the library is not there, or lacks one of them.
const Driver* open(int mode) noexcept {
  void* const library = dlopen("libcuda.so.1", mode);
  if (!library) return nullptr;
  static Driver d;
  // The names behind cuda.h's macros.
  static const bool complete =
      find(library, "cuInit", d.init) && find(library, "cuGetErrorString", d.error_string) &&
      find(library, "cuDeviceGet", d.device) && find(library, "cuDevicePrimaryCtxRetain", d.retain_primary) &&
      find(library, "cuDevicePrimaryCtxGetState", d.state_of_primary) && find(library, "cuCtxPushCurrent_v2", d.push) &&
      find(library, "cuCtxPopCurrent_v2", d.pop) && find(library, "cuPointerGetAttributes", d.attributes_of);
  static const bool asked [[maybe_unused]] =
      find(library, "cuDeviceGetDevResource", d.resource_of) && find(library, "cuDevSmResourceSplitByCount", d.split) &&
      find(library, "cuDevResourceGenerateDesc", d.describe) && find(library, "cuGreenCtxCreate", d.make_green) &&
      find(library, "cuGreenCtxDestroy", d.destroy_green) &&
      find(library, "cuGreenCtxStreamCreate", d.make_green_stream);
  if (complete) known = &d;
  return complete ? &d : nullptr;
}

/// How many libraries this process has loaded until now.
unsigned long long libraries_loaded() noexcept {
  unsigned long long count = 0;
  const auto first = [](dl_phdr_info* info, std::size_t, void* to) {
    *static_cast<unsigned long long*>(to) = info->dlpi_adds;
    return 1;
  };
  dl_iterate_phdr(first, &count);
  return count;
}

}  // namespace

// To look for a library that is not loaded searches folders: once, until others have been loaded.
const Driver* loaded_driver() noexcept {
  if (const Driver* found = known) return found;
  static std::atomic<unsigned long long> in_vain = 0;
  const unsigned long long now = libraries_loaded();
  if (in_vain == now) return nullptr;
  const Driver* found = open(RTLD_LAZY | RTLD_NOLOAD);
  if (!found) in_vain = now;
  return found;
}

const Driver& driver() {
  static std::atomic<bool> started = false;
  if (started) return *known.load();
  const Driver* found = open(RTLD_LAZY);
  if (!found) throw MachineError("CUDA: this machine has no CUDA driver");
  check(found->init(0), "cuInit", __FILE__, __LINE__);
  started = true;
  return *found;
}

}  // namespace lasolve
