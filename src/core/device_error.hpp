// What CUDA says of a call, apart from where in lasolve the call stands.
#pragma once

#include <string>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// reason: CUDA's words alone, such as "misaligned address": what a kernel that the device ran has done.
struct DeviceError : MachineError {
  DeviceError(const std::string& why, const std::string& where)
      : MachineError("CUDA: " + why + " in " + where), reason(why) {}
  std::string reason;
};

}  // namespace lasolve
