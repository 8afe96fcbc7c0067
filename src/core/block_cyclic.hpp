// A matrix in blocks that are dealt out to a grid of processes, as ScaLAPACK's are: block rows to the rows of the grid in turn, block
// columns to its columns. What a process has, it holds as one matrix, its part.
#pragma once

#include <algorithm>
#include <cstdint>

namespace lasolve {

/// One dimension of that: indices in blocks, the first of which is process 0's.
struct Dealt {
  std::int64_t length = 0, block = 1;
  int processes = 1, mine = 0;

  /// How many indices a process has.
  constexpr std::int64_t count_of(int process) const {
    const std::int64_t round = block * processes, rest = length % round - process * block;
    return length / round * block + std::clamp<std::int64_t>(rest, 0, block);
  }
  constexpr std::int64_t count() const { return count_of(mine); }
  constexpr int process_of(std::int64_t index) const { return int(index / block % processes); }
  constexpr bool has(std::int64_t index) const { return process_of(index) == mine; }
  /// Where an index stands among those of its process.
  constexpr std::int64_t place_of(std::int64_t index) const {
    return index / (block * processes) * block + index % block;
  }
  /// The index that stands there among those of this process.
  constexpr std::int64_t index_at(std::int64_t place) const {
    return (place / block * processes + mine) * block + place % block;
  }
};

/// The processes are counted row by row of their grid.
struct BlockCyclic {
  Dealt rows, cols;

  /// As a process sees it.
  constexpr BlockCyclic of(int process) const {
    BlockCyclic its = *this;
    its.rows.mine = process / cols.processes, its.cols.mine = process % cols.processes;
    return its;
  }
  constexpr int owner_of(std::int64_t i, std::int64_t j) const {
    return rows.process_of(i) * cols.processes + cols.process_of(j);
  }

  /// f(i, j, m, n, at_i, at_j) for each block of this process: m × n, from (i, j) of the matrix, at (at_i, at_j) of the part. Block
  /// column by block column, or row by row.
  template <class F>
  void for_each_block(F f, bool by_columns = true) const {
    const Dealt &outer = by_columns ? cols : rows, &inner = by_columns ? rows : cols;
    for (std::int64_t a = 0; a < outer.count(); a += outer.block)
      for (std::int64_t b = 0; b < inner.count(); b += inner.block) {
        const std::int64_t at_i = by_columns ? b : a, at_j = by_columns ? a : b;
        f(rows.index_at(at_i), cols.index_at(at_j), std::min(rows.block, rows.count() - at_i),
          std::min(cols.block, cols.count() - at_j), at_i, at_j);
      }
  }
};

}  // namespace lasolve
