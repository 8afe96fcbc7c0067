// Whole calls, from device memory to device memory, or from pageable memory of the host and back: the factors and the solution, by
// the wall clock.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::bench {

/// What to solve.
struct WholeCalls {
  std::vector<std::int64_t> sizes, rhs;  ///< orders of A, and numbers of right-hand sides
  std::vector<Method> methods;
  std::string backend;  ///< of our bare calls
  int rounds;
  bool from_host = false;    ///< A, B and X are in pageable memory of the host
  bool is_factored = false;  ///< beforehand: a call solves with the factors
  std::int64_t calls = 0;    ///< of each, for each system, in all rounds together; 0: as many as 10 ms a turn take
  double accuracy = 0;       ///< above 0: ours to that backward error, too, without bounds and with them
};

/// Ours, bare and with the library's defaults, and all solvers, in turns. The results are printed and added.
template <class T>
void whole_calls(const WholeCalls&, nlohmann::ordered_json& results);

}  // namespace lasolve::bench
