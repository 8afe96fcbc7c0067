// Packing: operands copied into scratch memory for the copy engine. A row of op(A) or a column of op(B) is then
// contiguous along k and starts at a multiple of 16 bytes.
#pragma once

#include "core/cuda/launch.cuh"
#include "gemm/cuda/common/tile.cuh"

namespace lasolve {

/// X: (rows, k) is op(A), or op(B) transposed. `to` holds `ld` elements a row.
template <class In>
struct Packing {
  Operand<In, Cuda> X;
  In* to;
  std::int64_t ld;
};

constexpr int pack_rows = 32, pack_depth = 64, pack_threads = 256;

template <class In>
__global__ void __launch_bounds__(pack_threads) pack_kernel(Packing<In> a, Packing<In> b, unsigned blocks_of_a) {
  const auto p = blockIdx.x < blocks_of_a ? a : b;
  const std::int64_t first_row =
      std::int64_t(blockIdx.x < blocks_of_a ? blockIdx.x : blockIdx.x - blocks_of_a) * pack_rows;
  __shared__ In tile[pack_depth][pack_rows + 1];
  const int t = threadIdx.x, minor = t % 32, major = t / 32;
  const bool rows_contiguous = p.X.row_stride() == 1;  // reads are coalesced whichever way X lies
  for (std::int64_t l = 0; l < p.X.cols(); l += pack_depth) {
    In elements[8];
    const auto for_each = [&](auto f) {
#pragma unroll
      for (int x = 0; x < 8; ++x)
        f(elements[x], rows_contiguous ? minor : major + 8 * (x % 4),
          rows_contiguous ? major + 8 * x : minor + x / 4 * 32);
    };
    for_each([&](In& v, int row, int k) {
      const bool is_there = first_row + row < p.X.rows() && l + k < p.X.cols();
      v = is_there ? element(p.X, first_row + row, l + k) : In(0.0f);
    });
    for_each([&](In v, int row, int k) { tile[k][row] = v; });
    __syncthreads();
    for (int row = major; row < pack_rows && first_row + row < p.X.rows(); row += pack_threads / 32)
      for (int k = 2 * minor; k < 2 * minor + 2; ++k)
        if (l + k < p.X.cols()) p.to[(first_row + row) * p.ld + l + k] = tile[k][row];
    __syncthreads();
  }
}

template <class In>
void pack(Queue<Cuda>& q, const Packing<In>& a, const Packing<In>& b) {
  const unsigned of_a = unsigned(ceil_div(a.X.rows(), pack_rows)), of_b = unsigned(ceil_div(b.X.rows(), pack_rows));
  launch(q, pack_kernel<In>, of_a + of_b, pack_threads, a, b, of_a);
}

}  // namespace lasolve
