#include "io/input_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lasolve::io {
namespace {

constexpr std::size_t excerpt_before = 60, excerpt_after = 40, longest_quote = 40;

}  // namespace

std::string printable(std::string_view bytes) {
  std::string shown;
  for (const char c : bytes) {
    if (c == '\t')
      shown += ' ';
    else if (c >= 0x20 && c < 0x7F)
      shown += c;
    else
      shown += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
  }
  return shown;
}

std::string quoted(std::string_view token) {
  if (token.size() <= longest_quote) return '"' + printable(token) + '"';
  return '"' + printable(token.substr(0, longest_quote)) + "...\"";
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

  const std::size_t from = std::max(line_begin, offset - std::min(offset, excerpt_before));
  const std::size_t to = std::min(line_end, offset + excerpt_after);
  const std::string head = (from > line_begin ? "..." : "") + printable(text.substr(from, offset - from));
  const std::string tail = printable(text.substr(offset, to - offset)) + (to < line_end ? "..." : "");
  std::string first_line = fmt::format("{}: error: {}", place_name(file, text, offset), message);
  if (head.empty() && tail.empty()) return first_line;
  return fmt::format("{}\n{}{}\n{:>{}}", first_line, head, tail, '^', head.size() + 1);
}

}  // namespace lasolve::io
