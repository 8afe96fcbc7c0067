#include "cli/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "core/choose.hpp"
#include "core/range.hpp"
#include "worker/watched.hpp"

namespace lasolve::cli {

namespace po = boost::program_options;

namespace {

/// The option that a word names, with its value behind a = or not; null: none.
const Option* named_by(const std::string& word, const std::vector<Option>& options) {
  const std::string name = word.substr(0, word.find('='));
  return find_in(options, [&](const Option& o) {
    return name == fmt::format("--{}", o.name) || (o.letter && word == fmt::format("-{}", o.letter));
  });
}

/// Whether the word behind this one is its value.
bool waits_for_value(const std::string& word, const std::vector<Option>& options) {
  const Option* const option = named_by(word, options);
  return option && option->value && word.find('=') == word.npos;
}

/// Under the name that it has now. What is former is said once, by the process that a person has started.
std::string with_present_name(const std::string& word, const std::vector<Option>& options) {
  for (const Option& o : options)
    for (const std::string& former : o.formerly) {
      const bool is_long = former.starts_with("--");
      const std::string rest = word.starts_with(former) ? word.substr(former.size()) : "";
      if (word != former && (rest.empty() || (is_long && rest[0] != '='))) continue;
      if (!worker::is_watched())
        fmt::print(stderr, "lasolve: note: {} is --{} now, and the next release does not take it\n", former, o.name);
      const std::string value = rest.empty() || is_long ? rest : "=" + rest;
      return fmt::format("--{}{}", o.name, value);
    }
  return word;
}

/// The words of a command line behind the first. -:NAME, an array on standard input, looks like an option where it stands alone. An
/// option is not taken for the value of the one before it.
std::vector<std::string> words_behind_first(int argc, const char* const* argv, const std::vector<Option>& options,
                                            const char* word) {
  std::vector<std::string> words(argv + 1, argv + argc);
  for (std::size_t k = 0; k < words.size(); ++k) {
    if (k > 0 && waits_for_value(words[k - 1], options)) {
      if (named_by(words[k], options))
        throw UsageError(fmt::format("{} takes {}, and is followed by the option '{}'; a file of that name is ./{}",
                                     words[k - 1], named_by(words[k - 1], options)->value, words[k], words[k]));
      continue;
    }
    words[k] = with_present_name(words[k], options);
    if (word && words[k].starts_with("-:")) words[k] = fmt::format("--{}={}", word, words[k]);
  }
  return words;
}

/// For Boost's parser.
po::options_description described(const std::vector<Option>& options) {
  po::options_description all;
  for (const Option& o : options) {
    const std::string names = o.letter ? fmt::format("{},{}", o.name, o.letter) : o.name;
    if (o.value)
      all.add_options()(names.c_str(), po::value<std::string>(), o.meaning);
    else
      all.add_options()(names.c_str(), o.meaning);
  }
  return all;
}

}  // namespace

Given::Given(int argc, const char* const* argv, const std::vector<Option>& options, const char* word) {
  const po::options_description known = described(options);
  po::positional_options_description words;
  if (word) words.add(word, 1);
  try {
    using style = po::command_line_style::style_t;
    const auto parsed =
        po::command_line_parser(words_behind_first(argc, argv, options, word))
            .options(known)
            .positional(words)
            .style(style(po::command_line_style::default_style & ~po::command_line_style::allow_guessing))
            .run();
    for (const auto& one : parsed.options) {
      std::vector<std::string>& its = words_[one.string_key];
      its.insert(its.end(), one.value.begin(), one.value.end());
      if (one.value.empty()) its.emplace_back();
    }
  } catch (const po::unknown_option& e) {
    std::vector<std::string> names;
    for (const auto& option : known.options()) names.push_back("--" + option->long_name());
    const std::string name = e.get_option_name();
    // Before a prefix: --no-tuned.
    if (name == "--n" && known.find_nothrow("matrix", false))
      throw UsageError("there is no option '--n'; the size of a generated matrix is written uniform:n=1000");
    throw UsageError(fmt::format("there is no option '{}'{}", name, did_you_mean(name, names)));
  } catch (const po::too_many_positional_options_error&) {
    const bool rhs = known.find_nothrow("rhs", false) != nullptr;
    throw UsageError(std::string("one word too many") + (rhs ? "; right-hand sides are given as --rhs FILE" : ""));
  } catch (const po::error& e) {
    throw UsageError(e.what());
  }
  for (const Option& o : options) {
    const bool is_given = has(o.name);
    if (is_given && !o.repeats && words_[o.name].size() > 1)
      throw UsageError(fmt::format("option '--{}' cannot be specified more than once", o.name));
    if (!is_given && o.by_default) words_[o.name] = {o.by_default}, by_default_.insert(o.name);
  }
}

void refuse_word(const std::string& option, const std::vector<std::string>& taken, const std::string& word) {
  throw UsageError(
      fmt::format("--{} takes {}, not '{}'{}", option, fmt::join(taken, ", "), word, did_you_mean(word, taken)));
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
