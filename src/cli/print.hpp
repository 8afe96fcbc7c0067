// What the tool says: the report for people, the comparison of backends, the list, and JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"
#include "solvers/watch.hpp"

namespace lasolve::cli {

/// What solved a system that several processes share.
struct EngineUsed {
  std::string name, version;
  int ranks = 1, grid_rows = 1, grid_cols = 1;
};

/// The runs of one backend: the run with the median factor_seconds, and how the others spread.
struct Measured {
  Report report;
  int runs = 1;
  double least_factor_seconds = 0, most_factor_seconds = 0;
  std::vector<double> factor_seconds = {};  ///< of all runs, as they were made
  std::uint64_t seed = 1;                   ///< of the order of the backends
  std::optional<Resolved> decided = {};     ///< how it was solved, where anything was factored
  std::optional<EngineUsed> engine = {};    ///< with several processes: the report is that of the first
};

/// Of the problem, what a report says.
struct Subject {
  std::string matrix, rhs;
  bool transposed = false;
};

/// "LU", "Cholesky".
const char* in_words(Method);

std::string for_people(const Subject&, const Measured&);
std::string comparison(const Subject&, const std::vector<Measured>&);
std::string list_of_backends();
/// The second part of that: the devices, why those cannot be used that cannot, and what this build has code for.
std::string list_of_devices(const CudaDevices&, const std::function<std::string(int)>& why_unusable);
/// One object for one run, a list of them for several.
std::string as_json(const Subject&, const std::vector<Measured>&);

/// To a file that appears when it is complete, or to standard output for "-" (see io::Destination).
void write_text(const std::string& path, const std::string& text);

}  // namespace lasolve::cli
