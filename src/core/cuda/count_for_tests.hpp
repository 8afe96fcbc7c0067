// For tests: what is made anew on CUDA devices, how often the host waits for them, and memory that cannot be had. A build without
// LASOLVE_TEST_HOOKS has none of it.
#pragma once

#include <optional>

namespace lasolve {

/// To be called where memory, a stream, an event or a handle of a library is made or destroyed. Memory of our pool counts by what
/// the pool holds instead (held_by_pool).
void count_made() noexcept;
/// How often that was, in this process; none without the hooks.
std::optional<long> made_until_now() noexcept;

/// To be called where the host waits for work of a device.
void count_wait() noexcept;
std::optional<long> waits_until_now() noexcept;

/// Of the attempts to have device memory from now on, numbered from 1, `count` fail, the first of them number `first`.
void fail_allocations(long first, long count) noexcept;
/// To be called at each attempt: whether it fails.
bool fails_for_test() noexcept;

}  // namespace lasolve
