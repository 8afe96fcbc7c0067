// Misuse that has other words in C.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace lasolve {

struct Misuse : std::invalid_argument {
  Misuse(const std::string& sentence, std::string sentence_in_c)
      : std::invalid_argument("lasolve: " + sentence), in_c(std::move(sentence_in_c)) {}
  std::string in_c;
};

}  // namespace lasolve
