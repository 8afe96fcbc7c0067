// What `lasolve tune` chooses of a recipe: a backend, a schedule, how many columns a panel has, a backend for small products, and where
// an accuracy is asked for the precision of the factors.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::tuned {

struct Setting {
  std::string gemm;
  Schedule schedule = Schedule::right_looking;
  std::int64_t block_size = 1;  ///< columns of a panel at most
  std::string small = {};  ///< the backend of products of fewer than small_below operations; empty: the same as of all
  double small_below = 0;
  Precision precision = Precision::automatic;  ///< of factors and products; automatic: as it is without that

  bool operator==(const Setting&) const = default;
};

/// A setting and its runs.
struct TimedSetting {
  Setting setting;
  std::vector<double> seconds = {};  ///< of the runs that count
  std::string failure = {};          ///< why it is no way to solve; empty: none was found
  bool given_up = false;             ///< one of its runs took too long
};

/// A record of the caller's.
using Record = std::variant<std::monostate, GemmBackend<Cpu>, GemmBackend<Cuda>>;

/// The setting's backend for a device; where it has one for small products, `record`, which leaves those to it. Throws UnknownName
/// and MachineError as choose() does.
GemmChoice gemm_of(const Setting&, const Device&, Record& record);

}  // namespace lasolve::tuned
