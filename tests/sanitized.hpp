#pragma once

extern "C" __attribute__((weak)) void __asan_init();  // NOLINT(bugprone-reserved-identifier)

/// Whether the library is looked at by AddressSanitizer. A test program never is: it has the same objects in each build.
inline bool sanitized() { return &__asan_init != nullptr; }
