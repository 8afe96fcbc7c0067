// The commands. Each returns the exit code of the tool.
#pragma once

#include "cli/bench/request.hpp"

namespace lasolve::cli {

enum ExitCode {
  done = 0,
  usage = 2,
  bad_input = 3,
  no_solution = 4,
  not_accurate = 5,
  machine = 6,
  slower = 7,
  cannot_tell = 8,
  internal = 70
};

int solve(const Request&);
int generate(const Request&);
int list(const Request&);
/// argv[0] is the word bench.
int bench_command(int argc, const char* const* argv);
/// argv[0] is the word compare.
int compare_command(int argc, const char* const* argv);
/// argv[0] is the word tune.
int tune_command(int argc, const char* const* argv);
/// argv[0] is the word new-kernel.
int new_kernel_command(int argc, const char* const* argv);

}  // namespace lasolve::cli
