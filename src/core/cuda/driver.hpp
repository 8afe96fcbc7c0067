// The functions of the CUDA driver that the runtime has no word for. They are asked for at run time: nothing links with the
// driver, so that a program starts on a machine that has none.
#pragma once

#include <cuda.h>

namespace lasolve {

struct Driver {
  decltype(&cuInit) init = nullptr;
  decltype(&cuGetErrorString) error_string = nullptr;
  decltype(&cuDeviceGet) device = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) state_of_primary = nullptr;
  decltype(&cuCtxPushCurrent) push = nullptr;
  decltype(&cuCtxPopCurrent) pop = nullptr;
  decltype(&cuPointerGetAttributes) attributes_of = nullptr;
};

/// The driver if this process has loaded it; else null, and nothing is loaded.
const Driver* loaded_driver() noexcept;
/// Loads and starts it. Throws MachineError where there is none.
const Driver& driver();

}  // namespace lasolve
