// How long a system takes that no device has room for.
#pragma once

#include "core/choose.hpp"
#include "solvers/recipe.hpp"

namespace lasolve::cli {

/// About how long a factorization takes on a CUDA device that does it out of core: by the rates of a large product and of a copy from
/// the host, of which the slower one counts. 0: it is not done so, or nobody knows.
double seconds_out_of_core(const Options&, const Choice&, const lasolve::Problem&);

}  // namespace lasolve::cli
