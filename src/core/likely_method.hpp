// Which method a glance at a matrix makes likely.
#pragma once

#include <algorithm>

#include "core/symmetric.hpp"

namespace lasolve {

/// LU if the first rows and columns show that a matrix of that order, with elements A(i, j), is not symmetric with a positive diagonal,
/// as they do for most that are not. Else Cholesky, which is no certainty.
template <class Elements>
Method likely_method(std::int64_t order, const Elements& A) {
  const std::int64_t some = std::min<std::int64_t>(order, 64);
  for (std::int64_t i = 0; i < some; ++i)
    if (!(A(i, i) > 0) || !equal_but_for_roundoff(A(i, 0), A(0, i), A(i, i), A(0, 0))) return Method::lu;
  return Method::cholesky;
}

}  // namespace lasolve
