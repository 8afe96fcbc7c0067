// The commands. Each returns the exit code of the tool.
#pragma once

#include "cli/request.hpp"
#include "worker/exit_code.hpp"

namespace lasolve::cli {

using enum worker::ExitCode;

/// argv[0] is not looked at.
int solve_command(int argc, const char* const* argv);
int generate_command(int argc, const char* const* argv);
int convert_command(int argc, const char* const* argv);
int list_command(int argc, const char* const* argv);
/// argv[0] is the word help.
int help_command(int argc, const char* const* argv);
/// argv[0] is the word bench.
int bench_command(int argc, const char* const* argv);
/// argv[0] is the word compare.
int compare_command(int argc, const char* const* argv);
/// argv[0] is the word tune.
int tune_command(int argc, const char* const* argv);
/// argv[0] is the word new-kernel.
int new_kernel_command(int argc, const char* const* argv);
/// argv[0] is the word try-kernel.
int try_kernel_command(int argc, const char* const* argv);
/// argv[0] is the word run.
int run_program_command(int argc, const char* const* argv);

}  // namespace lasolve::cli
