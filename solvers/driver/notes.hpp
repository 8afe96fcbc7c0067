// Notes of a report that more than one engine makes.
#pragma once

#include <string>

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// Where a check was asked for, but A was handed over.
inline constexpr const char* not_checked_in_place = "the solution is not checked: A was overwritten with its factors";

/// Why a Cholesky that was not asked for by name was in vain: its outcome.
inline std::string why_no_cholesky(const Outcome& outcome) {
  return "symmetric with a positive diagonal, but " + outcome.message();
}
/// Where LU took its place.
inline std::string lu_was_used(const std::string& why) { return why + ": LU was used instead of Cholesky"; }

}  // namespace lasolve
