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
  __device__ Share share(int block) const {
    int first = 0;
    for (;; block -= lanes) {
      const int left = tiles() - first, d = depth(left), end = first + d * lanes;
      if (block < lanes) {
        const int stop = end < tiles() ? end : tiles();
        return {first + block, (stop - first - block + lanes - 1) / lanes};
      }
      first = end;
    }
  }
  int blocks() const {
    int sum = 0;
    for (int left = tiles(); left > 0; left -= depth(left) * lanes) sum += std::min(left, lanes);
    return sum;
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
