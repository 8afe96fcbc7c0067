#include "core/device_properties.hpp"

#include <cstdlib>
#include <map>
#include <mutex>

#include "core/cuda/check.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

/// Asked about, never run: which of the build's code a device loads is seen from how many threads it may have.
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LASOLVE_MOST_THREADS 64
#else
#define LASOLVE_MOST_THREADS 32
#endif
__global__ void __launch_bounds__(LASOLVE_MOST_THREADS) code_that_is_loaded() {}

/// Zero where the device is not there, or cannot be used.
DeviceProperties ask(int device) {
  bool answered = true;
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    answered = answered && succeeded(cudaDeviceGetAttribute(&value, which, device));
    return value;
  };
  DeviceProperties p;
  p.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  p.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  p.shared_memory = std::size_t(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  p.shared_memory_of_multiprocessor = std::size_t(attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor));
  p.kept_shared_memory = std::size_t(attribute(cudaDevAttrReservedSharedMemoryPerBlock));
  p.cooperative = attribute(cudaDevAttrCooperativeLaunch) != 0;
  p.fp32_per_fp64 = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
  const bool clusters = attribute(cudaDevAttrClusterLaunch) != 0;
  if (!answered) return {};
  const CurrentDevice current(device);
  cudaFuncAttributes loaded{};
  const cudaError_t e = cudaFuncGetAttributes(&loaded, code_that_is_loaded);
  const bool has_code = succeeded(e);
  if (e == cudaErrorNoKernelImageForDevice || e == cudaErrorInvalidDeviceFunction) return p;
  if (!has_code) return {};
  p.code = loaded.ptxVersion;
  p.runs_code_for_90a = p.capability == 90 && loaded.maxThreadsPerBlock == 64;
  if (clusters) p.largest_cluster = largest_cluster_of(p.capability, p.code);
  return p;
}

/// "a100": each device does. ",a100": device 1 alone, so that cards are unlike.
std::string what_to_pretend([[maybe_unused]] int device) {
#ifdef LASOLVE_TEST_HOOKS
  if (const char* given = std::getenv("LASOLVE_PRETEND")) {
    std::string names = given;
    if (names.find(',') == names.npos) return names;
    for (; device > 0; --device) names.erase(0, names.find(',') == names.npos ? names.npos : names.find(',') + 1);
    return names.substr(0, names.find(','));
  }
#endif
  return "";
}

}  // namespace

const DeviceProperties& device_properties(int device) {
  static std::mutex guard;
  constinit static NeverDestroyed<std::map<int, DeviceProperties>> kept;
  static constexpr DeviceProperties none;
  const std::lock_guard lock(guard);
  auto& known = kept.get();
  if (const auto found = known.find(device); found != known.end()) return found->second;
  DeviceProperties real;
  try {
    real = ask(device);
  } catch (const MachineError&) {  // who uses the device will hear of it
  }
  return real.capability == 0 ? none : known.emplace(device, pretend(real, what_to_pretend(device))).first->second;
}

}  // namespace lasolve
