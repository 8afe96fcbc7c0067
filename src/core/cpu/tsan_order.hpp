// Tells ThreadSanitizer, where it is in the process, what atomic operations order: it does not see those of a library that was compiled
// without it.
#pragma once

// Of sanitizer/tsan_interface.h. Null without ThreadSanitizer.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace lasolve {

/// All that this thread has done until now comes before what a thread does that comes after it at the same address.
inline void comes_before(void* address) {
  if (&__tsan_release != nullptr) __tsan_release(address);
}
inline void comes_after(void* address) {
  if (&__tsan_acquire != nullptr) __tsan_acquire(address);
}

}  // namespace lasolve
