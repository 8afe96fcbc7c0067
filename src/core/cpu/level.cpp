#include "core/cpu/level.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace lasolve {

#ifdef LASOLVE_X86_LEVELS

static constexpr const char* names[] = {"x86-64", "x86-64-v3", "x86-64-v4"};

/// Of the instructions that the compiler may use.
int levels_that_run() {
  const auto all = [](auto... have) { return (have && ...); };
#define HAS(feature) bool(__builtin_cpu_supports(feature))
  if (!all(HAS("avx2"), HAS("fma"), HAS("bmi"), HAS("bmi2"), HAS("popcnt"), HAS("sse4.2"))) return 1;
  return all(HAS("avx512f"), HAS("avx512bw"), HAS("avx512cd"), HAS("avx512dq"), HAS("avx512vl")) ? 3 : 2;
#undef HAS
}

#else

static constexpr const char* names[] = {"one_level"};

int levels_that_run() { return 1; }

#endif

std::span<const char* const> levels() { return names; }

int level_here() {
  static const int here = [] {
    const int most = levels_that_run() - 1;
    const char* const wanted = std::getenv("LASOLVE_CPU");
    if (!wanted || std::size(names) == 1) return most;
    const auto found = std::find(std::begin(names), std::end(names), std::string_view(wanted));
    if (found == std::end(names))
      throw std::invalid_argument(fmt::format("LASOLVE_CPU={} names none of {}", wanted, fmt::join(names, ", ")));
    return std::min(most, int(found - std::begin(names)));
  }();
  return here;
}

}  // namespace lasolve
