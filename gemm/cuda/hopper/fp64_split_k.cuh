// Products of few tiles and many steps, such as those of a left-looking Cholesky, split along k. 2, 4 or 8 blocks of a
// cluster have a tile, each its part of the steps. Then each adds up all sums of its part of the columns, always in the
// same order.
#pragma once

#include "gemm/cuda/hopper/fp64_kernel.cuh"

namespace lasolve::tensor_f64 {

/// Two doubles of the shared memory of a block of the cluster.
__device__ inline double2 load_piece_of(unsigned block, unsigned from) {
  double2 v;
  asm volatile("ld.shared::cluster.v2.f64 {%0, %1}, [%2];"
               : "=d"(v.x), "=d"(v.y)
               : "r"(address_in(block, from))
               : "memory");
  return v;
}

/// A warp's sums as they lie in shared memory: pieces of two rows for each lane, those of a column behind one another.
template <class S>
struct Pieces {
  static constexpr int columns = 2 * S::NT, count = columns * S::MT;
  unsigned at;
  __device__ Pieces(unsigned memory) : at(memory + (threadIdx.x / 32 * count * 32 + threadIdx.x % 32) * 16) {}
  __device__ unsigned address(int column, int x) const { return at + unsigned(column * S::MT + x) * 32 * 16; }
};

/// C ← α·(the sums of all blocks) + β·C in this block's part of the columns.
template <class S, Op op_a, Op op_b>
__device__ void add_up(const Work& w, std::int64_t i, std::int64_t j, const Pieces<S>& pieces, int rank) {
  const Lane<op_a, op_b> lane;
  const int share = pieces.columns / w.blocks_of_a_tile;
  const std::int64_t rows = w.C.rows() - i - 2 * lane.pair();
  for (int c = rank * share; c < (rank + 1) * share; ++c) {
    const int column = lane.column(c / 2, 2 * lane.t + c % 2);
    const bool exists = j + column < w.C.cols();
    double* to = w.C.data() + i + 2 * lane.pair() + (j + column) * w.C.ld();
    double2 old[S::MT] = {}, v[S::MT] = {};
    if (exists && w.beta != 0)
#pragma unroll
      for (int x = 0; x < S::MT; ++x) {
        if (16 * x < rows) old[x].x = to[16 * x];
        if (16 * x + 1 < rows) old[x].y = to[16 * x + 1];
      }
    for (int block = 0; block < w.blocks_of_a_tile; ++block)
#pragma unroll
      for (int x = 0; x < S::MT; ++x) {
        const double2 u = load_piece_of(unsigned(block), pieces.address(c, x));
        v[x].x += u.x, v[x].y += u.y;
      }
    if (!exists) continue;
#pragma unroll
    for (int x = 0; x < S::MT; ++x) {
      if (16 * x < rows) to[16 * x] = fma(w.alpha, v[x].x, w.beta == 0 ? 0 : w.beta * old[x].x);
      if (16 * x + 1 < rows) to[16 * x + 1] = fma(w.alpha, v[x].y, w.beta == 0 ? 0 : w.beta * old[x].y);
    }
  }
}

template <class S, Op op_a, Op op_b>
__global__ void __launch_bounds__(S::threads, S::per_sm) split_kernel(const __grid_constant__ Work w) {
#ifdef LASOLVE_HOPPER
  const Slots<S> slots = open_slots<S>(w);
  const int rank = int(blockIdx.x);
  const int first = rank * w.steps / w.blocks_of_a_tile, end = (rank + 1) * w.steps / w.blocks_of_a_tile;
  const Order::Share share{int(blockIdx.y), 1};
  if (threadIdx.x / 32 >= S::warps) {
    if constexpr (S::reallocates_registers) keep_registers<S::registers_to_copy>();
    produce<S, op_a, op_b>(w, share, first, end, slots);
    __syncwarp();
    for (int phase = 0; phase < 3; ++phase) sync_cluster();
  } else {
    if constexpr (S::reallocates_registers) take_registers<S::registers_to_compute>();
    const int warp = threadIdx.x / 32, wm = warp % S::warps_m, wn = warp / S::warps_m;
    const Order::Tile tile = w.order.tile(share.first);
    Reader<S> in{slots, w.slots};
    Sums<S> sum = {};
    multiply_steps<S, op_a, op_b>(sum, in, end - first, wm, wn);
    sync_cluster();  // all have used the ring
    const Pieces<S> pieces(slots.memory);
#pragma unroll
    for (int c = 0; c < pieces.columns; ++c)
#pragma unroll
      for (int x = 0; x < S::MT; ++x)
        store_piece(pieces.address(c, x), {sum[x][c / 2][c % 2], sum[x][c / 2][2 + c % 2]});
    sync_cluster();
    add_up<S, op_a, op_b>(w, std::int64_t(tile.i) * S::BM + wm * S::WM, std::int64_t(tile.j) * S::BN + wn * S::WN,
                          pieces, rank);
    sync_cluster();  // no block ends while others read
  }
#endif
}

template <class S>
auto split_kernel_for(Op op_a, Op op_b) {
  return with_ops(op_a, op_b, [&]<Op a, Op b>() { return split_kernel<S, a, b>; });
}
template <class S>
std::size_t shared_memory_of_a_ring(Queue<Cuda>& q) {
  return Slots<S>::bytes_of_each * std::size_t(slots_of_a_ring<S>(q));
}

/// Of so many blocks of a tile as many as the device has room for in a cluster.
template <class S>
int blocks_in_a_cluster(Queue<Cuda>& q, Op op_a, Op op_b, int blocks) {
  const auto kernel = reinterpret_cast<const void*>(split_kernel_for<S>(op_a, op_b));
  while (!has_room_for_cluster(q, kernel, unsigned(blocks), S::threads, shared_memory_of_a_ring<S>(q))) blocks /= 2;
  return blocks;
}

template <class S>
void run_split(Queue<Cuda>& q, Op op_a, Op op_b, Work w) {
  static_assert(S::uses_tma && S::warps * Pieces<S>::count * 32 * 16 <= 4 * S::slot_bytes);
  map_operands<S>(op_a, op_b, w);
  w.slots = slots_of_a_ring<S>(q);
  w.order = {int(ceil_div(w.C.rows(), S::BM)), int(ceil_div(w.C.cols(), S::BN)), 1, 1, 1, S::group};
  launch(q, split_kernel_for<S>(op_a, op_b), Blocks::cluster,
         dim3(unsigned(w.blocks_of_a_tile), unsigned(w.order.tiles())), S::threads, shared_memory_of_a_ring<S>(q), w);
}

}  // namespace lasolve::tensor_f64
