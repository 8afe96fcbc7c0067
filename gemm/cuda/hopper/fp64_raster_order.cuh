// Which block computes which tiles of C, and when.
#pragma once

#include <algorithm>

namespace lasolve::tensor_f64 {

/// Tiles of C in the order in which they are computed: down `group` rows of tiles, then one column on. `lanes` blocks run at
/// a time, and are given fewer and fewer tiles: a block that has several brings the next while it computes one, and those
/// that have one come last and make the load even. None has so many that a kernel of higher priority, such as the next
/// panel's, waits long for its place.
struct Order {
  int down, across, lanes, rounds, most, group;

  struct Share {
    int first, count;
  };
  __host__ __device__ int tiles() const { return down * across; }
  /// How many tiles the blocks have for which `left` are left.
  __host__ __device__ int depth(int left) const {
    const int fair = left / (rounds * lanes);
    return fair < 1 ? 1 : fair < most ? fair : most;
  }
  /// Rounds at the beginning in which each block has the most.
  __host__ __device__ int full_rounds() const {
    const int enough = most * rounds * lanes;
    return most == 1 || tiles() < enough ? 0 : (tiles() - enough) / (most * lanes) + 1;
  }
  /// Every block asks, so rounds that are alike are not walked one by one.
  __device__ Share share(int block) const {
    const int full = full_rounds(), round = block / lanes;
    if (round < full) return {round * most * lanes + block % lanes, most};
    block -= full * lanes;
    for (int first = full * most * lanes;; block -= lanes) {
      const int d = depth(tiles() - first);
      if (d == 1) return {first + block, 1};
      if (block < lanes) return {first + block, d};
      first += d * lanes;
    }
  }
  int blocks() const {
    const int full = full_rounds();
    int sum = full * lanes, left = tiles() - full * most * lanes;
    for (int d; (d = depth(left)) > 1; left -= d * lanes) sum += lanes;
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
