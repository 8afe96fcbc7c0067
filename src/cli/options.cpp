#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace lasolve::cli {

po::options_description described(const std::vector<Option>& options) {
  po::options_description all;
  for (const Option& o : options) {
    const std::string names = o.letter ? fmt::format("{},{}", o.name, o.letter) : o.name;
    if (!o.value) {
      all.add_options()(names.c_str(), o.meaning);
      continue;
    }
    if (o.repeats) {
      all.add_options()(names.c_str(), po::value<std::vector<std::string>>()->composing(), o.meaning);
      continue;
    }
    auto* const value = po::value<std::string>();
    if (o.by_default) value->default_value(o.by_default);
    all.add_options()(names.c_str(), value, o.meaning);
  }
  return all;
}

std::string meaning_of(const Option& o) {
  std::string text = fmt::format("{}", fmt::join(o.choices, ", "));
  if (*o.meaning) text += (text.empty() ? "" : "; ") + std::string(o.meaning);
  if (o.by_default) text += fmt::format(" [{}]", o.by_default);
  return text;
}

std::string listed(const std::vector<Option>& options) {
  constexpr std::size_t column = 31, width = 100;
  std::string text;
  for (const Option& o : options) {
    const std::string letter = o.letter ? fmt::format("-{}, ", o.letter) : "    ";
    const std::string left = fmt::format("  {}--{}{}", letter, o.name, o.value ? " " + std::string(o.value) : "");
    text += fmt::format("{:<{}}{}\n", left, column - 1, left.size() + 1 < column ? " " : "  ");
    text.pop_back();
    text += wrapped(meaning_of(o), width - column, column) + "\n";
  }
  return text;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t begin = 0;
  while (text.size() - begin > width) {
    std::size_t end = text.rfind(' ', begin + width);
    if (end == text.npos || end <= begin) end = std::min(text.find(' ', begin), text.size());
    lines += text.substr(begin, end - begin);
    begin = std::min(end + 1, text.size());
    if (begin < text.size()) lines += "\n" + std::string(indent, ' ');
  }
  return lines + text.substr(begin);
}

}  // namespace lasolve::cli
