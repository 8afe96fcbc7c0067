// Memory of the host that a device reads and writes by itself.
#pragma once

#include <cstddef>
#include <utility>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// Whether the pages of some memory are held where they are, for all CUDA devices. On CUDA alone.
bool lock_pages(void* memory, std::size_t bytes, int device);
void unlock_pages(void* memory, int device) noexcept;
int device_of_thread();

/// While this lives, copies between this memory and a device go on beside other work. Where its pages cannot be held they go through memory
/// that the library has for that.
template <class Space>
class PageLocked {
 public:
  PageLocked() = default;
  PageLocked(void* memory, std::size_t bytes, int device) : device_(device) {
    if (bytes > 0 && lock_pages(memory, bytes, device)) memory_ = memory;
  }
  ~PageLocked() {
    if (memory_) unlock_pages(memory_, device_);
  }
  PageLocked(PageLocked&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), device_(other.device_) {}
  PageLocked& operator=(PageLocked&& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(device_, other.device_);
    return *this;
  }
  static int device() { return device_of_thread(); }

 private:
  void* memory_ = nullptr;
  int device_ = 0;
};

/// The host has nothing to hold.
template <>
class PageLocked<Cpu> {
 public:
  PageLocked() = default;
  PageLocked(void*, std::size_t, int) {}
  static int device() { return 0; }
};

}  // namespace lasolve
