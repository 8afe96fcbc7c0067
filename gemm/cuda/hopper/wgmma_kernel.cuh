// The kernel of `tensor` and of `tensor_split`, for Hopper: C ← α·A·B + β·C with operands of 16 bits, or tf32, and C in
// fp32.
// Idea     A persistent block owns tiles of C, one after the other. One producer warp feeds a ring of operands through
//          the copy engine (TMA). Two consumer warpgroups multiply them out of shared memory (wgmma). For each of these
//          a warp brings pieces of C before they are needed, and takes them away behind. At small k the traffic of C is
//          the limit, and so it never stops.
// Tiles    BM = 128, BN = 128, BK = 128 bytes, pingpong: a warpgroup has the whole tile, and updates C while the other
//          multiplies. For tf32 also BN = 192. From k = 4096 on BN = 256, cooperative: each warpgroup has 64 × 256. Two
//          blocks with tiles wider than 128 share what they read of B. Stages of 32, 40 or 48 KiB; pieces of C of 64 ×
//          32 in slots of 8 KiB, as many as there is room for.
// Traffic  2·128·128·64 flop per 32 KiB of L2: 64 flop/byte; of 192 columns with shared B 110, of 256 128; tf32 half of
//          it. C is read and written once.
// Expect   k ≤ 512: bound by C, 8 bytes an element at nine tenths of the rate of a copy. Large k: as cuBLAS, by power.
// Source   NVIDIA, CUTLASS: warp-specialized persistent kernels ("pingpong", "cooperative"); P. Shankhdhar,
//          "Outperforming cuBLAS on H100"
#pragma once

#include "core/cuda/copy_async.cuh"
#include "core/cuda/launch.cuh"
#include "gemm/cuda/hopper/wgmma_shape.cuh"

namespace lasolve::sm90 {

/// One thread: the operands of each tile, BK at a time.
template <class Shape>
__device__ void feed_operands(const Arguments& p, Shared<Shape>& s) {
  const std::uint64_t keep = evict_last();  // where C streams by, operands would leave L2 before they are used again
  Ring stage;
  for (Tiles<Shape> tile(p, 0, 1); !tile.done(); tile.advance())
    for (int l = 0; l < p.steps; ++l, stage.advance(Shape::stages)) {
      Barrier& full = s.full[stage.at];
      s.empty[stage.at].wait(stage.lap ^ 1);
      full.arrive_and_expect(Shape::blocks * block_bytes);
      for (int b = 0; b < Shape::blocks; ++b) {
        const bool of_a = b < BM / 64, k_major = of_a ? Shape::a_k_major : Shape::b_k_major;
        const int x = of_a ? tile.i + 64 * b : tile.j + 64 * b - BM, k = l * Shape::BK;
        const unsigned to = shared_address(s.operands[stage.at][b]);
        if (Shape::cluster == 1 || of_a)
          load_box(to, of_a ? p.A : p.B, k_major ? k : x, k_major ? x : k, full, keep);
        else if (b % Shape::cluster == block_in_cluster())  // a share, for all blocks
          load_box(to, p.B, k_major ? k : x, k_major ? x : k, full, keep, (1 << Shape::cluster) - 1);
      }
    }
}

/// The same for tf32, (BM, BK) of A and (BN, BK) of B at once. A K-major operand comes as a box. A packed one comes as
/// bytes, which are what a stage holds. An A that goes through registers comes in boxes of (32, 32). The thread does as
/// little as it can between a free stage and its loads.
template <class Shape>
__device__ void feed_tf32(const Arguments& p, Shared<Shape>& s) {
  constexpr unsigned a_bytes = BM * 128, b_bytes = Shape::BN * 128, share = b_bytes / Shape::cluster;
  constexpr unsigned short all = (1 << Shape::cluster) - 1;
  const unsigned ours = Shape::cluster > 1 ? share * block_in_cluster() : 0;  // of B, for all blocks
  const bool a_packed = p.packed_a, b_packed = p.packed_b;
  const std::uint64_t keep = evict_last();
  Ring stage;
  wait_for_prerequisites();  // it packs, and began when all before it had ended: the warps that move C need not wait
  for (Tiles<Shape> tile(p, 0, 1); !tile.done(); tile.advance()) {
    const char* a = p.packed_a + std::int64_t(tile.i / BM) * p.steps * a_bytes;
    const char* b = p.packed_b + std::int64_t(tile.j / Shape::BN) * p.steps * b_bytes + ours;
    const int j = tile.j + int(ours / 128);
    for (int l = 0; l < p.steps; ++l, stage.advance(Shape::stages), a += a_bytes, b += b_bytes) {
      const unsigned to_a = shared_address(s.operands[stage.at]), to_b = to_a + a_bytes + ours;
      Barrier& full = s.full[stage.at];
      s.empty[stage.at].wait(stage.lap ^ 1);
      full.arrive_and_expect(a_bytes + b_bytes);
      if constexpr (Shape::cluster > 1)
        b_packed ? load_bytes(to_b, b, share, full, keep, all) : load_box(to_b, p.B, l * Shape::BK, j, full, keep, all);
      else
        b_packed ? load_bytes(to_b, b, share, full, keep) : load_box(to_b, p.B, l * Shape::BK, j, full, keep);
      if constexpr (Shape::through_registers)
        for (int b = 0; b < BM / 32; ++b)
          load_box(to_a + b * box_bytes, p.A, tile.i + 32 * b, l * Shape::BK, full, keep);
      else if (a_packed)
        load_bytes(to_a, a, a_bytes, full, keep);
      else
        load_box(to_a, p.A, l * Shape::BK, tile.i, full, keep);
    }
  }
}

/// A warp moves pieces of C between memory and slots. Where the copy engine can do it, one lane issues the copy. That
/// writes whole multiples of 16 bytes, so a bottom edge may not be for it.
template <class Shape>
struct Mover {
  const Arguments& p;
  Shared<Shape>& s;
  int group, lane;

