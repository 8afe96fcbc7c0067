// The narrow products between two leaves of a Cholesky panel on CUDA, for which all wait: C ← C − L L1ᵀ, where L1 are the
// first rows of L.
//
// Idea     A leaf's columns are few, so a general product takes as long as its latency. Here tiles are so small that nearly all
//          of them run at once, the first pieces of L are on their way to shared memory before anything else, blocks are put on
//          the device while the kernel before ends, and the code is short: in a factorization it is fetched anew each time,
//          at a tenth of a clock a byte, and at a third beside a large product. Tiles above the diagonal are left out.
// Tiles    32 × 32 of C, a quarter for each of four warps; L in pieces of 32 columns, four of them at a time in shared
//          memory; products of 16 × 8 × 8 on fp64 tensor cores, in fp32 too.
// Traffic  each row of L once for 32 columns of C, from the L2 cache.
// Expect   bound by latency: 1 µs until the first piece is there, 1 to multiply at k = 128, 1 to write.
#pragma once

#include <cuda_pipeline.h>

#include "core/cuda/launch.cuh"
#include "solvers/cuda/fp64_tile.cuh"
#include "solvers/cuda/tuning.cuh"

namespace lasolve {

constexpr int near_side = 32, near_depth = 32, near_stages = 4, near_threads = 128;

/// Rows of L in pieces of 32 columns, [column][row], padded so that what a warp reads at once lies in different banks.
template <class T>
struct NearRows {
  alignas(16) T of[near_stages][near_depth][near_side + 32 / sizeof(T)];

  /// Fetches columns k, … of the rows from `first` on into a stage, without waiting for them; beyond L, zeros.
  __device__ void fetch(int stage, MatrixView<const T, Cuda> L, std::int64_t first, std::int64_t k) {
    constexpr int at_once = 16 / sizeof(T), high = near_side / at_once, wide = near_threads / high;
    const int r = threadIdx.x % high * at_once, column = threadIdx.x / high;
    const int there = int(max(std::int64_t(0), min(L.rows() - first - r, std::int64_t(at_once))));
    const T* const from = L.data() + (there > 0 ? first + r : 0) + (k + column) * L.ld();
#pragma unroll
    for (int c = 0; c < near_depth; c += wide) {  // __pipeline_memcpy_async would branch to one of 17 instructions
      const auto to = unsigned(__cvta_generic_to_shared(&of[stage][c + column][r]));
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from + c * L.ld()),
                   "r"(there * int(sizeof(T)))
                   : "memory");
    }
  }
};

template <class T>
struct NearShared {
  NearRows<T> left, right;
};

template <class T>
__global__ void __launch_bounds__(near_threads)
    update_near_columns(MatrixView<const T, Cuda> L, MatrixView<T, Cuda> C) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& s = *reinterpret_cast<NearShared<T>*>(memory);
  const std::int64_t i0 = std::int64_t(blockIdx.x) * near_side, j0 = std::int64_t(blockIdx.y) * near_side;
  if (i0 < j0) return;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const int top = warp % 2 * 16 + g, left = warp / 2 * 16, pieces = int(L.cols()) / near_depth;
  T* const at = C.data() + i0 + top + (j0 + left + 2 * t) * C.ld();
  const int down = int(min(C.rows() - i0 - top, std::int64_t(16)));
  const int right = int(min(C.cols() - j0 - left - 2 * t, std::int64_t(16)));
  const auto each = [&](auto act) {  // in the layout of multiply_tile
#pragma unroll
    for (int w = 0; w < 2; ++w)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        act(w, e, at + e / 2 * 8 + (8 * w + e % 2) * C.ld(), e / 2 * 8 < down && 8 * w + e % 2 < right);
  };
  T old[2][4];
  double sum[2][4] = {};
  await_kernel_before();
#pragma unroll 1
  for (int piece = 1 - near_stages; piece < pieces; ++piece) {
    const int next = piece + near_stages - 1;
    if (next < pieces) {
      s.left.fetch(next % near_stages, L, i0, next * near_depth);
      s.right.fetch(next % near_stages, L, j0, next * near_depth);
    }
    __pipeline_commit();
    if (piece == 0) each([&](int w, int e, const T* c, bool there) { old[w][e] = there ? *c : T(0); });
    if (piece < 0) continue;
    __pipeline_wait_prior(near_stages - 1);
    __syncthreads();
    const auto &rows = s.left.of[piece % near_stages], &columns = s.right.of[piece % near_stages];
#pragma unroll 2
    for (int k = t; k < near_depth; k += 8) {
      double a[4], b[2];
#pragma unroll
      for (int e = 0; e < 4; ++e) a[e] = double(rows[k + e / 2 * 4][top + e % 2 * 8]);
#pragma unroll
      for (int w = 0; w < 2; ++w) {
        b[0] = double(columns[k][left + 8 * w + g]), b[1] = double(columns[k + 4][left + 8 * w + g]);
        multiply_tile(sum[w], a, b, sum[w]);
      }
    }
    __syncthreads();
  }
  each([&](int w, int e, T* c, bool there) {
    const T value = T(double(old[w][e]) - sum[w][e]);
    if (there) *c = value;
  });
}

/// C ← C − L L1ᵀ on and below the diagonal, if that is one of the products for which this kernel is the faster; and whether it
/// is. L: m × k, C: m × n, L1 the first n rows of L. Flops 2 m n k − n² k.
template <class T>
bool update_at_once(Queue<Cuda>& q, MatrixView<T, Cuda> L, MatrixView<T, Cuda> C) {
  const bool in_pieces = L.cols() % near_depth == 0 && L.ld() * sizeof(T) % 16 == 0 &&
                         reinterpret_cast<std::uintptr_t>(L.data()) % 16 == 0;
  if (!in_pieces || !is_near_product(C, L.cols()) || q.shared_memory() < sizeof(NearShared<T>)) return false;
  const auto tiles = [](std::int64_t n) { return unsigned((n + near_side - 1) / near_side); };
  launch(q, update_near_columns<T>, Blocks::soon, dim3(tiles(C.rows()), tiles(C.cols())), near_threads,
         sizeof(NearShared<T>), L, C);
  return true;
}

}  // namespace lasolve
