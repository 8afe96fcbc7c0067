// The fp64 kernel of `tensor` on Hopper. The idea, the tiles and what it reached are in tensor.cu.
#pragma once

#include "core/cuda/fp64_tile.cuh"
#include "core/cuda/launch.cuh"
#include "gemm/cuda/common/tile.cuh"
#include "gemm/cuda/hopper/fp64_box.cuh"
#include "gemm/cuda/hopper/fp64_raster_order.cuh"

namespace lasolve::tensor_f64 {

constexpr int BK = 16;

/// How a thread block is tiled: warps_m × warps_n consumer warps, each of which computes 16·MT × 8·NT of a tile. One
/// producer warp has the copy engine bring tiles, or four copy them (uses_tma = false). Where consumers need many
/// registers, there are also four producer warps, which leave theirs to them. `per_sm` such blocks run on a
/// multiprocessor. A block has the tiles of up to `most_steps` steps, and at most one in `rounds` of the tiles that its
/// multiprocessor has to do. `group` rows of tiles are computed together, up to 4 times as many where k is less than
/// 512.
struct Tiling {
  int warps_m, warps_n, MT, NT, per_sm, rounds = 2, most_steps = 64, group = 24;
  bool uses_tma = true;
};

template <Tiling tiling>
struct Shape {
  static constexpr int warps_m = tiling.warps_m, warps_n = tiling.warps_n, MT = tiling.MT, NT = tiling.NT;
  static constexpr int per_sm = tiling.per_sm, rounds = tiling.rounds, most_steps = tiling.most_steps;
  static constexpr int group = tiling.group;
  static constexpr int warps = warps_m * warps_n;
  static constexpr bool uses_tma = tiling.uses_tma, reallocates_registers = uses_tma && MT * NT > 8;
  static constexpr int producer_threads = uses_tma && !reallocates_registers ? 32 : 128,
                       threads = 32 * warps + producer_threads;
  static constexpr int producers = uses_tma ? 1 : producer_threads,
                       consumers = uses_tma ? warps : 32 * warps;  // arrivals at the barriers of a slot
  static constexpr int WM = 16 * MT, WN = 8 * NT, BM = WM * warps_m, BN = WN * warps_n;
  static constexpr Blocks how = uses_tma && BM * BN <= 64 * 64
                                    ? Blocks::dependent
                                    : Blocks::independent;  // short products are on the critical path
  static constexpr int a_bytes = BM * BK * 8, b_bytes = BN * BK * 8, slot_bytes = a_bytes + b_bytes;
  static constexpr int c_bytes = BM * WN * 8;  // of the columns of a warp
  static_assert(NT % 2 == 0 && c_bytes <= slot_bytes && slot_bytes % 1024 == 0 && a_bytes % 1024 == 0);

  static constexpr int registers_at_first = 65536 / per_sm / threads / 8 * 8, registers_to_copy = 24;
  static constexpr int registers_to_compute =
      (registers_at_first * threads - registers_to_copy * producer_threads) / (32 * warps) / 8 * 8;
};

/// A product, as the kernel is given it.
struct Work {
  CUtensorMap a_map, b_map, c_map;
  BoxSource A, B;
  MatrixView<double, Cuda> C;
  double alpha, beta;
  int steps, slots, blocks_of_a_tile;
  Order order;
};

/// Which rows, columns and steps of a tile a lane has. With g = lane / 4 and t = lane % 4, the tensor core's lane has
/// rows g and g + 8 of A, column g of B, steps t and t + 4 of both, and columns 2t and 2t + 1 of C.
/// Which rows, columns and steps of the matrices these are is free. They are chosen so that a lane's two rows of A, and
/// of C, and its two steps of B, are neighbours in memory where they lie along a column. And what the lanes that are
/// served together read is in different banks.
template <Op op_a, Op op_b>
struct Lane {
  static constexpr bool a_as_is = op_a == Op::none, b_as_is = op_b == Op::none;
  int g, t;
  __device__ Lane() : g(int(threadIdx.x) % 32 / 4), t(int(threadIdx.x) % 4) {}