  __device__ bool in_boxes(const Pieces<Shape>& piece) const {
    return p.c_boxes && (p.c.rows() % 4 == 0 || piece.i() + 64 <= p.c.rows());
  }
  __device__ auto& slot_of(const Pieces<Shape>& piece) const { return s.pieces[group][piece.slot.at]; }

  /// f(element of C, its place in the slot) for those of this lane.
  template <class F>
  __device__ void for_each(const Pieces<Shape>& piece, F f) const {
    const std::int64_t i = piece.i() + lane, left = p.c.rows() - i;
    const int cols = int(min(p.c.cols() - piece.j(), std::int64_t(32)));
    float* c = p.c.data() + i + piece.j() * p.c.ld();
    for (int eight = 0; eight < cols; eight += 8)
#pragma unroll
      for (int j = 0; j < 8; ++j, c += p.c.ld()) {
        if (eight + j < cols && left > 0) f(c, slot_of(piece)[0] + 128 * eight + in_box(lane, j));
        if (eight + j < cols && left > 32) f(c + 32, slot_of(piece)[1] + 128 * eight + in_box(lane, j));
      }
  }
  /// Each lane arrives at c_here when its part is there.
  __device__ void bring(const Pieces<Shape>& piece) const {
    Barrier& here = s.c_here[group][piece.slot.at];
    if (p.beta != 0 && !in_boxes(piece)) {
      for_each(piece, [](const float* c, char* slot) { copy_async<4>(shared_address(slot), c); });
      here.arrive_after_copies();
    } else if (p.beta != 0 && lane == 0) {
      here.arrive_and_expect(2 * box_bytes);
      for (int b = 0; b < 2; ++b) load_box(shared_address(slot_of(piece)[b]), p.C, piece.i() + 32 * b, piece.j(), here);
    } else {
      here.arrive();
    }
  }
  __device__ void take(const Pieces<Shape>& piece) const {
    if (!in_boxes(piece)) {
      for_each(piece, [](float* c, const char* slot) { *c = *reinterpret_cast<const float*>(slot); });
      fence_for_copy_engine();
    } else if (lane == 0) {
      for (int b = 0; b < 2; ++b) store_box(p.C, piece.i() + 32 * b, piece.j(), shared_address(slot_of(piece)[b]));
    }
    commit_stores();
  }
};

/// One warp for each warpgroup: brings the pieces of C as long as there are free slots, and takes them away updated.
template <class Shape>
__device__ void move_c(const Arguments& p, Shared<Shape>& s, int group) {
  const Mover<Shape> mover{p, s, group, int(threadIdx.x % 32)};
  Pieces<Shape> in(p, group), out = in;
  for (int x = 0; x < Shape::slots && !in.done(); ++x, in.advance()) mover.bring(in);
  for (bool first = true; !out.done(); out.advance(), first = false) {
    s.c_ready[group][out.slot.at].wait(out.slot.lap);
    mover.take(out);
    if (first || in.done()) continue;
    wait_until_stores_read<1>();  // the slot before this one is free
    __syncwarp();
    mover.bring(in);
    in.advance();
  }
  wait_for_stores();
}

/// sums (+)= A·B over one stage. Where operands are split, a row of 64 elements along k is 32 of hi and 32 of lo.
template <class Shape>
__device__ void multiply_stage(float (&sums)[Shape::BN / 2], const char* A, const char* B, bool add) {
  constexpr int along_k[] = {16 * 128 >> 4, 32 >> 4};  // bytes / 16 from one 16 of k to the next
  const std::uint64_t a = operand_descriptor(shared_address(A), Shape::a_k_major ? 16 : block_bytes);
  const std::uint64_t b = operand_descriptor(shared_address(B), Shape::b_k_major ? 16 : block_bytes);
  const auto step = [&](int of_a, int of_b, bool add) {
    multiply<typename Shape::Half, Shape::a_k_major, Shape::b_k_major>(sums, a + of_a * along_k[Shape::a_k_major],
                                                                       b + of_b * along_k[Shape::b_k_major], add);
  };
  if constexpr (Shape::split) {
    step(2, 0, add), step(3, 1, true);   // lo · hi
    step(0, 2, true), step(1, 3, true);  // hi · lo
    step(0, 0, true), step(1, 1, true);  // hi · hi
  } else {
    step(0, 0, add), step(1, 1, true), step(2, 2, true), step(3, 3, true);
  }
}

/// sums (+)= A·B over half of a stage (`part`), where A goes through registers; A: the address of this thread's first element.
template <class Shape>
__device__ void multiply_half_stage(float (&sums)[Shape::halves][Shape::BN / 2], unsigned A, const char* B, int part,
                                    bool add) {
  const std::uint64_t b = operand_descriptor(shared_address(B)) + part * (2 * 32 >> 4);
  A += part * 16 * 128;
  float a[2][Shape::halves][4];
#pragma unroll
  for (int x = 0; x < 2; ++x)
#pragma unroll
    for (int half = 0; half < Shape::halves; ++half) {
      const unsigned here = RowPairs<Shape>::of_half(half, A), along = x * 8 * 128;
      load_pair(a[x][half][0], a[x][half][1], here + along);
      load_pair(a[x][half][2], a[x][half][3], (here ^ 4 * 16) + 4 * 128 + along);  // four further along k: see in_box
    }
  begin_products();
#pragma unroll
  for (int x = 0; x < 2; ++x)
#pragma unroll
    for (int half = 0; half < Shape::halves; ++half) multiply(sums[half], a[x][half], b + x * (32 >> 4), add || x > 0);
  commit_products();
}

/// What of the product goes into C(i, j): sum of the thread's element (h, e) of the 8 columns from `col` on.
template <class Shape>
__device__ float product_of(const Arguments& p, float sum, float row_root, float col_root) {
  if constexpr (Shape::split) {
    const float root = row_root * col_root;
    sum = sum * root * root;  // in two steps: where the result is in range, so is what is between
  }
  return p.alpha * sum;
}

/// How a warpgroup goes through the stages and multiplies what comes.
template <class Shape>
struct Multiplier {
  using Sums = float[Shape::halves][Shape::BN / 2];
  Shared<Shape>& s;
  int group, lane;
  unsigned A;  ///< where it goes through registers: the address of this thread's first element in the first stage
  Ring stage = {};

