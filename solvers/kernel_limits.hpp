// What one kernel of solvers/devices/cuda takes at most, by the device that it runs on: as far as plans depend on it. No CUDA is needed
// to read this. The kernels are built with these numbers, or compared with them where they are compiled.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/ceil_div.hpp"
#include "core/device_properties.hpp"
#include "lasolve/precision.hpp"
#include "lasolve/tuning.hpp"

namespace lasolve {

/// Columns of a panel of LU, and of those that a look-ahead update brings up to date.
constexpr int most_panel_columns = 128;
/// Columns of a panel of LU that has more rows than registers hold: a lane of a warp has an entry of a row.
constexpr int tall_panel_columns = 32;
/// Row interchanges that are combined into one permutation: a thread of one block has each.
constexpr int most_combined = 1024;
/// Blocks that wait for each other in a grid, and in a thread-block cluster.
constexpr int most_grid_blocks = 256, most_cluster_blocks = 16;
/// Rows of a panel of LU that the registers of a block hold.
constexpr int most_panel_rows_of_a_block = 1024;
/// Rows of a column that a block holds while all rows of L are interchanged: so many a thread, in so many threads.
constexpr int rows_to_gather = 16, threads_to_gather = 1024;
/// Order of a triangle that is solved with in the registers of warps.
constexpr std::int64_t most_in_registers_order = 128;
/// Columns of a step of a Cholesky leaf, which has one or two.
constexpr int cholesky_step = 64;

/// Bytes of shared memory that a block asks for: of a panel of most_panel_columns, and of a Cholesky leaf of two steps. Those of half as
/// many columns need at most least_shared_memory.
constexpr std::size_t shared_memory_of_widest_panel(Precision storage) {
  return storage == Precision::fp64 ? 162656 : 83296;
}
constexpr std::size_t shared_memory_of_widest_leaf(Precision storage) {
  return storage == Precision::fp64 ? 182800 : 177168;
}

/// How many columns a panel of LU can have: fewer where blocks have little shared memory.
constexpr int widest_panel(const DeviceProperties& device, Precision storage) {
  const bool has_room = device.shared_memory >= shared_memory_of_widest_panel(storage);
  return has_room ? most_panel_columns : most_panel_columns / 2;
}
/// How many steps a Cholesky leaf has: two where a block has the shared memory for them.
constexpr int cholesky_leaf_steps(const DeviceProperties& device, Precision storage) {
  return device.shared_memory >= shared_memory_of_widest_leaf(storage) ? 2 : 1;
}
/// The rows of a panel of LU that the registers of a grid hold.
inline std::int64_t most_rows_in_registers(const DeviceProperties& device) {
  return most_panel_rows_of_a_block * std::int64_t(std::min(device.cooperative_blocks(), most_grid_blocks));
}
/// The blocks of a cluster that holds a column of n rows.
constexpr std::int64_t blocks_to_gather(std::int64_t n) {
  return ceil_div(n, std::int64_t(rows_to_gather) * threads_to_gather);
}
/// Whether a device has clusters that hold a column of n rows. A real one may still have no room for one, where its groups of
/// multiprocessors have lost some, or are shared out.
inline bool may_gather_rows(const DeviceProperties& device, std::int64_t n) {
  return device.has_clusters_of(most_cluster_blocks) && blocks_to_gather(n) <= device.largest_cluster;
}

}  // namespace lasolve
