// Bytes as the words of a command line, for commands that do nothing but what can be undone.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/options.hpp"
#include "plugin/program.hpp"

namespace lasolve::cli::fuzz {

/// A line for each word. None, where a word would compile a kernel, or limit what this process may have.
inline std::vector<std::string> words_of_bytes(const unsigned char* data, std::size_t size) {
  std::istringstream lines(std::string(reinterpret_cast<const char*>(data), size));
  std::vector<std::string> words;
  for (std::string word; std::getline(lines, word);) {
    for (const char* const taboo : {"/", ".c", ".so", "max-memory"})
      if (word.find(taboo) != word.npos) return {};
    words.push_back(word.c_str());  // as far as a NUL, where a word ends
  }
  return words;
}

/// Calls f(argc, argv), and lets it refuse. What the tool would call an internal error ends the process.
template <class F>
void try_command(std::vector<std::string> words, F f) {
  try {
    f(int(words.size()), plugin::argv_of(words).data());
  } catch (const HelpAsked&) {
  } catch (...) {
    const Failure failure = current_failure(words[0].c_str());
    if (failure.code == internal) std::abort();
  }
}

}  // namespace lasolve::cli::fuzz
