#include "core/cuda_devices.hpp"

#include <cstdlib>

#include "core/cuda/check.hpp"
#include "core/device_properties.hpp"
#include "core/process.hpp"

namespace lasolve {

namespace {

CudaVersions versions() {
  CudaVersions v{.toolkit = CUDART_VERSION};
  succeeded(cudaDriverGetVersion(&v.driver));
  return v;
}

NoDevices no_devices(cudaError_t e) {
  const bool none = e == cudaSuccess || e == cudaErrorNoDevice;
  NoDevices no;
  no.kind = none ? NoDevices::none : e == cudaErrorInsufficientDriver ? NoDevices::too_old : NoDevices::failed;
  no.error = cudaGetErrorString(e);
  no.versions = versions();
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) no.visible = visible;
  return no;
}

}  // namespace

inline namespace LASOLVE_ABI {

const CudaDevices& cuda_devices() {
  constinit static NeverDestroyed<const CudaDevices> found;
  return found.get([] {
    CudaDevices devices;
    int count = 0;
    const cudaError_t e = cudaGetDeviceCount(&count);
    if (!succeeded(e) || count == 0) {
      const NoDevices no = no_devices(e);
      devices.why_none = explain(no);
      devices.driver_fails = no.versions.driver > 0 && no.kind != NoDevices::none;
      return devices;
    }
    for (int i = 0; i < count; ++i) {
      cudaDeviceProp properties{};
      CUDA_CHECK(cudaGetDeviceProperties(&properties, i));
      devices.names.push_back(properties.name);
      devices.capabilities.push_back(10 * properties.major + properties.minor);
    }
    return devices;
  });
}

}  // namespace LASOLVE_ABI

std::string why_unusable(int index) {
  const int capability = cuda_devices().capabilities.at(std::size_t(index));
  if (const std::string why = why_no_code(capability, built_for(), versions()); !why.empty()) return why;
  const DeviceProperties& has = device_properties(index);
  if (has.code > 0) return "";
  if (has.capability > 0) return "loads no code of this build, which has some for " + in_words(built_for());
  try {
    const CurrentDevice current(index);
  } catch (const MachineError& e) {
    return std::string("cannot be used now: ") + e.what();
  }
  return "cannot be used now";
}

std::string pci_bus_id(int index) {
  char id[32] = "";
  return succeeded(cudaDeviceGetPCIBusId(id, sizeof id, index)) ? id : "";
}

}  // namespace lasolve
