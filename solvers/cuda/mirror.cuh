// A symmetric matrix of which the upper triangle is given.
#pragma once

#include "core/cuda/check.hpp"
#include "lasolve/queue.hpp"

namespace lasolve {

constexpr int mirror_tile = 32, mirror_rows = 8;  // threads of a block: (32, 8)

/// One tile of the lower triangle a block, through shared memory, so that reads and writes are along columns.
template <class T>
__global__ void mirror_tiles(MatrixView<T, Cuda> X) {
  if (blockIdx.x < blockIdx.y) return;
  __shared__ T tile[mirror_tile][mirror_tile + 1];  // (column, row) of the upper triangle
  const std::int64_t i = std::int64_t(blockIdx.x) * mirror_tile, j = std::int64_t(blockIdx.y) * mirror_tile;
  for (int k = threadIdx.y; k < mirror_tile; k += mirror_rows)
    if (j + threadIdx.x < X.rows() && i + k < X.cols())
      tile[k][threadIdx.x] = X.data()[j + threadIdx.x + (i + k) * X.ld()];
  __syncthreads();
  for (int k = threadIdx.y; k < mirror_tile; k += mirror_rows)
    if (i + threadIdx.x < X.rows() && i + threadIdx.x > j + k)
      X.data()[i + threadIdx.x + (j + k) * X.ld()] = tile[threadIdx.x][k];
}

/// X(i, j) ← X(j, i) for i > j. X: n × n.
template <class T>
void mirror_upper(Queue<Cuda>& q, MatrixView<T, Cuda> X) {
  if (X.empty()) return;
  const unsigned tiles = unsigned((X.rows() + mirror_tile - 1) / mirror_tile);
  mirror_tiles<<<dim3(tiles, tiles), dim3(mirror_tile, mirror_rows), 0, q.stream()>>>(X);
  CUDA_CHECK_LAUNCH();
}

}  // namespace lasolve