  /// Rows g and g + 8 of the tensor core are rows 2·pair and 2·pair + 1 of 16.
  __device__ int pair() const { return a_as_is ? g : (g & 4) | (g & 1) << 1 | (g >> 1 & 1); }
  /// Column s of the tensor core, in its j-th tile of 8 columns, is this column.
  __device__ static int column(int j, int s) {
    if constexpr (b_as_is)
      return 8 * j + (a_as_is ? s ^ (s & 1) << 2 : (s & 3) << 1 | s >> 2);
    else if constexpr (a_as_is)
      return 8 * j + s;
    else
      return 16 * (j / 2) + ((s & 1) << 3 | (j & 1) << 2 | s >> 2 << 1 | (s >> 1 & 1));
  }
  /// Step t + 4·v of the tensor core is this one of eight.
  __device__ int step(int v) const { return a_as_is ? 2 * t + v : t + 4 * v; }
};

/// A warp's fragments of A and B for eight steps. A transposed operand, and B beside a transposed A, come by single
/// doubles. Loads of 16 bytes would bring what the tensor core wants in registers that are not neighbours, and moving
/// it costs a tenth.
template <class S, Op op_a, Op op_b>
__device__ void load_a(double (&a)[4], unsigned slot, int wm, int i, int eight) {
  const Lane<op_a, op_b> lane;
#pragma unroll
  for (int x = 0; x < 2; ++x)
    if constexpr (lane.a_as_is) {  // lines are columns of A, in groups of 16 rows
      const unsigned group = slot + unsigned(wm * S::MT + i) * BK * line_bytes;
      const double2 v = piece(group, lane.step(x) + 8 * eight, lane.pair());
      a[2 * x] = v.x, a[2 * x + 1] = v.y;
    } else {  // lines are rows of A
      const int row = wm * S::WM + 16 * i + 2 * lane.pair() + x;
      a[x] = element(slot, row, lane.step(0) + 8 * eight), a[2 + x] = element(slot, row, lane.step(1) + 8 * eight);
    }
}
template <class S, Op op_a, Op op_b>
__device__ void load_b(double (&b)[S::NT][2], unsigned slot, int wn, int eight) {
  const Lane<op_a, op_b> lane;
  const unsigned B = slot + S::a_bytes;
#pragma unroll
  for (int j = 0; j < S::NT; ++j) {
    const int column = lane.column(j, lane.g), line = wn * S::WN + column;
    if constexpr (lane.a_as_is && lane.b_as_is) {  // lines are columns of B
      const double2 v = piece(B, line, lane.t + 4 * eight);
      b[j][0] = v.x, b[j][1] = v.y;
    } else {
      const unsigned group = B + unsigned(wn * S::NT / 2 + j / 2) * BK * line_bytes;
#pragma unroll
      for (int v = 0; v < 2; ++v) {  // if transposed, lines are rows of B, in groups of 16 columns
        const int step = lane.step(v) + 8 * eight;
        b[j][v] = lane.b_as_is ? element(B, line, step) : element(group, step, column % 16);
      }
    }
  }
}

template <class S>
using Sums = double[S::MT][S::NT][4];

/// A consumer warp's view of the ring.
///
/// A load from shared memory is under way until its result is used. Where another kernel on the same multiprocessor
/// keeps its memory pipe busy with scattered accesses, that takes long. Then an arrival can overtake the load, and the
/// copy engine overwrite the slot. So a slot is held until its products have been issued, for which all loads must have
/// come.
template <class S>
struct Reader {
  Slots<S> slots;
  int count;
  Ring ring{};
  int held = -1;  // a slot whose products have been issued when the next of the tile is acquired
  int owed = -1;  // a slot that is released when the copy engine has read it

