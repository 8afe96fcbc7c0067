// The options of a command as a table: the parser, its help, the manual page and completion are made from it.
#pragma once

#include <boost/program_options.hpp>
#include <string>
#include <vector>

namespace lasolve::cli {

namespace po = boost::program_options;

struct Option {
  const char* name;
  char letter;                       // or 0
  const char* value;                 // what it takes, such as FILE; null: it takes nothing
  const char* by_default;            // or null
  std::vector<std::string> choices;  // the words that it takes, where these are few
  const char* meaning;
  bool repeats = false;  // it may be given several times
  std::vector<std::string> formerly =
      {};  // other spellings, such as --with-copies or -n, that are taken for one more release
};

/// For Boost's parser.
po::options_description described(const std::vector<Option>& options);

/// For a person: two columns, wrapped.
std::string listed(const std::vector<Option>& options);

/// What an option means, in a sentence: its words, its meaning, its default.
std::string meaning_of(const Option& option);

/// Text in lines of at most `width` characters; those behind the first are indented.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace lasolve::cli
