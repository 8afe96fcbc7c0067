// The raster order of `down` × `across` tiles of C: down a group of `group` rows of tiles, then to the next column of tiles. Blocks
// that run together then need few rows of A and columns of B.
// Row and column are a function each. From one that gives both, nvcc makes slightly different code of the kernels for Hopper.
#pragma once

namespace lasolve {

/// How many rows of tiles the group has that begins at row `first`. may_be_beyond: there need not be such a row.
template <bool may_be_beyond>
__device__ unsigned rows_of_group(unsigned first, unsigned down, unsigned group) {
  return !may_be_beyond || first < down ? min(group, down - first) : group;
}

/// The row of tile t. Where t may_be_beyond the last tile, it and the column may mean nothing.
template <bool may_be_beyond = false>
__device__ unsigned row_in_raster_order(unsigned t, unsigned down, unsigned across, unsigned group) {
  const unsigned first = t / (group * across) * group, within = t % (group * across);
  return first + within % rows_of_group<may_be_beyond>(first, down, group);
}
/// Its column.
template <bool may_be_beyond = false>
__device__ unsigned column_in_raster_order(unsigned t, unsigned down, unsigned across, unsigned group) {
  const unsigned first = t / (group * across) * group, within = t % (group * across);
  return within / rows_of_group<may_be_beyond>(first, down, group);
}

}  // namespace lasolve
