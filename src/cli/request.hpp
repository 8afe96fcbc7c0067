// What the command line asks for.
#pragma once

#include <string>
#include <vector>

#include "io/input_error.hpp"
#include "io/matrix_file.hpp"
#include "lasolve/lasolve.hpp"
#include "tuned/setting.hpp"

namespace lasolve::cli {

using io::UsageError;

enum class Command { solve, list, generate, help, version };

/// A value of a tuning that is asked for.
struct TuningChange {
  std::string name;
  std::int64_t value;
};

struct Request {
  Command command = Command::solve;
  std::string help;                // the text, where that is the command
  std::vector<std::string> words;  // of the command line, behind the name of the program
  std::string matrix, rhs, output, json;
  io::FileFormat format = io::FileFormat::automatic;  // of streams
  bool decimal_comma = false;                         // in tables of text
  std::vector<std::string> backends;                  // names, one run each
  Options options;
  Op op = Op::none;
  int repeat = 1, warmup = 0;
  int patience = 60;  // seconds
  std::vector<TuningChange> tune;
  bool list_tuning = false, list_tuned = false;
  bool use_tuned = true;                     // what `lasolve tune` has kept
  std::optional<tuned::Setting> tuned = {};  // that is taken of it
  bool quiet = false, in_place = false, allow_ill_conditioned = false;

  /// What products are computed in. The precision that is asked for has a name.
  Precision products_in() const { return find_solve_precision(options.precision)->products; }
};

/// Throws UsageError.
Request parse_command_line(int argc, const char* const* argv);

}  // namespace lasolve::cli
