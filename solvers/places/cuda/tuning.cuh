// What was measured to be best on CUDA (NVIDIA H200, fp64).
#pragma once

#include "core/ceil_div.hpp"
#include "lasolve/lasolve.hpp"
#include "solvers/lu_right_looking.hpp"
#include "solvers/places/cuda/lu/row_interchanges.cuh"

namespace lasolve {

/// Cholesky goes left-looking: products with a large k are faster than block columns of symmetric rank-k updates.
inline Schedule default_schedule(const Queue<Cuda>&, Method method) {
  return method == Method::cholesky ? Schedule::left_looking : Schedule::right_looking;
}

/// Where the card is bound by its power, wide block columns: 12 tiles of 128, which cuBLAS then takes, and of which as
/// many rows as columns are on the device at once. With 256 or 1024 columns it often takes smaller tiles. In fp32 it
/// has a kernel for narrow products that leaves room for the panels.
inline std::int64_t left_looking_cholesky_columns(Precision precision, std::int64_t n) {
  return n < 24576 || precision == Precision::fp32 ? 256 : 1536;
}

/// Where panels are the bottleneck, in LU and left-looking Cholesky at small n, narrow ones are done sooner. At large
/// n, and in a right-looking Cholesky, the updates want a large k.
inline std::int64_t default_block_size(const Queue<Cuda>&, Method method, Schedule schedule, Precision precision,
                                       std::int64_t n) {
  if (method == Method::cholesky)
    return schedule == Schedule::left_looking ? left_looking_cholesky_columns(precision, n) : 1024;
  if (schedule == Schedule::left_looking) return n < 12288 ? 1024 : n < 24576 ? 2048 : 4096;
  return n < 3072 ? 128 : n < 12288 ? 768 : n < 24576 ? 1024 : 2048;
}

/// Whether panels of LU are the bottleneck when so many columns are left: towards the end, and in small matrices.
constexpr bool panels_are_the_bottleneck(std::int64_t left) { return left <= 8192; }

/// Where panels are the bottleneck, steps are short. The trailing update has nothing to do until the first panel is
/// factored. So in a large matrix that one is narrower; but not in fp32, where products with a smaller k are slower.
/// Where panels are hidden, wide ones give the updates a large k. Each is one step, because its inner products have a
/// larger k than those of near columns. Nothing hides the first panel, so panels begin narrow: each has at most twice
/// as many columns as all before it.
template <class T>
LuWidths lu_widths(const Queue<Cuda>&, std::int64_t nb, std::int64_t j, std::int64_t n) {
  constexpr std::int64_t one_kernel = 128;
  const std::int64_t widest = sizeof(T) == 8 && j == 0 && n > 6144 ? 384 : 768;
  if (panels_are_the_bottleneck(n - j)) return {std::min(nb, widest), std::min(nb, one_kernel)};
  const std::int64_t first = round_up(n / 64, one_kernel), panel = std::min(nb, std::max(first, 2 * j));
  return {panel, panel};
}

/// Where panels are the bottleneck, the columns that become a panel soon go through all of an update apart, not only
/// first through its product. Where these are 128 they are too few to be worth launches of their own.
inline bool solves_soon_first(const Queue<Cuda>&, std::int64_t panel, std::int64_t left) {
  return panel > 128 && panels_are_the_bottleneck(left);
}

/// A step that is a phase of its own costs the chain of steps some microseconds: not where panels are the bottleneck.
inline bool steps_are_phases(const Queue<Cuda>&, Method method, std::int64_t left) {
  return method == Method::cholesky ? left > 8192 : !panels_are_the_bottleneck(left);
}

/// Interchanges of single elements cost as much as whole sectors of memory, and panels beside them wait for memory
/// twice as long. In small matrices, which stay in the cache, they go unnoticed.
inline bool swaps_L_at_the_end(const Queue<Cuda>& q, std::int64_t n) {
  return q.has_clusters() && n > 4096 && can_gather_rows(q, n);
}

/// How many columns at the end of an LU have a queue of their own, of the lowest priority, where panels are the
/// bottleneck. Their updates would else hold up the columns that are needed sooner. In fp32 that gains nothing. This
/// queue reads rows of L while the trailing update goes on, so they must not be interchanged before the end.
template <class T>
std::int64_t lu_far_columns(const Queue<Cuda>& q, std::int64_t n) {
  return sizeof(T) == 8 && n > 7168 && swaps_L_at_the_end(q, n) ? 2048 : 0;
}

/// Towards the end the panels of a right-looking Cholesky become narrower, because there is less to do meanwhile.
inline std::int64_t cholesky_panel_columns(const Queue<Cuda>&, std::int64_t nb, std::int64_t rest) {
  return std::min(nb, std::max<std::int64_t>(256, rest / 16 / 256 * 256));
}

/// A leaf solves all of its rows in the kernel that factors its diagonal, which is the shortest way, but takes a
/// multiprocessor for 32 of them.
inline std::int64_t most_rows_of_a_leaf(const Queue<Cuda>& q) { return 32 * (q.multiprocessors() + 4); }

/// Whether in a left-looking Cholesky, at column j, the large product takes longer than the panel beside it.
inline bool cholesky_products_bind(const Queue<Cuda>&, std::int64_t j, std::int64_t n) {
  return double(j) * double(n - j) > 5e6;
}

/// Whether the rows of a panel that begins with column j go apart from the diagonal block. They do where a leaf would
/// not solve them, or where the time of the multiprocessors that it takes is short.
template <class T>
bool cholesky_rows_apart(const Queue<Cuda>& q, std::int64_t j, std::int64_t n) {
  const bool short_of_time = sizeof(T) == 4 && n - j > 1500 && double(j) * double(n - j) > 3e6;
  return n - j > most_rows_of_a_leaf(q) || cholesky_products_bind(q, j, n) || short_of_time;
}

/// Whether a product within a panel, C ← C − L L1ᵀ with k columns of L, is one for a kernel of its own, which
/// multiplies in fp64. In fp64, where cuBLAS's products need no conversions, only the smallest are, and none of those
/// of rows that go apart. In fp32 none are where fp64 is slow: cards that have it for compatibility only take 64 times
/// as long.
template <class T>
bool is_narrow_product(const Queue<Cuda>& q, MatrixView<T, Cuda> C, std::int64_t k, bool apart) {
  const bool few = C.cols() <= 256 && k <= 256;
  if (sizeof(T) == 4) return few && q.properties().fp32_per_fp64 <= 4;
  return few && !apart && C.rows() * C.cols() * k <= 1 << 24;
}

/// How many columns a left-looking Cholesky takes at once, at column j: at most nb. Nothing hides the first panels, and
/// the last ones have less beside them. So where nb is wide, these are narrower.
inline std::int64_t cholesky_columns_at_once(const Queue<Cuda>&, std::int64_t nb, std::int64_t j, std::int64_t n) {
  if (nb <= 1024) return nb;
  const std::int64_t hidden = std::min(j, (n - j) / 8) / 256 * 256;
  return std::min(nb, std::max<std::int64_t>(256, hidden));
}
/// The widest block column whose update may compute all of the block on its diagonal.
inline std::int64_t diagonal_update_columns(const Queue<Cuda>&) { return 256; }

/// Narrow block columns compute less above the diagonal; wide ones are fewer launches with a fuller last wave of tiles.
inline std::int64_t symmetric_update_columns(const Queue<Cuda>&, std::int64_t n) { return n < 1024 ? n : 512; }

}  // namespace lasolve