  __device__ unsigned slot() const { return slots.at(ring); }
  __device__ void acquire() { slots.full[ring.at].wait(ring.lap); }
  /// When the next slot is acquired, or a tile has no more.
  __device__ void release_held() {
    if (held >= 0) release(held);
    held = -1;
  }
  /// Lanes that copy overwrite what others have read: then each arrives for itself, which racecheck can follow.
  __device__ void release(int slot) {
    if (S::uses_tma) __syncwarp();
    if (!S::uses_tma || threadIdx.x % 32 == 0) slots.empty[slot].arrive();
  }
  __device__ void release_owed() {
    if (owed < 0) return;
    if (threadIdx.x % 32 == 0) wait_until_stores_read<0>(), slots.empty[owed].arrive();
    owed = -1;
  }
  __device__ void advance() { ring.advance(unsigned(count)); }
};

/// sum += A·B of all steps of a tile.
template <class S, Op op_a, Op op_b>
__device__ void multiply_steps(Sums<S>& sum, Reader<S>& in, int steps, int wm, int wn) {
  for (int l = 0; l < steps; ++l) {
    in.acquire();
#pragma unroll
    for (int eight = 0; eight < BK / 8; ++eight) {
      double b[S::NT][2];
      load_b<S, op_a, op_b>(b, in.slot(), wn, eight);
#pragma unroll
      for (int i = 0; i < S::MT; ++i) {
        double a[4];
        load_a<S, op_a, op_b>(a, in.slot(), wm, i, eight);
        if (eight == 0 && i == 0) in.release_held();
#pragma unroll
        for (int j = 0; j < S::NT; ++j) multiply_tile(sum[i][j], a, b[j], sum[i][j]);
      }
    }
    in.held = int(in.ring.at);
    in.advance();
    in.release_owed();
  }
  in.release_held();
}

/// α·sum + β·C of the two rows that a lane has in a column of the tensor core's tile.
template <bool beta_is_one = false>
__device__ double2 updated(const Work& w, const double (&sum)[4], int e, double2 c) {
  if constexpr (!beta_is_one) c.x *= w.beta, c.y *= w.beta;
  return {fma(w.alpha, sum[e], c.x), fma(w.alpha, sum[2 + e], c.y)};
}

/// C ← α·sum + β·C in the ring, where a warp's part of the tile is at `box`; the copy engine takes it from there.
template <class S, Op op_a, Op op_b, bool beta_is_one>
__device__ void update_in_ring(const Sums<S>& sum, const Work& w, std::int64_t i, std::int64_t j, unsigned box) {
  const Lane<op_a, op_b> lane;
#pragma unroll
  for (int y = 0; y < S::NT; ++y) {  // some loads, and then as many stores
    unsigned at[2][S::MT];
    double2 c[2][S::MT];
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int x = 0; x < S::MT; ++x) {
        at[e][x] = piece_address(box + unsigned(x) * S::WN * line_bytes, lane.column(y, 2 * lane.t + e), lane.pair());
        c[e][x] = load_piece(at[e][x]);
      }
#pragma unroll
    for (int e = 0; e < 2; ++e)
#pragma unroll
      for (int x = 0; x < S::MT; ++x) store_piece(at[e][x], updated<beta_is_one>(w, sum[x][y], e, c[e][x]));
  }
  fence_for_copy_engine();
  __syncwarp();
  if (threadIdx.x % 32 == 0) send_box(w.c_map, i, j, S::MT, S::WN, box);
}

