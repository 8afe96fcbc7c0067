// The multiprocessors of a device in two parts, each with streams of its own.
#pragma once

#include <cuda.h>

#include <memory>

#include "core/device_properties.hpp"

namespace lasolve {

/// Two green contexts of the driver beside the primary context, in which memory, modules and events stay. Blocks of a kernel in a stream of
/// one part run on its multiprocessors only.
class SharedOut {
 public:
  /// Throws MachineError where the driver cannot.
  SharedOut(int device, int multiprocessors);

  struct Part {
    Part() = default;
    ~Part();
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

    CUgreenCtx context = nullptr;
    int multiprocessors = 0;
  };
  /// What was asked for, of which the driver may have made a little more, or the others.
  const Part& part(bool others) const { return parts_[others]; }
  int asked_for() const { return asked_for_; }
  CUstream_st* make_stream(bool others, int priority) const;

 private:
  const int asked_for_;
  Part parts_[2];
};

/// As long as somebody has it, all who ask get the same. Null where the device does not do it: it has no clusters of 16 blocks, for which
/// each part is to have room, or pretends to have less than it has; or the driver is older than CUDA 12.4's.
std::shared_ptr<const SharedOut> shared_out(const DeviceProperties&, int device, int multiprocessors) noexcept;

}  // namespace lasolve
