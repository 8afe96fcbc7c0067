// What follows from a tuning for a factorization of some size: pure functions, of which every device has the values.
#pragma once

#include <algorithm>
#include <limits>

#include "core/ceil_div.hpp"
#include "lasolve/lasolve.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {

/// Interchanges of single elements cost as much as whole sectors of memory, and panels beside them wait for memory twice as
/// long; but in small matrices, which stay in the cache, they go unnoticed. `can`: whether the device has room for it.
inline bool interchanges_L_at_the_end(const Tuning& t, std::int64_t n, bool can) {
  return n >= t.lu_interchange_L_late_from && can;
}

/// How many columns at the end of an LU have a queue of their own, of the lowest rank, where panels are the bottleneck: what they
/// need would else hold up the columns that are wanted sooner. In fp32 that gains nothing. This queue reads rows of L while the
/// bulk goes on, so they must not be interchanged before the end (`late`).
inline std::int64_t lu_far_columns(const Tuning& t, Precision storage, std::int64_t n, bool late) {
  if (n < t.lu_far_from || !late) return 0;
  return storage == Precision::fp64 ? t.lu_far_columns_fp64 : t.lu_far_columns_fp32;
}

/// A leaf solves all of its rows in the kernel that factors its diagonal, which is the shortest way, but takes a
/// multiprocessor for 32 of them.
inline std::int64_t most_rows_of_a_leaf(const Tuning& t, std::int64_t multiprocessors) {
  return 32 * (multiprocessors + t.cholesky_leaf_multiprocessors);
}

/// How the panels of a left-looking Cholesky share a device with the products beside them.
struct CholeskyLimits {
  std::int64_t leaf_rows = 0, product_binds = 0, rows_apart = 0, work_apart = 0;

  /// Whether, at column j, the large product takes longer than the panel beside it.
  constexpr bool products_bind(std::int64_t j, std::int64_t n) const {
    return double(j) * double(n - j) > double(product_binds);
  }
  /// Whether the rows of a panel that begins with column j go apart from the block on its diagonal: where a leaf would not
  /// solve them, or where the time of the multiprocessors that it takes is short.
  constexpr bool rows_go_apart(std::int64_t j, std::int64_t n) const {
    const bool short_of_time = n - j > rows_apart && double(j) * double(n - j) > double(work_apart);
    return n - j > leaf_rows || products_bind(j, n) || short_of_time;
  }
  bool operator==(const CholeskyLimits&) const = default;
};
inline CholeskyLimits cholesky_limits(const Tuning& t, Precision storage, std::int64_t multiprocessors) {
  const bool fp64 = storage == Precision::fp64;
  return {.leaf_rows = most_rows_of_a_leaf(t, multiprocessors),
          .product_binds = t.cholesky_product_binds,
          .rows_apart = fp64 ? std::numeric_limits<std::int64_t>::max() : t.cholesky_rows_apart_fp32,
          .work_apart = t.cholesky_work_apart_fp32};
}

/// Whether a product within a panel, C ← C − L L1ᵀ with C m × n and k columns of L, is one for a kernel of its own, which
/// multiplies in fp64. In fp64, where cuBLAS's products need no conversions, only the smallest are, and none of those of rows
/// that go apart. In fp32 none are where fp64 is slow: on cards that have it for compatibility only, it takes 64 times as long.
inline bool is_narrow_update(const Tuning& t, Precision storage, std::int64_t fp32_per_fp64, std::int64_t m,
                             std::int64_t n, std::int64_t k, bool below_diagonal) {
  const bool few = n <= t.cholesky_narrow_columns && k <= t.cholesky_narrow_columns;
  if (storage != Precision::fp64) return few && fp32_per_fp64 <= t.cholesky_narrow_fp32_per_fp64;
  return few && !below_diagonal && m * n * k <= t.cholesky_narrow_work_fp64;
}

/// How triangular solves are halved. With few right-hand sides the triangle is read once from memory, whatever its order:
/// halving would gain nothing.
struct SolveLimits {
  std::int64_t few_rhs = 0, order = 0;

  /// Of a diagonal block that is not halved, at most.
  constexpr std::int64_t leaf_order(std::int64_t nrhs) const {
    return nrhs <= few_rhs ? std::numeric_limits<std::int64_t>::max() : order;
  }
  bool operator==(const SolveLimits&) const = default;
};
constexpr SolveLimits solve_limits(const Tuning& t) { return {t.solve_few_rhs, t.solve_order}; }

// The same for a queue, whose device says the rest.

/// The widest block column whose update may compute all of the block on its diagonal.
template <class Space>
std::int64_t diagonal_update_columns(const Queue<Space>& q) {
  return q.tuning().cholesky_diagonal_update;
}
/// Columns of a symmetric update that is not halved, but computed whole.
template <class Space>
std::int64_t symmetric_update_columns(const Queue<Space>& q) {
  return q.tuning().symmetric_update;
}

}  // namespace lasolve
