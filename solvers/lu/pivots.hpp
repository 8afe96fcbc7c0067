// What every device's LU shares, P A = L U: where the interchanges are.
#pragma once

#include "solvers/flops.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// What a device works out of the interchanges of n rows, in n rows of `columns` integers that its constructor is given.
/// block(i): the same from row i on.
template <class Space>
struct Interchanges;

/// The row interchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1.
template <class Space>
struct Pivots {
  MatrixView<std::int64_t, Space> p, zero;
  Interchanges<Space> interchanges;
  std::int64_t start = 0;

  /// In the columns of `memory`, n × columns.
  static constexpr std::int64_t columns = 1 + Interchanges<Space>::columns;
  static Pivots in(MatrixView<std::int64_t, Space> memory, MatrixView<std::int64_t, Space> zero) {
    return {memory.columns(0, 1), zero, Interchanges<Space>(memory.columns(1, Interchanges<Space>::columns))};
  }
  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const {
    return {p.block(i, 0, n, 1), zero, interchanges.block(i), start + i};
  }
};

template <class Space>
inline constexpr const Pivots<Space>* no_pivots = nullptr;

}  // namespace lasolve
