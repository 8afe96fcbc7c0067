// L11 of a panel of LU, packed for the kernel that solves with it. Its rows are scattered over the panel.
#pragma once

#include "solvers/devices/cuda/trsm/in_registers.cuh"
#include "solvers/execute.hpp"
#include "solvers/lu/cuda/row_interchanges.cuh"

namespace lasolve {

/// In tiles as in trsm/in_registers.cuh, with the unit diagonal. Tiles off the diagonal are negative. What is beyond
/// the columns of the panel is undefined.
template <class T>
struct PackedL11 {
  static constexpr int tiles = most_panel_columns / tile_order, elements = tile_start(tiles, 0);

  /// Element (i, j) ← l, where it is in a tile that is stored.
  __device__ __forceinline__ static void store(T* packed_L11, int i, int j, T l) {
    const int q = i / tile_order, p = j / tile_order;
    if (p > q) return;
    packed_L11[tile_start(q, p) + place_in_tile(i % tile_order, j % tile_order)] = p < q ? -l : i > j ? l : T(i == j);
  }
};

/// A panel that a kernel factors without moving its rows, and what it writes beside it: its interchanges, and L11 for the
/// kernel that solves with it.
template <class T>
struct PanelInPlace {
  MatrixView<T, Cuda> A;
  Pivots<Cuda> pivots;
  T* packed_L11;
};

/// Beyond its order k it is a unit matrix. The threads of a block do it together.
template <class T>
__device__ __forceinline__ void pad_packed_L11(T* packed_L11, int k) {
  for (int n = threadIdx.x; n < most_panel_columns * most_panel_columns; n += blockDim.x)
    if (const int i = n % most_panel_columns; i >= k) PackedL11<T>::store(packed_L11, i, n / most_panel_columns, T(0));
}

/// What a plan that leaves panels in place hands on.
template <class T>
struct Buffers<T, Cuda> {
  explicit Buffers(const Plan& plan) {
    const auto stays = [](const Task& task) { return task.is(lu_task::panel_in_place); };
    if (std::any_of(plan.tasks.begin(), plan.tasks.end(), stays))
      packed_L11 = Matrix<T, Cuda>(PackedL11<T>::elements, 1);
  }

  Matrix<T, Cuda> packed_L11;
};
template <class T>
void send_handed_on(Queue<Cuda>& q, const Buffers<T, Cuda>& from, Buffers<T, Cuda>& to) {
  copy_from_card<T>(q, from.packed_L11.view(), to.packed_L11.view());
}

}  // namespace lasolve
