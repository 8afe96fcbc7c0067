// Quotients rounded up.
#pragma once

#include <cstdint>

namespace lasolve {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
/// To a multiple of `unit`.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t unit) { return ceil_div(n, unit) * unit; }

}  // namespace lasolve
