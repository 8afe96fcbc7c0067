// The loops of leaves: of real elements for the instructions that this processor has.
#pragma once

#include "core/cpu/level.hpp"
#include "solvers/devices/cpu/complex_leaves.hpp"
#include "solvers/devices/cpu/levels/elimination.hpp"
#include "solvers/devices/cpu/levels/substitution.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

LASOLVE_DECLARE_LEVELS(Eliminations, eliminations)
LASOLVE_DECLARE_LEVELS(Substitutions, substitutions)

template <class T>
const Elimination<T>& elimination() {
  if constexpr (ComplexElement<T>)
    return complex_elimination<T>;
  else
    return *LASOLVE_AT_LEVEL_HERE(eliminations);
}
template <class T>
const Substitution<T>& substitution() {
  if constexpr (ComplexElement<T>)
    return complex_substitution<T>;
  else
    return *LASOLVE_AT_LEVEL_HERE(substitutions);
}

template <class T>
TriangleLeaf<T> as_leaf(const Triangle<T, Cpu>& tri) {
  const auto& x = tri.values;
  return {x.data(), x.row_stride(), x.col_stride(), tri.order(), tri.lower, tri.unit};
}

}  // namespace lasolve
