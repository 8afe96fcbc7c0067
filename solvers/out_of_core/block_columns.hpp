// A matrix in block columns on the host, each in memory of its own, which a device reads and writes by itself where that can be had.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "core/page_locked.hpp"
#include "solvers/out_of_core/stream.hpp"

namespace lasolve {

/// The block columns of n columns, of `columns` each but for the last.
inline std::vector<Range> block_columns(std::int64_t n, std::int64_t columns) {
  std::vector<Range> all;
  for (std::int64_t j = 0; j < n; j += columns) all.push_back({j, std::min(n, j + columns)});
  return all;
}

/// Slices of a block column: from the left to the right, of `columns` each but for the last, with rows that rows_of(columns) says.
template <class RowsOf>
void add_slices(std::vector<Slice>& to, std::size_t block, Range of, std::int64_t columns, RowsOf rows_of) {
  for (std::int64_t j = of.begin; j < of.end; j += columns) {
    const Range c{j, std::min(of.end, j + columns)};
    to.push_back({block, rows_of(c), c});
  }
}

template <class F, class Space>
class BlockColumns {
 public:
  BlockColumns(std::int64_t n, std::vector<Range> columns) : columns_(std::move(columns)) {
    for (const Range own : columns_) memory_.emplace_back(n, own.count());
  }

  /// To be called on the device. It takes as long as the kernel takes to clear the pages, so that several threads do it.
  void lock_pages() {
    constexpr int most_threads = 8;
    locked_ = std::vector<PageLocked<Space>>(memory_.size());
    std::atomic<std::size_t> next = 0;
    const int device = PageLocked<Space>::device();
    on_each_card(std::min(most_threads, int(memory_.size())), [&](int) {
      for (std::size_t b = next++; b < memory_.size(); b = next++)
        locked_[b] = PageLocked<Space>(memory_[b].data(), memory_[b].bytes(), device);
    });
  }

  std::size_t count() const { return columns_.size(); }
  Range columns(std::size_t block) const { return columns_[block]; }
  MatrixView<F> view(std::size_t block) { return memory_[block].view(); }
  MatrixView<const F> at(const Slice& s) const {
    const Range own = columns_[s.block];
    return memory_[s.block].view().block(s.rows.begin, s.columns.begin - own.begin, s.rows.count(), s.columns.count());
  }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (const auto& its : memory_) all += its.bytes();
    return all;
  }

 private:
  const std::vector<Range> columns_;
  std::vector<Matrix<F>> memory_;
  std::vector<PageLocked<Space>> locked_;  // ends before the memory does
};

}  // namespace lasolve
