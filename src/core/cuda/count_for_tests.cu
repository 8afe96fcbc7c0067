#include "core/cuda/count_for_tests.hpp"

#include <atomic>
#include <limits>

namespace lasolve {

#ifdef LASOLVE_TEST_HOOKS

static std::atomic<long> made = 0, waits = 0, attempts = 0, first_failing = std::numeric_limits<long>::max(),
                         failing = 0;

void count_made() noexcept { ++made; }
std::optional<long> made_until_now() noexcept { return made.load(); }
void count_wait() noexcept { ++waits; }
std::optional<long> waits_until_now() noexcept { return waits.load(); }
void fail_allocations(long first, long count) noexcept { attempts = 0, first_failing = first, failing = count; }
bool fails_for_test() noexcept {
  const long attempt = ++attempts;
  return attempt >= first_failing && attempt - first_failing < failing;
}

#else

void count_made() noexcept {}
std::optional<long> made_until_now() noexcept { return {}; }
void count_wait() noexcept {}
std::optional<long> waits_until_now() noexcept { return {}; }
void fail_allocations(long, long) noexcept {}
bool fails_for_test() noexcept { return false; }

#endif

}  // namespace lasolve
