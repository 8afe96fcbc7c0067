// L11 of a panel of LU, packed for the kernel that solves with it. Its rows are scattered over the panel.
#pragma once

#include "solvers/places/cuda/lu/row_interchanges.cuh"
#include "solvers/places/cuda/trsm/in_registers.cuh"

namespace lasolve {

/// In tiles as in trsm/in_registers.cuh, with the unit diagonal. Tiles off the diagonal are negative. What is beyond
/// the columns of the panel is undefined.
template <class T>
struct PackedL11 {
  static constexpr int tiles = most_panel_columns / tile_order, elements = tile_start(tiles, 0);

  /// In the scratch memory of a queue: from a panel to the kernel behind it.
  static T* of(Queue<Cuda>& q) { return q.scratch<T>(elements, 1).data(); }

  /// Element (i, j) ← l, where it is in a tile that is stored.
  __device__ __forceinline__ static void store(T* packed_L11, int i, int j, T l) {
    const int q = i / tile_order, p = j / tile_order;
    if (p > q) return;
    packed_L11[tile_start(q, p) + place_in_tile(i % tile_order, j % tile_order)] = p < q ? -l : i > j ? l : T(i == j);
  }
};

/// Beyond its order k it is a unit matrix. The threads of a block do it together.
template <class T>
__device__ __forceinline__ void pad_packed_L11(T* packed_L11, int k) {
  for (int n = threadIdx.x; n < most_panel_columns * most_panel_columns; n += blockDim.x)
    if (const int i = n % most_panel_columns; i >= k) PackedL11<T>::store(packed_L11, i, n / most_panel_columns, T(0));
}

}  // namespace lasolve
