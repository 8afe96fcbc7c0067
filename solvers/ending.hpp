// How a factorization ended, as its device tells it.
#pragma once

#include <cstdint>

namespace lasolve {

struct Ending {
  std::int64_t failed_at = -1;  ///< Outcome::at; −1: nowhere
  double least = 0, most = 0;   ///< magnitude on the diagonal of the factors; 0 of an empty matrix
};

}  // namespace lasolve
