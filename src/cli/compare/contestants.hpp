// Who takes part in a comparison: backends in precisions, and peers.
#pragma once

#include <functional>

#include "cli/compare/request.hpp"

namespace lasolve::cli {

/// A backend in a precision, or a peer. `fault` is what is wrong with it, found before it is timed; empty: nothing. `warning`: what
/// is right by the contract, and a user has to know.
struct Contestant {
  Options options;
  const peers::Peer* peer = nullptr;
  std::string name = {}, precision = {}, device = {}, fault = {}, warning = {};

  compare::Key key(std::int64_t n) const { return {name, precision, device, n}; }
};

/// Those that are asked for, backends first. Throws UsageError where one does not offer the precision, UnknownName, and MachineError
/// where it is not here.
std::vector<Contestant> contestants_of(const CompareRequest&);

/// What is known before anything is measured: in which precision, if nobody has said so, and which backends have no products in one.
std::vector<std::string> said_before(const CompareRequest&);

/// Tries each backend in a process of its own, in all of its precisions, and notes and says what is wrong with it. `progress` hears of
/// the share that is done.
void verify(const CompareRequest&, std::vector<Contestant>&, const std::function<void(double)>& progress);

/// What each precision is held against, measured now. Without those for which there is no memory.
std::vector<compare::Limit> limits_of(const std::vector<Contestant>&, int threads);

}  // namespace lasolve::cli
