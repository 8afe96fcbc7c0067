#include "compare/row.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/range.hpp"

namespace lasolve::compare {

namespace {

/// The word alone, where it says what it is of.
std::string said(const std::string& option, const std::string& word) {
  const bool is_a_name = option == "factorization" || option == "pivoting" || option == "schedule";
  return is_a_name && word != "auto" && word != "none" ? word : option + " " + word;
}

std::string with_options(const std::string& gemm, const std::vector<std::string>& options) {
  if (options.empty()) return gemm;
  const std::string words = fmt::format("{}", fmt::join(options, ", "));
  return gemm.empty() ? words : fmt::format("{} ({})", gemm, words);
}

}  // namespace

std::string option_of(const Key& key, const std::string& option) {
  const auto it = key.options.find(option);
  return it == key.options.end() ? "auto" : it->second;
}

std::string options_in_words(const Key& key) {
  std::vector<std::string> words;
  for (const auto& [option, word] : key.options) words.push_back(fmt::format("--{} {}", option, word));
  return fmt::format("{}", fmt::join(words, " "));
}

std::string in_words(const Key& key) {
  std::vector<std::string> options;
  for (const auto& [option, word] : key.options) options.push_back(said(option, word));
  return with_options(key.gemm, options) + " in " + key.precision;
}

std::vector<std::string> Comparison::differing_options() const {
  std::vector<std::string> differing;  // the last to change first
  const Row* const first = find_in(rows, [](const Row& row) { return !row.is_baseline_solver; });
  for (const Row& row : rows) {
    if (row.is_baseline_solver) continue;
    for (const Key* key : {&first->key, &row.key})
      for (const auto& option : key->options)
        if (option_of(row.key, option.first) != option_of(first->key, option.first) &&
            !contains(differing, option.first))
          differing.insert(differing.begin(), option.first);
  }
  return differing;
}

std::string Comparison::label_of(const Row& row) const {
  std::vector<std::string> options;
  for (const std::string& option : differing_options())
    if (!row.is_baseline_solver || row.key.options.count(option) > 0)
      options.push_back(said(option, option_of(row.key, option)));
  const bool one_backend = all_of(rows, [&](const Row& r) { return r.key.gemm == row.key.gemm; });
  return with_options(one_backend && !options.empty() ? "" : row.key.gemm, options);
}

}  // namespace lasolve::compare
