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

/// A value of a tuning that is asked for.
struct TuningChange {
  std::string name;
  std::int64_t value;
};

/// Of systems in fp64.
SolvePrecision solve_precision_of(const Options&);

struct Request {
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
  bool version = false;                      // is all that is asked for
  std::string engine;                        // empty: this process solves
  int ranks = 0;                             // processes of an engine to start; 0: whoever starts this one does that
  bool quiet = false, in_place = false, allow_ill_conditioned = false;

  /// What products are computed in.
  Precision products_in() const { return solve_precision_of(options).products; }
};

/// argv[0] is not looked at. Each throws UsageError.
Request parse_solve(int argc, const char* const* argv);
Request parse_list(int argc, const char* const* argv);
Request parse_generate(int argc, const char* const* argv);
Request parse_convert(int argc, const char* const* argv);

/// Whether a word that is no command looks like a matrix.
bool is_matrix(const std::string& word);

}  // namespace lasolve::cli
