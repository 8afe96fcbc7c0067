// Devices that compute, and those that this machine has.
#pragma once

#include "lasolve/cpp20.hpp"
#if __cplusplus >= 201709L
#include <string>
#include <vector>

namespace lasolve {
inline namespace LASOLVE_ABI {

struct Device {
  enum Kind : int { automatic, cpu, cuda } kind = automatic;
  int index = 0;  ///< of cuda
};

/// The CUDA devices of this machine: names and compute capabilities, or empty lists and why they are empty.
struct CudaDevices {
  std::vector<std::string> names = {};
  std::vector<int> capabilities = {};  ///< 10·major + minor
  std::string why_none = {};
  bool driver_fails = false;  ///< there may be devices, but the driver is too old or gives an error
};
const CudaDevices& cuda_devices();
/// Why CUDA device `index` cannot be used; empty: it can. A device of this machine is asked itself, for which CUDA makes a
/// context on it.
std::string why_no_cuda_device(int index);

}  // namespace LASOLVE_ABI
}  // namespace lasolve
#endif