/// C ← α·sum + β·C by the lanes. `box`: as above, where β ≠ 0.
template <class S, Op op_a, Op op_b>
__device__ void update_by_lanes(const Sums<S>& sum, const Work& w, std::int64_t i, std::int64_t j, unsigned box) {
  const Lane<op_a, op_b> lane;
  const bool whole = S::uses_tma && i + S::WM <= w.C.rows();
#pragma unroll
  for (int y = 0; y < S::NT; ++y)
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int column = lane.column(y, 2 * lane.t + e);
      const std::int64_t row = i + 2 * lane.pair();
      double* to = w.C.data() + row + (j + column) * w.C.ld();
      if (j + column >= w.C.cols()) continue;
#pragma unroll
      for (int x = 0; x < S::MT; ++x) {
        double2 v = {w.alpha * sum[x][y][e], w.alpha * sum[x][y][2 + e]};
        if (w.beta != 0)
          v = updated<>(w, sum[x][y], e, piece(box + unsigned(x) * S::WN * line_bytes, column, lane.pair()));
        if (whole) {
          *reinterpret_cast<double2*>(to + 16 * x) = v;
        } else {
          if (row + 16 * x < w.C.rows()) to[16 * x] = v.x;
          if (row + 16 * x + 1 < w.C.rows()) to[16 * x + 1] = v.y;
        }
      }
    }
}

/// By the producers: steps `first_step` to `end_step` of each tile. Where one block has all steps, then the tile of C,
/// by the columns of a warp at a time.
template <class S, Op op_a, Op op_b>
__device__ void produce(const Work& w, const Order::Share& share, int first_step, int end_step, const Slots<S>& slots) {
  if (S::uses_tma && threadIdx.x % S::producer_threads != 0) return;
  Ring ring;
  const auto box = [&](const BoxSource& X, const CUtensorMap& map, std::int64_t i, std::int64_t j, int groups,
                       int outer, unsigned to) {
    if constexpr (S::uses_tma)
      fetch_box(map, i, j, groups, outer, to, slots.full[ring.at]);
    else
      copy_box<S::producer_threads>(X, i, j, groups, outer, to);
  };
  const auto begin = [&](unsigned bytes) {
    slots.empty[ring.at].wait(ring.lap ^ 1);
    if constexpr (S::uses_tma) slots.full[ring.at].arrive_and_expect(bytes);
    return slots.at(ring);
  };
  const auto end = [&] {
    if constexpr (!S::uses_tma) slots.full[ring.at].arrive_after_copies();
    ring.advance(unsigned(w.slots));
  };
  for (int n = 0; n < share.count; ++n) {
    const Order::Tile tile = w.order.tile(share.first + n * w.order.blocks_at_a_time);
    const std::int64_t i = std::int64_t(tile.i) * S::BM, j = std::int64_t(tile.j) * S::BN;
    for (int l = first_step; l < end_step; ++l) {
      const unsigned slot = begin(S::slot_bytes);
      if constexpr (op_a == Op::none)
        box(w.A, w.a_map, i, std::int64_t(l) * BK, S::BM / line_doubles, BK, slot);
      else
        box(w.A, w.a_map, std::int64_t(l) * BK, i, 1, S::BM, slot);
      if constexpr (op_b == Op::none)
        box(w.B, w.b_map, std::int64_t(l) * BK, j, 1, S::BN, slot + S::a_bytes);
      else
        box(w.B, w.b_map, j, std::int64_t(l) * BK, S::BN / line_doubles, BK, slot + S::a_bytes);
      end();
    }
    if (w.beta != 0 && w.blocks_of_a_tile == 1)
      for (int part = 0; part < S::warps_n; ++part) {
        const unsigned slot = begin(S::c_bytes);
        box(BoxSource(w.C), w.c_map, i, j + part * S::WN, S::BM / line_doubles, S::WN, slot);
        end();
      }
  }
}

