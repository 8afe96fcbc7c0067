// Transposed copies.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "lasolve/lasolve.hpp"

namespace lasolve {

constexpr int transposed_tile = 32, transposed_rows = 8;  // threads of a block: (32, 8)

/// One tile of Y a block, through shared memory, so that reads and writes are along columns.
template <Uplo part, class T>
__global__ void transpose_tiles(MatrixView<const T, Cuda> X, MatrixView<T, Cuda> Y) {
  constexpr bool below = part == Uplo::lower, above = part == Uplo::upper;
  if ((below && blockIdx.x < blockIdx.y) || (above && blockIdx.x > blockIdx.y)) return;
  __shared__ T tile[transposed_tile][transposed_tile + 1];  // (column, row) of X
  const std::int64_t i = std::int64_t(blockIdx.x) * transposed_tile, j = std::int64_t(blockIdx.y) * transposed_tile;
  for (int k = threadIdx.y; k < transposed_tile; k += transposed_rows)
    if (j + threadIdx.x < X.rows() && i + k < X.cols())
      tile[k][threadIdx.x] = X.data()[j + threadIdx.x + (i + k) * X.ld()];
  __syncthreads();
  for (int k = threadIdx.y; k < transposed_tile; k += transposed_rows)
    if (i + threadIdx.x < Y.rows() && j + k < Y.cols() && (!below || i + threadIdx.x > j + k) &&
        (!above || i + threadIdx.x < j + k))
      Y.data()[i + threadIdx.x + (j + k) * Y.ld()] = tile[threadIdx.x][k];
}

/// Y ← Xᵀ, or only what is below the diagonal, or above it, and then X may be Y. X: n × m, Y: m × n.
template <Uplo part = Uplo::both, class T>
void transpose(Queue<Cuda>& q, MatrixView<const T, Cuda> X, MatrixView<T, Cuda> Y) {
  if (Y.empty()) return;
  const auto tiles = [](std::int64_t n) { return unsigned(ceil_div(n, transposed_tile)); };
  launch(q, transpose_tiles<part, T>, dim3(tiles(Y.rows()), tiles(Y.cols())), dim3(transposed_tile, transposed_rows), X,
         Y);
}

}  // namespace lasolve
