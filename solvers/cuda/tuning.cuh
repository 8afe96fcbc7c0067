// What was measured to be best on CUDA (NVIDIA H200, fp64).
#pragma once

#include "lasolve/lasolve.hpp"

namespace lasolve {

/// LU at small n waits for its panels, and narrow ones give the look-ahead more to hide behind; at large n, and in
/// Cholesky, the updates want a large k.
inline std::int64_t default_block_size(const Queue<Cuda>&, Method method, Schedule schedule, std::int64_t n) {
  if (schedule == Schedule::left_looking)
    return method == Method::cholesky ? 512 : n < 12288 ? 1024 : n < 24576 ? 2048 : 4096;
  if (method == Method::cholesky) return 1024;
  return n < 3072 ? 64 : n < 12288 ? 256 : n < 24576 ? 512 : 1024;
}

/// Towards the end panels become narrower, because there is less to do meanwhile.
inline std::int64_t cholesky_panel_columns(const Queue<Cuda>&, std::int64_t nb, std::int64_t rest) {
  return std::min(nb, std::max<std::int64_t>(256, rest / 16 / 256 * 256));
}

/// A leaf solves all of its rows in the kernel that factors its diagonal, which is the shortest way, but takes a
/// multiprocessor for 32 of them.
inline std::int64_t most_rows_of_a_leaf(const Queue<Cuda>& q) { return 32 * (q.multiprocessors() + 4); }

/// Narrow strips compute less above the diagonal; wide ones are fewer launches with a fuller last wave of tiles.
inline std::int64_t symmetric_strip_columns(const Queue<Cuda>&, std::int64_t n) { return n < 1024 ? n : 512; }

}  // namespace lasolve
