// How exceptions end the tool.
#pragma once

#include <string>

namespace lasolve::cli {

struct Failure {
  int code;
  std::string text;
  const char* text_without_memory = nullptr;  ///< in place of it, where there is no memory for a text

  const char* message() const { return text_without_memory ? text_without_memory : text.c_str(); }
};

/// Of the exception that is being handled, in the command of that name, or in that of no name.
Failure current_failure(const char* command);

}  // namespace lasolve::cli
