// Which CUDA devices this machine has, and whether this build has code for them. The decisions are about values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// The least compute capability, as 10·major + minor, that kernels can be compiled for.
inline constexpr int least_capability = 80;

/// What a build has code for, as CMake names it: 80-real is machine code, 80-virtual is PTX, 80 is both, 90a runs on 9.0 alone,
/// 100f on 10.x.
struct Architecture {
  int capability = 0;   // 10·major + minor
  char variant = '\0';  // a, f, or none
  bool machine_code = false, ptx = false;

  bool operator==(const Architecture&) const = default;
};
/// Of a list of names, separated by ; or spaces. What is no such name is left out.
std::vector<Architecture> architectures_of(const std::string& names);
/// Those of this build; empty: no CUDA, or unknown.
const std::vector<Architecture>& built_for();
/// Such as "8.0, 9.0a and PTX of 9.0".
std::string in_words(const std::vector<Architecture>&);

enum class DeviceCode { none, ptx, machine };
/// Which code a device of a compute capability would run; PTX where the driver can compile it.
DeviceCode code_for(int capability, const std::vector<Architecture>&, bool driver_compiles = true);

/// Versions of CUDA are 1000·major + 10·minor; 0: no driver.
struct CudaVersions {
  int driver = 0, toolkit = 0;
  /// PTX of a newer toolkit is not known to an older driver.
  bool driver_compiles() const { return driver >= toolkit; }
};

/// Why a build has no code for a device; empty: it has. An empty list of architectures is not known, and no reason.
std::string why_no_code(int capability, const std::vector<Architecture>&, CudaVersions);

/// What CUDA said when it was asked for devices and gave none.
struct NoDevices {
  enum Kind { none, too_old, failed } kind = none;
  std::string error = {};  ///< its text
  CudaVersions versions = {};
  std::optional<std::string> visible = {};  ///< CUDA_VISIBLE_DEVICES
};
std::string explain(const NoDevices&);

/// Why device `index`, which there is, cannot be used; empty: it can. Asks the device itself where the list of architectures
/// leaves a hope, which makes a context on it.
std::string why_unusable(int index);

/// "0000:1b:00.0", by which the management of a machine calls a device; empty: there is none.
std::string pci_bus_id(int index);

}  // namespace lasolve
