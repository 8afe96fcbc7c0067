// On which device a thread works.
#pragma once

#include <new>

#include "lasolve/queue.hpp"

namespace lasolve {

/// Makes a CUDA device the current one of this thread. At the end of the scope the one before is so again, and the driver's
/// context before, which may be none: no context is made on a device that is not used.
class CurrentDevice {
 public:
  /// Throws MachineError where the device cannot be used.
  explicit CurrentDevice(int device);
  explicit CurrentDevice(const Queue<Cuda>& q) : CurrentDevice(q.device()) {}
  /// There is nothing to make current on the host.
  explicit CurrentDevice(const Queue<Cpu>&) {}
  /// For destructors: where the device cannot be used any more, nothing changes.
  CurrentDevice(int device, std::nothrow_t) noexcept;
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  bool pushed_ = false;
};

}  // namespace lasolve