  __device__ Multiplier(Shared<Shape>& s, int group, int lane, int warp) : s(s), group(group), lane(lane) {
    const RowPairs<Shape> rows{lane, warp};
    A = shared_address(s.operands[0][Shape::pingpong ? 0 : group]) + rows.box() * box_bytes +
        in_box(rows.first(), lane % 4);
    asm("" : "+r"(A));  // else the compiler computes it anew in each stage
  }
  __device__ void release(int stage) const {
    if constexpr (Shape::cluster > 1) {
      if (lane < Shape::cluster) s.empty[stage].arrive_at(lane);
    } else {
      if (lane == 0) s.empty[stage].arrive();
    }
  }
  /// sums ← A·B of this warpgroup's part of a tile, steps `from` to `to`. With the last, the other's turn may come.
  __device__ void multiply(int from, int to, Sums& sums) {
    int held = -1;  // the stage before, whose products may not be done
    for (int l = from; l < to; ++l) {
      Barrier& full = s.full[stage.at];
      if (Shape::drains && held >= 0 && !full.has_ended(stage.lap)) {
        wait_for_products<0>();
        release(held);
        held = -1;
      }
      full.wait(stage.lap);
      if (Shape::pingpong && l + 1 == to && lane == 0) s.turn[1 - group].arrive();
      const char* const B = s.operands[stage.at][BM / 64];
      if constexpr (Shape::through_registers) {
        const unsigned here = A + stage.at * Shape::blocks * block_bytes;
        wait_for_products<1>();  // of the registers that this half of a stage goes through
        multiply_half_stage<Shape>(sums, here, B, 0, l > from);
        wait_for_products<1>();
        if (held >= 0) release(held);
        multiply_half_stage<Shape>(sums, here, B, 1, true);
      } else {
        begin_products();
#pragma unroll
        for (int half = 0; half < Shape::halves; ++half)
          multiply_stage<Shape>(sums[half], s.operands[stage.at][Shape::pingpong ? half : group], B, l > from);
        commit_products();
        wait_for_products<1>();
        if (held >= 0) release(held);
      }
      held = int(stage.at);
      stage.advance(Shape::stages);
    }
    wait_for_products<0>();
    release(held);
  }
};

/// C ← α·A·B + β·C of a piece, where it is in its slot; sums: those of this thread.
template <class Shape>
__device__ void update_piece(const Arguments& p, Shared<Shape>& s, const Pieces<Shape>& piece, const float* sums,
                             const float (&row_roots)[2]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
  float col_roots[8] = {};
  if constexpr (Shape::split)
    for (int x = 0; x < 8; ++x) col_roots[x] = p.col_roots[piece.j() + x / 2 * 8 + 2 * quad + x % 2];
  s.c_here[piece.group][piece.slot.at].wait(piece.slot.lap);
  char* box = s.pieces[piece.group][piece.slot.at][warp / 2];
#pragma unroll
  for (int x = 0; x < 16; ++x) {  // where a thread's sums belong: see multiply
    float& c =
        *reinterpret_cast<float*>(box + in_box(warp % 2 * 16 + lane / 4 + x / 2 % 2 * 8, x / 4 * 8 + 2 * quad + x % 2));
    const float ab = product_of<Shape>(p, sums[x], row_roots[x / 2 % 2], col_roots[x / 4 * 2 + x % 2]);
    c = p.beta == 0 ? ab : ab + p.beta * c;
  }
  fence_for_copy_engine();
  s.c_ready[piece.group][piece.slot.at].arrive();  // each for itself, which racecheck can follow to lanes that move C
}

/// The same where A goes through registers: with all that a thread has of these 32 columns.
template <class Shape>
__device__ void update_row_pairs(const Arguments& p, Shared<Shape>& s, const Pieces<Shape>& piece,
                                 const float (&sums)[Shape::halves][Shape::BN / 2], int first) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const RowPairs<Shape> rows{lane, warp};
  s.c_here[piece.group][piece.slot.at].wait(piece.slot.lap);
  const unsigned box = shared_address(s.pieces[piece.group][piece.slot.at][rows.box() % 2]);
#pragma unroll
  for (int x = 0; x < 8 * Shape::halves; ++x) {
    const int half = x / 8, col = x / 2 % 4 * 8 + x % 2;
    const unsigned at = rows.of_half(half, box + in_box(rows.first(), col + 2 * (lane % 4)));
    const float* const ab = &sums[half][first + x / 2 % 4 * 4 + x % 2];
    float c[2] = {};
    if (p.beta != 0) load_pair(c[0], c[1], at);
#pragma unroll
    for (int r = 0; r < 2; ++r) c[r] = p.beta == 0 ? p.alpha * ab[2 * r] : p.alpha * ab[2 * r] + p.beta * c[r];
    store_pair(at, c[0], c[1]);
  }
  fence_for_copy_engine();
  s.c_ready[piece.group][piece.slot.at].arrive();
}

