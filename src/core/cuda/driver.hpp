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
  // Green contexts. Null in drivers older than CUDA 12.4's.
  decltype(&cuDeviceGetDevResource) resource_of = nullptr;
  decltype(&cuDevSmResourceSplitByCount) split = nullptr;
  decltype(&cuDevResourceGenerateDesc) describe = nullptr;
  decltype(&cuGreenCtxCreate) make_green = nullptr;
  decltype(&cuGreenCtxDestroy) destroy_green = nullptr;
  decltype(&cuGreenCtxStreamCreate) make_green_stream = nullptr;

  bool has_green_contexts() const {
    return resource_of && split && describe && make_green && destroy_green && make_green_stream;
  }
};

/// The driver if this process has loaded it; else null, and nothing is loaded.
const Driver* loaded_driver() noexcept;
/// Loads and starts it. Throws MachineError where there is none.
const Driver& driver();

}  // namespace lasolve