template <class S, Op op_a, Op op_b>
__device__ void compute(const Work& w, const Order::Share& share, const Slots<S>& slots) {
  const int warp = threadIdx.x / 32, wm = warp % S::warps_m, wn = warp / S::warps_m;
  const bool may_owe = w.slots > S::warps_n && w.steps > 0;
  Reader<S> in{slots, w.slots};
  for (int n = 0; n < share.count; ++n) {
    const Order::Tile tile = w.order.tile(share.first + n * w.order.blocks_at_a_time);
    const std::int64_t i = std::int64_t(tile.i) * S::BM + wm * S::WM, j = std::int64_t(tile.j) * S::BN + wn * S::WN;
    // The copy engine writes 16 bytes at a time, so an odd last row would take the element below along.
    const bool engine = S::uses_tma && (w.C.rows() % 2 == 0 || i + S::WM <= w.C.rows());
    Sums<S> sum = {};
    multiply_steps<S, op_a, op_b>(sum, in, w.steps, wm, wn);
    if (w.beta == 0) {
      update_by_lanes<S, op_a, op_b>(sum, w, i, j, 0);
      continue;
    }
    for (int part = 0; part < S::warps_n; ++part) {
      in.acquire();
      const unsigned box = in.slot() + unsigned(wm * S::MT) * S::WN * line_bytes;
      if (part != wn) {
        in.release(int(in.ring.at));
      } else if (engine) {
        if (w.beta == 1)
          update_in_ring<S, op_a, op_b, true>(sum, w, i, j, box);
        else
          update_in_ring<S, op_a, op_b, false>(sum, w, i, j, box);
        in.owed = int(in.ring.at);
        if (!may_owe) in.release_owed();
      } else {
        update_by_lanes<S, op_a, op_b>(sum, w, i, j, box);
        in.release(int(in.ring.at));
      }
      in.advance();
    }
  }
  in.release_owed();
}

template <class S, Op op_a, Op op_b>
__global__ void __launch_bounds__(S::threads, S::per_sm) product_kernel(const __grid_constant__ Work w) {
#ifdef LASOLVE_HOPPER
  const Slots<S> slots = open_slots<S>(w);
  const Order::Share share = w.order.share(int(blockIdx.x));
  wait_for_prerequisites();
  launch_dependents();
  if (threadIdx.x / 32 >= S::warps) {
    if constexpr (S::reallocates_registers) keep_registers<S::registers_to_copy>();
    produce<S, op_a, op_b>(w, share, 0, w.steps, slots);
  } else {
    if constexpr (S::reallocates_registers) take_registers<S::registers_to_compute>();
    compute<S, op_a, op_b>(w, share, slots);
  }
#endif
}

template <class S>
int slots_of_a_ring(Queue<Cuda>& q) {
  const DeviceProperties& device = q.properties();
  const std::size_t of_a_block = device.shared_memory_of_multiprocessor / S::per_sm - device.kept_shared_memory;
  return int(of_a_block / Slots<S>::bytes_of_each);
}

/// How the copy engine finds the operands.
template <class S>
void map_operands(Op op_a, Op op_b, Work& w) {
  w.a_map = w.A.map(op_a == Op::none ? BK : S::BM), w.b_map = w.B.map(op_b == Op::none ? S::BN : BK);
}

template <class S>
void run(Queue<Cuda>& q, Op op_a, Op op_b, Work w) {
  if constexpr (S::uses_tma) {
    if (w.steps > 0) map_operands<S>(op_a, op_b, w);
    w.c_map = BoxSource(MatrixView<const double, Cuda>(w.C)).map(S::WN);
  }
  w.slots = slots_of_a_ring<S>(q);
  // Of long tiles a block has one: little would be gained, and others would wait longer for its multiprocessor.
  const int several = S::most_steps / std::max(w.steps, 1);
  // The shorter the tiles, the more of them have the A of a group in L2. Long columns of C suit memory.
  const int group = S::group * std::clamp(32 / std::max(w.steps, 1), 1, 4);
  w.order = {int(ceil_div(w.C.rows(), S::BM)), int(ceil_div(w.C.cols(), S::BN)),
             q.multiprocessors() * S::per_sm,  S::rounds,
             several < 4 ? 1 : several,        group};
  const auto kernel = with_ops(op_a, op_b, [&]<Op a, Op b>() { return product_kernel<S, a, b>; });
  launch(q, kernel, S::how, dim3(unsigned(w.order.blocks())), S::threads, Slots<S>::bytes_of_each * w.slots, w);
}

}  // namespace lasolve::tensor_f64