/// A warpgroup: the products of its part of each tile, then the update of C.
template <class Shape>
__device__ void consume(const Arguments& p, Shared<Shape>& s, int group) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  Multiplier<Shape> in(s, group, lane, warp);
  typename Multiplier<Shape>::Sums sums;
  if (Shape::pingpong && group == 1) in.stage.advance(Shape::stages, p.steps);
  unsigned turn = group ^ 1;
  Pieces<Shape> piece(p, group);
  if (Shape::through_registers && Shape::pingpong && warp / 2 == 1) piece.advance();  // to the first that has its rows
  for (; !piece.done(); turn ^= 1) {
    if (Shape::pingpong) s.turn[group].wait(turn);  // a stage may go round no more than once while one waits for it
    float row_roots[2] = {};
    if constexpr (Shape::split) {
      for (float& sum : sums[0]) sum = 0;
      for (int l = 0; l < p.steps; l += 4) {
        typename Multiplier<Shape>::Sums part;
        in.multiply(l, min(l + 4, p.steps), part);
#pragma unroll
        for (int x = 0; x < Shape::BN / 2; ++x) sums[0][x] += part[0][x];
      }
      for (int h = 0; h < 2; ++h) row_roots[h] = p.row_roots[piece.i() + 16 * warp + lane / 4 + 8 * h];
    } else {
      in.multiply(0, p.steps, sums);
    }
    if (Shape::pingpong) in.stage.advance(Shape::stages, p.steps);
    if constexpr (Shape::through_registers) {
#pragma unroll
      for (int first = 0; first < Shape::BN / 2; first += 16) {
        update_row_pairs<Shape>(p, s, piece, sums, first);
        for (int half = 0; half < Shape::halves; ++half) piece.advance();
      }
    } else {
#pragma unroll
      for (int number = 0; number < Shape::pieces; ++number, piece.advance())
        update_piece<Shape>(p, s, piece, &sums[number % Shape::halves][number / Shape::halves * 16], row_roots);
    }
  }
}

