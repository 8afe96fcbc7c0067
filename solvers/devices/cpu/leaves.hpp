// The loops of leaves, for the instructions that this processor has.
#pragma once

#include "core/by_type.hpp"
#include "core/cpu/level.hpp"
#include "solvers/devices/cpu/levels/elimination.hpp"
#include "solvers/devices/cpu/levels/substitution.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

LASOLVE_DECLARE_LEVELS(Eliminations, eliminations)
LASOLVE_DECLARE_LEVELS(Substitutions, substitutions)

template <class T>
const Elimination<T>& elimination() {
  const Eliminations& here = *LASOLVE_AT_LEVEL_HERE(eliminations);
  return *by_type<T>(&here.f64, &here.f32);
}
template <class T>
const Substitution<T>& substitution() {
  const Substitutions& here = *LASOLVE_AT_LEVEL_HERE(substitutions);
  return *by_type<T>(&here.f64, &here.f32);
}

template <class T>
TriangleLeaf<T> as_leaf(const Triangle<T, Cpu>& tri) {
  const auto& x = tri.values;
  return {x.data(), x.row_stride(), x.col_stride(), tri.order(), tri.lower, tri.unit};
}

}  // namespace lasolve
