// Programs of others, each in a process of its own.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"

namespace lasolve::plugin {

/// The descriptors that a program has as its standard streams.
struct Streams {
  int in = STDIN_FILENO, out = STDOUT_FILENO, error = STDERR_FILENO;
};

/// Starts a program, which is looked for in $PATH, with these words. `blocked`: the signals that are blocked in it; null: those that are here.
/// Returns −1 and errno where there is none.
pid_t start(const std::vector<std::string>& words, const Streams& = {}, const sigset_t* blocked = nullptr);
/// The words as programs get them: with a null behind the last, for as long as the words live.
std::vector<char*> argv_of(const std::vector<std::string>& words);
/// Waits for a process, and returns what waitpid() tells of it.
int wait_for(pid_t);
/// Its exit code, as shells say it. −1, and errno as it is, for a process that was not started.
int exit_code_of(pid_t);

/// A file in memory with these bytes. Not open: errno says why.
io::Descriptor in_memory(std::string_view bytes, const char* name = "lasolve");

struct Answer {
  int code;  ///< see exit_code_of()
  std::string output;
};
/// Runs a program to its end. What it prints on standard error is shown, or not.
Answer run(const std::vector<std::string>& words, std::string_view input, bool shows_errors);

}  // namespace lasolve::plugin
