// A and B of a system that several processes share: each makes its own part, or reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/engine/collective.hpp"
#include "cli/request.hpp"
#include "engines/distributed.hpp"

namespace lasolve::cli {

struct RightHandSides {
  std::optional<engines::Distributed<double>> B;  ///< none: they are A·1
  std::int64_t count = 1;
  bool is_vector = false;
};

/// A of this rank; in what all ranks run together. Throws MachineError where a part is too large for the engine, with a number of ranks
/// that would do, and where memory is short; io::InputError where A is not square.
engines::PartOfA part_of_A(engines::Engine&, const Collective&, const Request&, std::vector<std::string>& notes);
/// Rank 0 reads them, and the others get their parts of it.
RightHandSides right_hand_sides(engines::Engine&, const Collective&, const Request&, const BlockCyclic& A,
                                std::vector<std::string>& notes);

}  // namespace lasolve::cli
