// The raster order: which block computes which tiles of C, and when.
#pragma once

#include <algorithm>

namespace lasolve::tensor_f64 {

/// Tiles of C in raster order: down `group` rows of tiles, then one column on. `blocks_at_a_time` blocks run at a time,
/// and get fewer and fewer tiles. A block that has several brings the next one while it computes one. Those that have
/// one come last and make the load even. No block has so many that a kernel of higher priority, such as the next panel,
/// waits long for its multiprocessor.
struct Order {
  int down, across, blocks_at_a_time, rounds, most, group;

  struct Share {
    int first, count;
  };
  __host__ __device__ int tiles() const { return down * across; }
  /// How many tiles the blocks have for which `left` are left.
  __host__ __device__ int depth(int left) const {
    const int fair = left / (rounds * blocks_at_a_time);
    return fair < 1 ? 1 : fair < most ? fair : most;
  }
  /// Rounds at the beginning in which each block has the most.
  __host__ __device__ int full_rounds() const {
    const int enough = most * rounds * blocks_at_a_time;
    return most == 1 || tiles() < enough ? 0 : (tiles() - enough) / (most * blocks_at_a_time) + 1;
  }
  /// Every block asks, so rounds that are alike are not walked one by one.
  __device__ Share share(int block) const {
    const int full = full_rounds(), round = block / blocks_at_a_time;
    if (round < full) return {round * most * blocks_at_a_time + block % blocks_at_a_time, most};
    block -= full * blocks_at_a_time;
    for (int first = full * most * blocks_at_a_time;; block -= blocks_at_a_time) {
      const int d = depth(tiles() - first);
      if (d == 1) return {first + block, 1};
      if (block < blocks_at_a_time) return {first + block, d};
      first += d * blocks_at_a_time;
    }
  }
  int blocks() const {
    const int full = full_rounds();
    int sum = full * blocks_at_a_time, left = tiles() - full * most * blocks_at_a_time;
    for (int d; (d = depth(left)) > 1; left -= d * blocks_at_a_time) sum += blocks_at_a_time;
    return sum + left;
  }
  struct Tile {
    int i, j;
  };
  __device__ Tile tile(int t) const {
    const int whole = group * across, g = t / whole, rest = t - g * whole;
    const int rows = g * group + group <= down ? group : down - g * group;
    return {g * group + rest % rows, rest / rows};
  }
};

}  // namespace lasolve::tensor_f64
