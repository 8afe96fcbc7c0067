// A panel of LU in registers, behind each of its sub-panels: U for the pivot rows that were found, and at the end what is left to be written.
#pragma once

#include "solvers/lu/cuda/packed_L11.cuh"
#include "solvers/lu/cuda/subpanel.cuh"

namespace lasolve {

/// What the threads of a block share. U has the pivot rows of all sub-panels but the last, in the columns behind each.
/// `staging` is for loading a sub-panel, L for the multipliers of its pivot rows.
template <class Shape, class PivotSearch>
struct PanelShared {
  using T = typename Shape::Element;
  static constexpr int W = Shape::columns, most_behind = Shape::widest - W, most = most_behind > 0 ? most_behind : 1;
  alignas(16) T U[most][most + 4];  // U[p][c] = U(p, W + c)
  union {
    alignas(16) T staging[most_behind > 0 ? Shape::warps : 1][32][Shape::part];  // by SubPanel::tiles_to_rows
    alignas(16) T L[W][most + 4];  // L[p][c] = L(k + p, c), of the sub-panel from k on
  };
  int row_of[most_panel_columns];  // where the pivots are
  SubPanelShared<Shape, PivotSearch> sub_panel;
};

/// Copies the pivot rows of the sub-panel from column k on to s.L and s.U, but for U in that sub-panel. They are
/// scattered, and each element costs a sector of memory. So blocks that can write into each other's shared memory read
/// a part each, and send it to all. Memory has A as it was at the beginning, but for L. `L11`: that of the sub-panel is there, too.
template <class Shape, bool L11 = true, class Shared>
__device__ __forceinline__ void gather_pivot_rows(Shared& s, MatrixView<typename Shape::Element, Cuda> A, int k) {
  using T = typename Shape::Element;
  constexpr int W = Shape::columns, rows_at_once = Shape::threads / Shape::widest,
                batch = decltype(s.sub_panel.search)::shares_memory ? 4 / rows_at_once : 8;
  const int c = threadIdx.x % Shape::widest, last = int(A.cols()) - 1,
            sharing = int(s.sub_panel.search.sharing_blocks());
  const int rows = W / sharing, first = sharing > 1 ? int(blockIdx.x) * rows : 0;  // powers of two
  const bool wanted = c < k + W + (last - k) / W * W && (L11 || c < k || c >= k + W);
  const T* from = A.data() + min(c, last) * A.ld();
#pragma unroll 1
  for (int p0 = threadIdx.x / Shape::widest; p0 < rows; p0 += batch * rows_at_once) {
    T x[batch];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (const int p = p0 + i * rows_at_once; wanted && p < rows) x[i] = from[s.sub_panel.records[first + p].row];
#pragma unroll
    for (int i = 0; i < batch; ++i)
      if (const int p = first + p0 + i * rows_at_once; wanted && p < first + rows)
        s.sub_panel.search.store_in_all(c < k + W ? &s.L[p][c] : &s.U[k + p][c - W], x[i]);
  }
  s.sub_panel.search.barrier_of_sharing_blocks();
}

/// U ← inv(L11) (C − L10 U0) in the columns behind a sub-panel that was just factored, for its pivot rows, which were gathered. Columns
/// k … k + W − 1 of A are the sub-panel, L10 is those to their left, U0 the rows above U. Each block stores a part of the packed L11.
template <class Shape, class Shared>
__device__ __forceinline__ void solve_behind(Shared& s, MatrixView<typename Shape::Element, Cuda> A, int k,
                                             typename Shape::Element* packed_L11) {
  using T = typename Shape::Element;
  constexpr int W = Shape::columns, columns_at_once = Shape::threads / W;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4, last = int(A.cols()) - 1;
  const int behind = (last - k) / W * W;  // columns, with those that fill up the last sub-panel
  const int p = threadIdx.x % W, first = columns_at_once * int(blockIdx.x) + int(threadIdx.x) / W;
  for (int j = first; j < k + W; j += columns_at_once * int(gridDim.x))
    PackedL11<T>::store(packed_L11, k + p, j, s.L[p][j]);
  if (k > 0) {  // a warp makes W × 8 of the product at a time
    for (int c = 8 * warp; c < behind; c += 8 * Shape::warps) {
      double sum[W / 16][4] = {};
#pragma unroll 2
      for (int q = t; q < k; q += 8) {
        const double b[2] = {s.U[q][k + c + g], s.U[q + 4][k + c + g]};
#pragma unroll
        for (int i = 0; i < W / 16; ++i) {
          const int row = 16 * i + g;
          const double a[4] = {s.L[row][q], s.L[row + 8][q], s.L[row][q + 4], s.L[row + 8][q + 4]};
          multiply_tile(sum[i], a, b, sum[i]);
        }
      }
#pragma unroll
      for (int i = 0; i < W / 16; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) s.U[k + 16 * i + 8 * (e / 2) + g][k + c + 2 * t + e % 2] -= T(sum[i][e]);
    }
    __syncthreads();
  }
  if (const int c = threadIdx.x; c < behind) {  // a thread solves a column
    T x[W];
#pragma unroll
    for (int i = 0; i < W; ++i) x[i] = s.U[k + i][k + c];
#pragma unroll 1
    for (int q = 0; q < W;
         q += 8) {  // code that is run once is fetched: so x is shifted, for the same code to be run again
      T u[8];
      const auto subtract = [&](T & y, int i, int count) __attribute__((always_inline)) {
#pragma unroll
        for (int e0 = 0; e0 < count; e0 += Chunk<T>::size) {
          const auto chunk = *reinterpret_cast<const Chunk<T>*>(&s.L[q + i][k + q + e0]);
#pragma unroll
          for (int e = 0; e < Chunk<T>::size; ++e)
            if (e0 + e < count) y = fma(-chunk.values[e], u[e0 + e], y);
        }
      };
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        u[i] = x[i];
        subtract(u[i], i, i);
        s.U[k + q + i][k + c] = u[i];
      }
#pragma unroll
      for (int i0 = 8; i0 < W; i0 += 8)
        if (q + i0 < W)
#pragma unroll
          for (int i = i0; i < i0 + 8; ++i) subtract(x[i - 8] = x[i], i, 8);
    }
  }
  __syncthreads();
}

/// At the end: U of the rows that this block has in the columns behind their sub-panels, and the packed L11 of those of the last.
template <class Shape, class Shared, class Has>
__device__ __forceinline__ void write_pivot_rows(const Shared& s, MatrixView<typename Shape::Element, Cuda> A,
                                                 typename Shape::Element* packed_L11, Has has) {
  using T = typename Shape::Element;
  constexpr int W = Shape::columns;
  const int n = int(A.cols());
  for (int p = int(threadIdx.x) / 32; p < n; p += Shape::warps) {
    if (!has(s.row_of[p])) continue;
    if (p >= (n - 1) / W * W) {  // in the last sub-panel
      T l[Shape::widest / 32];
#pragma unroll
      for (int i = 0; i < Shape::widest / 32; ++i)
        if (const int c = 32 * i + int(threadIdx.x) % 32; c < p) l[i] = A.data()[s.row_of[p] + c * A.ld()];
#pragma unroll
      for (int i = 0; i < Shape::widest / 32; ++i)
        if (const int c = 32 * i + int(threadIdx.x) % 32; c < p + tile_order)
          PackedL11<T>::store(packed_L11, p, c, l[i]);
    }
    for (int c = (p / W + 1) * W + int(threadIdx.x) % 32; c < n; c += 32)
      A.data()[s.row_of[p] + c * A.ld()] = s.U[p][c - W];
  }
}

}  // namespace lasolve
