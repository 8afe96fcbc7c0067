// What `lasolve tune` chooses among: a backend, a schedule, and how many columns a panel has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lasolve/lasolve.hpp"

namespace lasolve::tuned {

struct Setting {
  std::string gemm;
  Schedule schedule = Schedule::right_looking;
  std::int64_t block_size = 1;  ///< columns of a panel at most

  bool operator==(const Setting&) const = default;
};

/// A setting and its runs.
struct Trial {
  Setting setting;
  std::vector<double> seconds = {};  ///< of the runs that count
  std::string failure = {};          ///< why it is no way to solve; empty: none was found
  bool given_up = false;             ///< one of its runs took too long
};

}  // namespace lasolve::tuned
