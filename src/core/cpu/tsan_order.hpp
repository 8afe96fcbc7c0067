// Tells ThreadSanitizer, where it is in the process, what atomic operations order: it does not see those of a library that was compiled
// without it. In a library that is compiled for it nothing is said: it looks for itself, and finds an order that is missing.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define LASOLVE_IS_FOR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LASOLVE_IS_FOR_TSAN 1
#endif
#endif
#ifndef LASOLVE_IS_FOR_TSAN
#define LASOLVE_IS_FOR_TSAN 0
#endif

// Of sanitizer/tsan_interface.h. Null without ThreadSanitizer.
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}

namespace lasolve {

/// All that this thread has done until now comes before what a thread does that comes after it at the same address.
inline void comes_before(void* address) {
  if (!LASOLVE_IS_FOR_TSAN && &__tsan_release != nullptr) __tsan_release(address);
}
inline void comes_after(void* address) {
  if (!LASOLVE_IS_FOR_TSAN && &__tsan_acquire != nullptr) __tsan_acquire(address);
}

}  // namespace lasolve
