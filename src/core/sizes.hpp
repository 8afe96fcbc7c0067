// Sizes as people write and read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lasolve {

/// A whole number: digits, as 8192; with k, m or g for powers of 1024, as 8k; with an exponent, as 1e4 or 1.5e4; or a power, as
/// 2^13. Nothing where the text is none of these, or not below 2^63.
std::optional<std::int64_t> whole_number(std::string_view text);

/// "512 bytes", "1.5 KiB", "32.0 GiB": four digits at most before the point.
std::string in_bytes(double bytes);

}  // namespace lasolve