template <class Shape>
__global__ void __launch_bounds__((1 + consumers) * warpgroup, 1) tensor_kernel(const __grid_constant__ Arguments p) {
#ifdef LASOLVE_HOPPER
  extern __shared__ __align__(1024) char memory[];
  auto& s = *reinterpret_cast<Shared<Shape>*>(memory);
  if (threadIdx.x == 0) {
    for (int x = 0; x < Shape::stages; ++x)
      s.full[x].init(1), s.empty[x].init((Shape::pingpong ? 4 : 8) * Shape::cluster);
    for (int g = 0; g < consumers; ++g) s.turn[g].init(4);
    for (int g = 0; g < consumers; ++g)
      for (int x = 0; x < Shape::slots; ++x) s.c_here[g][x].init(32), s.c_ready[g][x].init(Shape::updaters);
    fence_barrier_inits();
  }
  if constexpr (Shape::cluster > 1)
    sync_cluster();
  else
    __syncthreads();

  const int group = int(threadIdx.x / warpgroup) - 1;
  if (group < 0) {
    keep_registers<56>();
    if (threadIdx.x == 0) {
      if constexpr (Shape::tf32)
        feed_tf32<Shape>(p, s);
      else
        feed_operands<Shape>(p, s);
    }
    if (threadIdx.x / 32 == 1) move_c<Shape>(p, s, 0);
    if (threadIdx.x / 32 == 2) move_c<Shape>(p, s, 1);
  } else {
    take_registers<224>();
    consume<Shape>(p, s, group);
  }
  __syncwarp();
  if constexpr (Shape::cluster > 1) sync_cluster();  // no block leaves while another reaches into it
#endif
}

template <class Shape>
void launch_tensor(Queue<Cuda>& q, const Arguments& p) {
  const std::int64_t tiles = ceil_div(p.c.rows(), BM * Shape::cluster) * ceil_div(p.c.cols(), Shape::BN);
  const dim3 blocks(Shape::cluster, unsigned(std::min<std::int64_t>(q.multiprocessors() / Shape::cluster, tiles)));
  const Blocks how = (Shape::cluster > 1 ? Blocks::cluster : Blocks::independent) |
                     (p.packed_a || p.packed_b ? Blocks::dependent : Blocks::independent);
  launch(q, tensor_kernel<Shape>, how, blocks, (1 + consumers) * warpgroup, sizeof(Shared<Shape>), p);
}

}  // namespace lasolve::sm90
