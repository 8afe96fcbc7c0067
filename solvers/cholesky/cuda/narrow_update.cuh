// The narrow updates within a Cholesky panel on CUDA, which are on its critical path: C ← C − L L1ᵀ. L1 are the first
// rows of L, or rows above it.
//
// Idea     A leaf's columns are few, so a general product takes as long as its latency. Here tiles are so small that
//          nearly all of them run at once. The first pieces of L are on their way to shared memory before anything
//          else. Blocks are put on the device while the kernel before ends. The code is short, because a factorization
//          fetches it anew each time. Tiles above the diagonal are left out.
// Tiles    32 × 32 of C, 16 × 16 for each of four warps; 64 × 32 in fp32 where L1 are other rows than those of L. L
//          comes in pieces of 32 columns, four of them at a time in shared memory. Products are 16 × 8 × 8 on fp64
//          tensor cores, in fp32 too. A lane's rows and columns of a tile are neighbours, so that it reads them at
//          once.
// Traffic  each row of L once for 32 columns of C, from the L2 cache.
// Expect   bound by latency: 1 µs until the first piece is there, 1 to multiply at k = 128, 1 to write; at many rows by
//          what the L2 cache gives.
// Reached  9 µs at m = 2048, n = k = 256; with hardly anything multiplied 6.6 (H200).
#pragma once

#include "core/ceil_div.hpp"
#include "core/cuda/copy_async.cuh"
#include "core/cuda/fp64_tile.cuh"
#include "core/cuda/launch.cuh"
#include "solvers/devices/cuda/tuning.cuh"

namespace lasolve {

constexpr int narrow_width = 32, narrow_depth = 32, narrow_stages = 4, narrow_threads = 128;

/// Rows of L in pieces of 32 columns, [column][row], padded so that what a warp reads at once lies in different banks.
template <class T, int n>
struct NarrowRows {
  alignas(16) T of[narrow_stages][narrow_depth][n + 32 / sizeof(T)];

  /// Fetches columns k, … of the rows from `first` on into a stage, without waiting for them; beyond L, zeros.
  __device__ void fetch(int stage, MatrixView<const T, Cuda> L, std::int64_t first, std::int64_t k) {
    constexpr int at_once = 16 / sizeof(T), high = n / at_once, wide = narrow_threads / high;
    const int r = threadIdx.x % high * at_once, column = threadIdx.x / high;
    const int there = int(max(std::int64_t(0), min(L.rows() - first - r, std::int64_t(at_once))));
    const T* const from = L.data() + (there > 0 ? first + r : 0) + (k + column) * L.ld();
#pragma unroll
    for (int c = 0; c < narrow_depth; c += wide)
      copy_async<16>(shared_address(&of[stage][c + column][r]), from + c * L.ld(), there * int(sizeof(T)));
  }
};

template <class T, int height>
struct NarrowShared {
  NarrowRows<T, height> left;
  NarrowRows<T, narrow_width> right;
};

/// Neighbours in a column, read and written at once.
template <class T, int n>
struct alignas(sizeof(T) * n < 16 ? sizeof(T) * n : 16) Neighbours {
  T of[n];
};

/// A quarter of a tile of C, for one warp, in products of 16 × 8: sum[m][w][e] is row rows·g + 2m + e/2 and column
/// columns·(2t + e%2) + w.
template <class T, int height>
struct NarrowSums {
  static constexpr int rows = height / 16, columns = narrow_width / 16;  // neighbours that a lane has
  double sum[rows / 2][columns][4] = {};

  /// sum ← sum + L L1ᵀ over 8 columns, of which this lane has those from `left` and `right` on and 4 further.
  __device__ void multiply(const T* left, const T* right) {
    constexpr int next = 4 * int(32 / sizeof(T));
    double a[rows / 2][4], b[columns][2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const auto x = *reinterpret_cast<const Neighbours<T, rows>*>(left + h * (4 * height + next));
      const auto y = *reinterpret_cast<const Neighbours<T, columns>*>(right + h * (4 * narrow_width + next));
#pragma unroll
      for (int r = 0; r < rows; ++r) a[r / 2][2 * h + r % 2] = double(x.of[r]);
#pragma unroll
      for (int w = 0; w < columns; ++w) b[w][h] = double(y.of[w]);
    }
#pragma unroll
    for (int w = 0; w < columns; ++w)
#pragma unroll
      for (int m = 0; m < rows / 2; ++m) multiply_tile(sum[m][w], a[m], b[w], sum[m][w]);
  }

