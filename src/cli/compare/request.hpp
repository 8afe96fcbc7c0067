// What `lasolve compare` is asked for.
#pragma once

#include "baseline_solvers/baseline_solvers.hpp"
#include "cli/alternatives.hpp"
#include "cli/request.hpp"
#include "compare/row.hpp"
#include "compare/timed.hpp"

namespace lasolve::cli {

struct CompareRequest {
  bool quiet = false, markdown = false, attribution = false, resume = false, verify = true;
  bool fail_on_slower = false;
  bool copies = false;  ///< are asked for; the setting has them where there are any
  int patience = 60;    // seconds
  std::string matrix, json, csv, trace, report;
  std::string beside;                  // file of another device
  std::string baseline_solver_names;   // as given
  std::vector<std::string> baselines;  // files; each is a session
  std::vector<std::int64_t> sizes;     // none: the matrix has its own
  std::vector<std::string> backends;   // names; the first is what speed-ups are over
  bool are_named = false;              // not all that there are
  std::vector<Alternatives> lists;     // options of a solve, each word of which makes other contestants
  std::string why_precision;           // it is not fp64, though nobody has asked for another. Else empty
  std::vector<const baseline_solvers::Library*> baseline_solvers;
  std::vector<std::string> left_out;  // baseline solvers that were asked for and have no part, each with why
  Options options;                    // of every solve, but for the backend and what is in lists
  compare::Setting setting;
  std::vector<std::string> words;  // that it was parsed from

  std::string command() const;  ///< as one would type it

  /// Whether what is printed depends on what the machine can do at most.
  bool wants_limits() const { return attribution || (!report.empty() && tasks() != compare::Recording::none); }
  /// The tasks to be timed. On CUDA that takes events, so it is not done unasked, nor for a report on copies: small sizes count there.
  compare::Recording::Tasks tasks() const {
    using Recording = compare::Recording;
    if (attribution || !trace.empty() || (!report.empty() && !setting.copies)) return Recording::all;
    return options.device.kind == Device::cuda ? Recording::none : Recording::updates;
  }
  /// The matrix of a size.
  std::string matrix_of(std::int64_t n) const;
};

/// argv[0] is the word compare. Throws UsageError.
CompareRequest parse_compare(int argc, const char* const* argv);

}  // namespace lasolve::cli
