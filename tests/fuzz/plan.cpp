// The options of `lasolve plan`, a line each, and the order of a matrix: it is planned, lowered and printed.
#include "cli/plan/plan.hpp"

#include "words.hpp"

using namespace lasolve::cli;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  std::vector<std::string> words = fuzz::words_of_bytes(data + 1, size - 1);
  for (const std::string& word : words)  // another order, and files
    for (const char* const taboo : {"n=", "json", "svg"})
      if (word.find(taboo) != word.npos && !word.ends_with("=-")) return 0;
  words.insert(words.begin(), {"plan", "uniform:n=" + std::to_string(1 + data[0] % 64)});
  fuzz::try_command(words, plan_command);
  return 0;
}
