// The options of a command, each said once: the parser, its help, the manual page and completion are made from a table.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/range.hpp"
#include "io/input_error.hpp"
#include "lasolve/names.hpp"

namespace lasolve::cli {

using io::UsageError;

struct Option {
  const char* name;
  char letter;        // or 0
  const char* value;  // what it takes, such as FILE; null: it takes nothing
  const char* meaning;
  const char* by_default = nullptr;
  std::vector<std::string> choices = {};   // the words that it takes, where these are few
  std::vector<std::string> formerly = {};  // other spellings, such as --with-copies or -n, for one more release
  bool repeats = false;                    // it may be given several times
};

/// Throws UsageError: which words an option takes, and which of them may be meant.
[[noreturn]] void refuse_word(const std::string& option, const std::vector<std::string>& taken,
                              const std::string& word);

/// The enumerator of a word, out of those that an option takes.
template <class Enum>
Enum enumerator_of(const std::string& option, const std::vector<std::string>& taken, const std::string& word) {
  const auto value = parse<Enum>(word);
  if (!value || !contains(taken, word)) refuse_word(option, taken, word);
  return *value;
}

/// An option, and what it sets in the request of its command. Those that say nothing of that are asked for by their name.
template <class Request>
struct OptionOf : Option {
  std::function<void(Request&, const std::string&)> set = {};

  using Choices = std::vector<std::string>;
  OptionOf(const char* name, char letter, const char* value, const char* by_default, Choices choices,
           const char* meaning)
      : Option{name, letter, value, meaning, by_default, std::move(choices)} {}
  OptionOf(const char* name, char letter, const char* value, const char* by_default, const char* meaning)
      : OptionOf(name, letter, value, by_default, Choices(), meaning) {}
  OptionOf(const char* name, char letter, const char* value, const char* meaning)
      : OptionOf(name, letter, value, nullptr, meaning) {}
  /// One that takes no value.
  OptionOf(const char* name, char letter, const char* meaning) : OptionOf(name, letter, nullptr, meaning) {}

  OptionOf& by(const char* its_default) { return by_default = its_default, *this; }
  OptionOf& was(const char* spelling) { return formerly.emplace_back(spelling), *this; }
  OptionOf& again() { return repeats = true, *this; }
  /// A switch, a name that is not empty, or what set(request, word) makes of its word.
  OptionOf& to(bool Request::*member) {
    set = [=](Request& r, const std::string&) { r.*member = true; };
    return *this;
  }
  OptionOf& to(std::string Request::*member) {
    set = [=, option = name](Request& r, const std::string& word) {
      if (word.empty()) throw UsageError(fmt::format("--{} takes a name, not ''", option));
      r.*member = word;
    };
    return *this;
  }
  /// The same of a member of the library's options, an enumerator by one of the choices.
  OptionOf& to(bool Options::*member) {
    set = [=](Request& r, const std::string&) { r.options.*member = true; };
    return *this;
  }
  template <class Enum>
  OptionOf& to(Enum Options::*member) {
    set = [=, option = name, taken = choices](Request& r, const std::string& word) {
      r.options.*member = enumerator_of<Enum>(option, taken, word);
    };
    return *this;
  }
  template <class Set>
  OptionOf& to(Set its) {
    set = std::move(its);
    return *this;
  }
};

template <class Request>
using Table = std::vector<OptionOf<Request>>;

/// For what prints them.
template <class Request>
std::vector<Option> listed_in(const Table<Request>& table) {
  return {table.begin(), table.end()};
}

/// The words of a command line by the options that they were given to, or that stand for them by default.
class Given {
 public:
  /// `word` is the option that a word which is no option means, if any. Says on standard error where an option has another name now.
  /// Throws UsageError.
  Given(int argc, const char* const* argv, const std::vector<Option>& options, const char* word);

  bool has(const std::string& option) const { return words_.count(option) > 0; }
  /// Whether nobody said anything.
  bool is_by_default(const std::string& option) const { return by_default_.count(option) > 0; }
  std::string text(const std::string& option) const { return has(option) ? words_.at(option).back() : ""; }
  const std::vector<std::string>& all(const std::string& option) const { return words_.at(option); }

 private:
  std::map<std::string, std::vector<std::string>> words_;
  std::set<std::string> by_default_;
};

/// Thrown where --help is given: the command's help is what is asked for.
struct HelpAsked {};

/// Sets in the request what is given, in the order of the table. Throws UsageError, and HelpAsked before anything else is looked at.
template <class Request>
Given parse_options(int argc, const char* const* argv, const Table<Request>& table, Request& request,
                    const char* word = nullptr) {
  Given given(argc, argv, listed_in(table), word);
  if (given.has("help")) throw HelpAsked();
  for (const auto& option : table)
    if (option.set && given.has(option.name))
      for (const std::string& text : given.all(option.name)) option.set(request, text);
  return given;
}

/// For a person: two columns, wrapped.
std::string listed(const std::vector<Option>& options);

/// What an option means, in a sentence: its words, its meaning, its default.
std::string meaning_of(const Option& option);

/// Text in lines of at most `width` characters; those behind the first are indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace lasolve::cli
