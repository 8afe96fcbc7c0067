// Options of a solve that take a list: each way to take one word of each is another recipe.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/request.hpp"
#include "core/choose.hpp"
#include "solvers/recipe.hpp"

namespace lasolve::cli {

/// Words of an option, each once.
struct Alternatives {
  std::string option;
  std::vector<std::string> words;
};
/// Of a list. Throws UsageError where the option does not take a word of it.
Alternatives alternatives_of(const std::string& option, const std::string& list);

/// A word for each option.
using Choices = std::map<std::string, std::string>;
/// All ways to choose; the words of the last option change first.
std::vector<Choices> choices_among(const std::vector<Alternatives>&);
/// The options with what is chosen.
Options with_choices(const Options&, const Choices&);
/// Those that are no option's default.
Choices without_defaults(Choices);

/// The recipes of a system in fp64 by the backend of a choice, on one device. Throws std::invalid_argument where these options have none.
Recipes recipes_of(const Choice&, const Options&, std::int64_t n);

}  // namespace lasolve::cli
