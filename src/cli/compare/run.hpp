// Who takes part in a comparison, and all of them on the systems of one size.
#pragma once

#include <functional>

#include "cli/compare/request.hpp"

namespace lasolve::cli {

/// A backend with the options that make a recipe, or a baseline solver. `fault` is what is wrong with it, found before it is timed; empty:
/// nothing. `warning`: what is right by the contract, and a user has to know.
struct Contestant {
  Options options;
  const baseline_solvers::Library* baseline_solver = nullptr;
  std::string name = {}, precision = {}, device = {}, fault = {}, warning = {};
  bool failed_validation = false;  ///< and its fault was told then
  Choices choices = {};            ///< of options, but for the precision and what is the default

  compare::Key key(std::int64_t n) const { return {name, precision, device, n, choices}; }
};

struct Contestants {
  std::vector<Contestant> all;
  std::vector<std::string> left_out;  ///< why some of those that are asked for are not among them
};
/// Those that are asked for: for each recipe each backend, then baseline solvers. Throws UsageError where none of them can be, UnknownName,
/// and MachineError where a backend is not here.
Contestants contestants_of(const CompareRequest&);

/// What is known before anything is measured: in which precision, if nobody has said so, and who is left out.
std::vector<std::string> said_before(const CompareRequest&);

/// Tries each backend in a process of its own, in all of its precisions, and notes and says what is wrong with it. `progress` is called with
/// the share that is done.
void verify(const CompareRequest&, std::vector<Contestant>&, const std::function<void(double)>& progress);

/// What each precision is held against, measured now. Without those for which there is no memory.
std::vector<compare::Limit> limits_of(const std::vector<Contestant>&, int threads);

/// What is called during the runs of a size; any may be empty.
struct Watch {
  std::function<void(double)> progress = {};                           ///< of the share that is done
  std::function<void(std::size_t c, std::int64_t n)> begins = {};      ///< a run of contestant c
  std::function<void(std::size_t c, const std::string&)> failed = {};  ///< one that threw, and not for want of memory
};

/// A row for each, in the same order. One that fails is a row that says so. Throws what is wrong with the matrix.
std::vector<compare::Row> run_size(const CompareRequest&, const std::vector<Contestant>&, const std::string& matrix,
                                   compare::Size& size, const Watch&);

/// As run_size(). A plugin kernel that ends the process or spoils the device gets a fault. So does one that does not come back from a
/// solve in --patience seconds and 20 ns for each multiplication. The others are measured again without it.
std::vector<compare::Row> run_size_in_worker(const CompareRequest&, std::vector<Contestant>&, std::int64_t n,
                                             compare::Size& size, const std::function<void(double)>& progress);

/// The worker's side; `words` come from the parent. Returns the exit code.
int size_worker(const std::vector<std::string>& words);

}  // namespace lasolve::cli
