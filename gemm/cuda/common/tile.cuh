// What the plain kernels share: which tile of C a block owns, and how an element of op(X) is reached.
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/launch.cuh"
#include "gemm/cuda/common/raster_order.cuh"
#include "lasolve/gemm.hpp"

namespace lasolve {

/// A grid of one block for each BM × BN tile of C. One-dimensional, because the other dimensions stop at 65535.
template <class T>
unsigned tiles_of(MatrixView<T, Cuda> C, std::int64_t BM, std::int64_t BN) {
  return unsigned(ceil_div(C.rows(), BM) * ceil_div(C.cols(), BN));
}

/// First row and column of this block's tile.
struct TileOrigin {
  std::int64_t i, j;
};
template <class T>
__device__ TileOrigin tile_origin(MatrixView<T, Cuda> C, std::int64_t BM, std::int64_t BN) {
  const std::int64_t down = ceil_div(C.rows(), BM);
  return {blockIdx.x % down * BM, blockIdx.x / down * BN};
}

/// The tile of this block in raster order, in groups of 16 rows of tiles.
template <class T>
__device__ TileOrigin origin_in_raster_order(MatrixView<T, Cuda> C, int BM, int BN) {
  constexpr unsigned group = 16;
  const unsigned down = unsigned(ceil_div(C.rows(), BM)), across = unsigned(ceil_div(C.cols(), BN));
  return {std::int64_t(row_in_raster_order(blockIdx.x, down, across, group)) * BM,
          std::int64_t(column_in_raster_order(blockIdx.x, down, across, group)) * BN};
}

/// f.operator()<op_a, op_b>(): a kernel is made for each pair, and which is needed is known when it runs.
template <class F>
auto with_ops(Op op_a, Op op_b, F f) {
  if (op_a == Op::none)
    return op_b == Op::none ? f.template operator()<Op::none, Op::none>()
                            : f.template operator()<Op::none, Op::transpose>();
  return op_b == Op::none ? f.template operator()<Op::transpose, Op::none>()
                          : f.template operator()<Op::transpose, Op::transpose>();
}

/// Element (i, j) of op(X).
template <class T>
__device__ T element(Operand<T, Cuda> X, std::int64_t i, std::int64_t j) {
  return X.data()[i * X.row_stride() + j * X.col_stride()];
}

/// C(i, j) ← α·sum + β·C(i, j), where β = 0 does not read C.
template <class T>
__device__ void update(MatrixView<T, Cuda> C, std::int64_t i, std::int64_t j, T alpha, T sum, T beta) {
  T& c = C.data()[i + j * C.ld()];
  c = beta == T(0) ? alpha * sum : alpha * sum + beta * c;
}

/// Brings a tile of C to L2.
template <class T>
__device__ void prefetch(MatrixView<T, Cuda> C, TileOrigin origin, int BM, int BN) {
  constexpr int line = 128 / sizeof(T);
  for (int x = threadIdx.x; x < BM / line * BN; x += blockDim.x) {
    const std::int64_t i = origin.i + x % (BM / line) * line, j = origin.j + x / (BM / line);
    if (i < C.rows() && j < C.cols()) asm volatile("prefetch.global.L2 [%0];" ::"l"(C.data() + i + j * C.ld()));
  }
}

}  // namespace lasolve
