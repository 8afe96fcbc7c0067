// Halving: how recursive algorithms divide their columns.
#pragma once

#include <cstdint>

namespace lasolve {

/// About half of n, in whole leaves.
constexpr std::int64_t first_half(std::int64_t n, std::int64_t leaf) { return (n / leaf + 1) / 2 * leaf; }

}  // namespace lasolve
