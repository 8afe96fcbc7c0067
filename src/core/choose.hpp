// Which backend, and so which device, a request means.
#pragma once

#include <functional>
#include <vector>

#include "core/cuda_devices.hpp"

namespace lasolve {

/// A device or a backend that is not here; what() says why.
struct NotHere : MachineError {
  NotHere(const std::string& what, const Device& instead, const char* gemm_instead)
      : MachineError(what), instead(instead), gemm_instead(gemm_instead) {}
  Device instead;  ///< what would run here
  const char* gemm_instead;
};

/// Throws std::invalid_argument for an index of a device that has none.
void require_device(const Device&);

using ChosenBackend = std::variant<const GemmBackend<Cpu>*, const GemmBackend<Cuda>*>;

struct Choice {
  ChosenBackend backend;
  int cuda_device = 0;
  std::vector<std::string> notes;
  std::string name() const;         ///< of the backend
  Device device() const;            ///< where it runs
  std::string device_name() const;  ///< "cpu" or "cuda:0"
  bool offers(Precision) const;
};

/// The CUDA devices that a choice is made among, and why one of them cannot be used. Neither is asked before it has to be, since
/// the one starts CUDA and the other makes a context.
struct CudaHere {
  std::function<const CudaDevices&()> devices = cuda_devices;
  std::function<std::string(int)> why_not = why_unusable;
};

/// Where a backend and a device are chosen.
///
/// - An own record runs on its device.
/// - auto: the fastest on the device, as measured, that can run there and offers the precision. A note says why a faster one cannot run.
/// - A name runs on the device that was asked for. With device automatic, on the first CUDA device that can be used if CUDA
///   has the name, else on the CPU. A note says so when this build has the name for CUDA, or has not and there are devices; of
///   auto, when there are devices that cannot be used.
/// Throws UnknownName for a name that no device has, and NotHere for a device or a backend that is not here.
Choice choose(const Options&, const CudaHere& = {});
/// Where a backend is left open and an accuracy asked for: the one that is fastest where its factors in fp32 are refined. Null: none that
/// can run there.
template <class Space>
const GemmBackend<Space>* coarse_backend(const Options&, int device);

/// What automatic means: the first CUDA device that can be used, else the CPU.
Device automatic_device(const CudaHere& = {});

/// The names that `--gemm all` means on a device: all backends that run there and offer the precision (automatic: any).
std::vector<std::string> runnable_backends(Device, Precision = Precision::automatic);

/// Whether a backend offers products in a precision; automatic: any.
template <class Space>
bool offers(const GemmBackend<Space>& backend, Precision precision) {
  bool offered = precision == Precision::automatic;
  for_precision(precision, [&](auto P) { offered = bool(backend.template in<P>()); });
  return offered;
}
/// What is said of a backend that does not offer products in a precision: which ones do, on that device.
std::string does_not_offer(const std::string& backend, Device, Precision);

/// "did you mean …" or an empty string.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

}  // namespace lasolve
