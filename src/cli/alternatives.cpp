#include "cli/alternatives.hpp"

#include <variant>

#include "cli/words.hpp"
#include "core/range.hpp"
#include "core/tuning.hpp"
#include "solvers/driver/engine.hpp"

namespace lasolve::cli {

Alternatives alternatives_of(const std::string& option, const std::string& list) {
  Alternatives found{option, {}};
  for (std::string word : split(list)) {
    Request taken;
    if (word != "auto") solve_option(option).set(taken, word);
    if (const auto count = whole_number(word)) word = std::to_string(*count);  // 1k is 1024
    if (!contains(found.words, word)) found.words.push_back(word);
  }
  return found;
}

std::vector<Choices> choices_among(const std::vector<Alternatives>& lists) {
  std::vector<Choices> all(1);
  for (const Alternatives& list : lists) {
    std::vector<Choices> longer;
    for (const Choices& some : all)
      for (const std::string& word : list.words) longer.push_back(some), longer.back()[list.option] = word;
    all = std::move(longer);
  }
  return all;
}

Options with_choices(const Options& options, const Choices& choices) {
  Request request;
  request.options = options;
  for (const auto& [option, word] : choices) solve_option(option).set(request, word);
  return request.options;
}

Choices without_defaults(Choices choices) {
  std::erase_if(choices, [](const auto& choice) { return choice.second == solve_option(choice.first).by_default; });
  return choices;
}

Recipes recipes_of(const Choice& choice, const Options& options, std::int64_t n) {
  const Tuning tuning = tuning_of(choice.device());
  return std::visit(
      [&](const auto* gemm) { return resolve(options, {.n = n}, means_of(*gemm, options, tuning, false)); },
      choice.backend);
}

}  // namespace lasolve::cli
