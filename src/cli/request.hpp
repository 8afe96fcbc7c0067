// What the command line asks for.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "io/matrix_file.hpp"
#include "lasolve/lasolve.hpp"

namespace lasolve::cli {

/// A command line that cannot be understood; exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Command { solve, list, generate, help, version };

struct Request {
  Command command = Command::solve;
  std::string help;  // the text, where that is the command
  std::string matrix, rhs, output, json;
  io::FileFormat format = io::FileFormat::automatic;  // of streams
  std::vector<std::string> backends;                  // names, one run each
  Options options;
  Op op = Op::none;
  int repeat = 1, warmup = 0;
  bool quiet = false, in_place = false, allow_ill_conditioned = false;

  /// The matrices of the tool are fp64.
  Precision factors_in() const {
    return options.precision == Precision::automatic ? Precision::fp64 : options.precision;
  }
};

/// Throws UsageError.
Request parse_command_line(int argc, const char* const* argv);

}  // namespace lasolve::cli
