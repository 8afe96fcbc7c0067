// What a plan is run on.
#pragma once

#include <span>

#include "solvers/lu/pivots.hpp"
#include "solvers/plan.hpp"
#include "solvers/supply.hpp"

namespace lasolve {

/// Memory of what the tasks of a lowered plan hand to each other, beside A and the pivots.
template <class T, class Space>
struct Buffers;

template <class T, class Space>
struct Workpiece {
  const Gemm<T, Space>& gemm;
  MatrixView<T, Space> A;          // with a supply, undefined on entry
  Pivots<Space> pivots;            // of a method without interchanges `zero` alone counts: where it failed
  const Supply<T, Space>& supply;  // where the plan is of a matrix that arrives
  Buffers<T, Space>& buffers;
  Pivoting pivoting = Pivoting::none;  // of its panels
  bool is_speculative = false;         // it may be known to have failed before it begins; then A may be left as it is
  std::span<const Workpiece> cards = {};  // of a plan of several, what each works on

  MatrixView<T, Space> at(const Block& b) const { return A.block(b.i, b.j, b.m, b.n); }
};

}  // namespace lasolve
