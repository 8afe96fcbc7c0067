// How large an element is.
#pragma once

#include <cmath>

#include "lasolve/elements.hpp"

namespace lasolve {

/// |x| of a real x. |Re x| + |Im x| of a complex one, as in LAPACK: its modulus or at most √2 times that, and no root to take. So all norms
/// of a complex matrix are those of a real one of twice the order.
template <class T>
real_of<T> magnitude(T x) {
  if constexpr (ComplexElement<T>)
    return std::abs(x.real()) + std::abs(x.imag());
  else
    return std::abs(x);
}

}  // namespace lasolve
