#include "io/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "io/utf8.hpp"

namespace lasolve::io {
namespace {

constexpr std::size_t excerpt_before = 60, excerpt_after = 40, longest_quote = 40;

/// Controls; and of Unicode blanks and marks that nobody sees, or that change the order of others.
bool is_seen(char32_t c) {
  const auto is_in = [&](char32_t first, char32_t last) { return c >= first && c <= last; };
  return c >= 0x20 && !is_in(0x7F, 0xA0) && c != 0xAD && !is_in(0x2000, 0x200F) && !is_in(0x2028, 0x202F) &&
         !is_in(0x205F, 0x206F) && c != 0x3000 && c != 0xFEFF;
}

std::size_t width(std::string_view shown) {
  return shown.size() - std::size_t(std::count_if(shown.begin(), shown.end(), is_continuation));
}

/// The place, or that of the character that it is within.
std::size_t begin_of_character(std::string_view text, std::size_t at) {
  constexpr std::size_t most_within = 3;
  for (std::size_t back = 0; back < most_within && at > 0 && at < text.size() && is_continuation(text[at]); ++back)
    --at;
  return at;
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string shown;
  while (!bytes.empty()) {
    const Character c = first_character(bytes);
    const std::size_t length = std::max<std::size_t>(c.bytes, 1);
    if (bytes.front() == '\t')
      shown += ' ';
    else if (c.bytes > 0 && is_seen(c.code))
      shown += bytes.substr(0, length);
    else
      for (const char byte : bytes.substr(0, length))
        shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(byte));
    bytes.remove_prefix(length);
  }
  return shown;
}

std::string quoted(std::string_view token) {
  if (token.size() <= longest_quote) return '"' + printable(token) + '"';
  return '"' + printable(token.substr(0, begin_of_character(token, longest_quote))) + "...\"";
}

std::string place_name(const std::string& file, std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return fmt::format("{}:{}:{}", file, line, offset - before.rfind('\n'));  // npos is -1
}

std::string message_at(const std::string& file, std::string_view text, std::size_t offset, const std::string& message) {
  const std::size_t line_begin = text.substr(0, offset).rfind('\n') + 1;
  std::size_t line_end = std::min(text.find('\n', offset), text.size());
  if (line_end > offset && text[line_end - 1] == '\r') --line_end;

  const std::size_t from = std::max(line_begin, begin_of_character(text, offset - std::min(offset, excerpt_before)));
  const std::size_t to = std::min(line_end, begin_of_character(text, offset + excerpt_after));
  const std::string head = (from > line_begin ? "..." : "") + printable(text.substr(from, offset - from));
  const std::string tail = printable(text.substr(offset, to - offset)) + (to < line_end ? "..." : "");
  std::string first_line = fmt::format("{}: error: {}", place_name(file, text, offset), message);
  if (head.empty() && tail.empty()) return first_line;
  return fmt::format("{}\n{}{}\n{:>{}}", first_line, head, tail, '^', width(head) + 1);
}

}  // namespace lasolve::io