  /// C ← C − sum, where C begins with this lane's first element.
  __device__ void subtract_from(T* C, std::int64_t ld, std::int64_t down, std::int64_t right) const {
    Neighbours<T, rows> old[2][columns];
    const auto each = [&](auto act) {
#pragma unroll
      for (int e = 0; e < 2; ++e)
#pragma unroll
        for (int w = 0; w < columns; ++w)
          if (columns * e + w < right) act(old[e][w], C + (columns * e + w) * ld, e, w);
    };
    const auto updated = [&](T x, int e, int w, int r) { return T(double(x) - sum[r / 2][w][r % 2 * 2 + e]); };
    if (down >= rows) {
      each([](auto& x, const T* at, int, int) { x = *reinterpret_cast<const Neighbours<T, rows>*>(at); });
      each([&](auto& x, T* at, int e, int w) {
#pragma unroll
        for (int r = 0; r < rows; ++r) x.of[r] = updated(x.of[r], e, w, r);
        *reinterpret_cast<Neighbours<T, rows>*>(at) = x;
      });
    } else {
      each([&](auto&, T* at, int e, int w) {
#pragma unroll
        for (int r = 0; r < rows; ++r)
          if (r < down) at[r] = updated(at[r], e, w, r);
      });
    }
  }
};

template <class T, int height>
__global__ void __launch_bounds__(narrow_threads, 5)
    narrow_update_kernel(MatrixView<const T, Cuda> L, MatrixView<const T, Cuda> L1, bool below_diagonal,
                         MatrixView<T, Cuda> C) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<NarrowShared<T, height>*>(memory);
  using Sums = NarrowSums<T, height>;
  const std::int64_t i0 = std::int64_t(blockIdx.x) * height, j0 = std::int64_t(blockIdx.y) * narrow_width;
  if (!below_diagonal && i0 + height <= j0) return;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int top = warp % 2 * (height / 2), left = warp / 2 * (narrow_width / 2), pieces = int(L.cols()) / narrow_depth;
  Sums sums;
  wait_for_prerequisites();
#pragma unroll 1
  for (int piece = 1 - narrow_stages; piece < pieces; ++piece) {
    const int next = piece + narrow_stages - 1;
    if (next < pieces) {
      s.left.fetch(next % narrow_stages, L, i0, next * narrow_depth);
      s.right.fetch(next % narrow_stages, L1, j0, next * narrow_depth);
    }
    close_group_of_copies();
    if (piece < 0) continue;
    wait_for_copies<narrow_stages - 1>();
    __syncthreads();
    const auto& rows = s.left.of[piece % narrow_stages];
    const auto& columns = s.right.of[piece % narrow_stages];
#pragma unroll(height == narrow_width ? 4 : 2)
    for (int k = t; k < narrow_depth; k += 8)
      sums.multiply(&rows[k][top + Sums::rows * g], &columns[k][left + Sums::columns * g]);
    __syncthreads();
  }
  const std::int64_t i = i0 + top + Sums::rows * g, j = j0 + left + Sums::columns * 2 * t;
  sums.subtract_from(C.data() + i + j * C.ld(), C.ld(), C.rows() - i, C.cols() - j);
}

/// C ← C − L L1ᵀ, if its operands are such that the kernel can fetch them; and whether they are. Where L1 are the first
/// rows of L, only on and below the diagonal. L: m × k, L1: n × k, C: m × n.
/// Flops 2 m n k, on and below the diagonal n² k less.
template <class T>
bool launch_narrow_update(Queue<Cuda>& q, MatrixView<T, Cuda> L, MatrixView<T, Cuda> L1, MatrixView<T, Cuda> C) {
  const bool below_diagonal = L.data() != L1.data();
  if (L.cols() % narrow_depth != 0) return false;
  for (const auto& view : {L, L1, C})
    if (view.ld() * sizeof(T) % 16 != 0 || reinterpret_cast<std::uintptr_t>(view.data()) % 16 != 0) return false;
  const auto with = [&]<int height>() {
    constexpr std::size_t shared = sizeof(NarrowShared<T, height>);
    static_assert(shared <= least_shared_memory);
    const dim3 tiles(unsigned(ceil_div(C.rows(), height)), unsigned(ceil_div(C.cols(), narrow_width)));
    launch(q, narrow_update_kernel<T, height>, Blocks::dependent, tiles, narrow_threads, shared, L, L1, below_diagonal,
           C);
  };
  if constexpr (sizeof(T) == 4)
    if (below_diagonal) return with.template operator()<64>(), true;
  return with.template operator()<32>(), true;
}

/// The same for the products for which this kernel is the faster.
template <class T>
bool try_narrow_update(Queue<Cuda>& q, MatrixView<T, Cuda> L, MatrixView<T, Cuda> L1, MatrixView<T, Cuda> C) {
  return is_narrow_update(q, C, L.cols(), L.data() != L1.data()) && launch_narrow_update(q, L, L1, C);
}

}  // namespace lasolve
