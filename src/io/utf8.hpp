// Characters of UTF-8 in bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lasolve::io {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: there is none
};

/// The character that some bytes, at least one, begin with; none where they are no UTF-8.
inline Character first_character(std::string_view bytes) {
  const auto at = [&](std::size_t k) { return static_cast<unsigned char>(bytes[k]); };
  const unsigned char lead = at(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead >= 0xF5 || bytes.size() < length) return {};
  char32_t code = lead & (0x7Fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((at(k) & 0xC0) != 0x80) return {};
    code = code << 6 | (at(k) & 0x3Fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  return code < least[length] || code > 0x10FFFF || surrogate ? Character{} : Character{code, length};
}

/// Whether a byte is within a character.
inline bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace lasolve::io
