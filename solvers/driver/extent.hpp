// Where a matrix lies in memory, of whichever device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lasolve/matrix.hpp"

namespace lasolve {

/// In bytes. Nowhere, if it has no elements.
struct Extent {
  std::uintptr_t first = 0, end = 0;  // of all of it, with the gaps between its columns
  std::uintptr_t column = 0;
  std::uintptr_t step = 0;  // from each column to the next; 0: there is no next

  Extent() = default;
  template <class T, class Space>
  explicit Extent(MatrixView<T, Space> M) {
    if (M.empty()) return;
    column = std::uintptr_t(M.rows()) * sizeof(T);
    if (M.cols() > 1) step = std::uintptr_t(M.ld()) * sizeof(T);
    first = reinterpret_cast<std::uintptr_t>(M.data());
    end = first + std::uintptr_t(M.cols() - 1) * step + column;
  }
};

/// Whether two matrices that lie in the same stretch of memory have an element in common. Where both have several columns, and their
/// leading dimensions differ, the answer is yes also for some that are interleaved.
[[gnu::noinline]] inline bool overlap_between_columns(const Extent& M, const Extent& N) {
  if (M.step != N.step && M.step != 0 && N.step != 0) return true;
  const std::uintptr_t step = std::max(M.step, N.step);
  if (step == 0) return true;
  const bool N_is_behind = M.first < N.first;
  const Extent &before = N_is_behind ? M : N, &behind = N_is_behind ? N : M;
  const std::uintptr_t shift =
      (behind.first - before.first) % step;  // from a column of the one to the next of the other
  return shift < before.column || step - shift < behind.column;
}

inline bool overlap(const Extent& M, const Extent& N) {
  return M.first < N.end && N.first < M.end && overlap_between_columns(M, N);
}

}  // namespace lasolve
