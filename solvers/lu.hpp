// What every place's LU shares, P A = L U with partial pivoting: where the interchanges are.
#pragma once

#include "solvers/flops.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// What a place works out of the interchanges of n rows, in n rows of `columns` integers that its constructor is given.
/// block(i): the same from row i on.
template <class Place>
struct Interchanges;

/// The row interchanges of steps start, start + 1, …: at step start + i, row start + i changed places with row p(i, 0).
/// `zero` is 1 × 1: the first column whose pivot is exactly zero, or −1.
template <class Place>
struct Pivots {
  MatrixView<std::int64_t, Place> p, zero;
  Interchanges<Place> interchanges;
  std::int64_t start = 0;

  /// In the columns of `memory`, n × columns.
  static constexpr std::int64_t columns = 1 + Interchanges<Place>::columns;
  static Pivots in(MatrixView<std::int64_t, Place> memory, MatrixView<std::int64_t, Place> zero) {
    return {memory.columns(0, 1), zero, Interchanges<Place>(memory.columns(1, Interchanges<Place>::columns))};
  }
  constexpr std::int64_t count() const { return p.rows(); }
  Pivots block(std::int64_t i, std::int64_t n) const {
    return {p.block(i, 0, n, 1), zero, interchanges.block(i), start + i};
  }
};

}  // namespace lasolve
