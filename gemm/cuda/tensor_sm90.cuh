// The kernel of `tensor` for halves and of `tensor_split`, for Hopper: C ← α·A·B + β·C with operands of 16 bits and C in fp32.
// Idea     A persistent block owns tiles of C in turns. One warp feeds a ring of operands through the copy engine (TMA), two
//          warpgroups multiply them out of shared memory (wgmma), and for each of these a warp brings pieces of C before they
//          are needed and takes them away behind: at small k the traffic of C rules, and so it never stops.
// Tiles    BM = 128, BN = 128, BK = 64: a warpgroup has the whole tile, and updates C while the other multiplies. From
//          k = 4096 on BN = 256, of which each warpgroup has 64 × 256, and two blocks share what they read of B. Stages of
//          32 or 48 KiB; pieces of C of 64 × 32 in slots of 8 KiB.
// Traffic  2·128·128·64 flop per 32 KiB of L2: 64 flop/byte; wide 85, with shared B 128. C is read and written once.
// Expect   k ≤ 512: bound by C, 8 bytes an element at nine tenths of the rate of a copy. Large k: as cuBLAS, by power.
// Source   NVIDIA, CUTLASS: warp-specialized persistent kernels ("pingpong", "cooperative"); P. Shankhdhar, "Outperforming cuBLAS
//          on H100"
#pragma once

#include "gemm/cuda/tile.cuh"
#include "gemm/cuda/wgmma_half.cuh"

namespace lasolve::sm90 {

constexpr int BM = 128, BK = 64;
constexpr int block_bytes = 64 * 128;  // of operands: 64 × 64
constexpr int box_bytes = 32 * 128;    // of C: 32 × 32
constexpr int warpgroup = 128, consumers = 2;

/// turns: warpgroups have tiles in turns. wide: each has half of a wider tile, and two blocks share B. split: each has half of a
/// tile; operands are in two parts, as pack.cuh lays them out.
enum class Way { turns, wide, split };

/// How a kernel is cut, all of it known when it is compiled.
template <class Half_, bool a_k_major_, bool b_k_major_, Way way>
struct CutAs {
  using Half = Half_;
  static constexpr bool a_k_major = a_k_major_, b_k_major = b_k_major_;
  static constexpr bool turns = way == Way::turns, split = way == Way::split;
  static constexpr int BN = way == Way::wide ? 256 : 128;
  static constexpr int stages = way == Way::turns ? 5 : way == Way::wide ? 3 : 4;
  static constexpr int slots = way == Way::turns ? 4 : way == Way::wide ? 5 : 6;
  static constexpr int cluster = way == Way::wide ? 2 : 1;  ///< blocks, whose tiles are below one another
  static constexpr int blocks = (BM + BN) / 64;             ///< of operands, in a stage
  static constexpr int halves = turns ? 2 : 1;              ///< of a tile, that a warpgroup has
  static constexpr int pieces = halves * BN / 32;           ///< of C, that a warpgroup has of a tile
};

struct Arguments {
  CUtensorMap A, B, C;
  MatrixView<float, Cuda> c;
  bool c_boxes;    ///< the copy engine can reach C
  int steps;       ///< of BK
  unsigned strip;  ///< rows of tiles that are walked together
  float alpha, beta;
  const float *row_roots,
      *col_roots;  ///< of split operands: their squares still belong to rows and columns of the product
};

template <class Cut>
struct Shared {
  char operands[Cut::stages][Cut::blocks][block_bytes];  // A: 2 blocks, then B
  char pieces[consumers][Cut::slots][2][box_bytes];      // of C: 2 boxes, one above the other
  std::uint64_t full[Cut::stages], empty[Cut::stages];   // barriers from here on
  std::uint64_t turn[consumers];                         // the other warpgroup has all operands of its tile
  std::uint64_t c_here[consumers][Cut::slots], c_ready[consumers][Cut::slots];
};

#ifdef LASOLVE_HOPPER

/// A place in a ring of buffers, whose barriers change their parity with each lap.
struct Ring {
  unsigned at = 0, lap = 0;
  __device__ void advance(unsigned length, unsigned places = 1) {
    at += places;
    lap ^= at / length & 1;
    at %= length;
  }
};

/// At the same barrier of a block of the cluster, after reading only: a release to the cluster would wait for what is not needed,
/// and cost a third of the speed.
__device__ inline void arrive_having_read(std::uint32_t barrier, unsigned block) {
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(barrier),
      "r"(block)
      : "memory");
}

/// The tiles of this block, one after another: down a strip of a few rows of tiles, then along it, so that those that run together
/// share operands in L2.
template <class Cut>
struct Tiles {
  int i, j;  ///< of the first element

  /// Each `every`-th, from `first` on.
  __device__ Tiles(const Arguments& p, int first, int every)
      : down_(unsigned((p.c.rows() + Cut::cluster * BM - 1) / (Cut::cluster * BM))),
        across_(unsigned((p.c.cols() + Cut::BN - 1) / Cut::BN)),
        strip_(p.strip / Cut::cluster),
        at_((blockIdx.x + first * gridDim.x) / Cut::cluster),
        step_(every * gridDim.x / Cut::cluster),
        rank_(Cut::cluster > 1 ? cluster_rank() : 0) {
    place();
  }
  __device__ bool done() const { return at_ >= down_ * across_; }
  __device__ void advance() {
    at_ += step_;
    place();
  }

 private:
  __device__ void place() {
    const unsigned first = at_ / (strip_ * across_) * strip_, within = at_ % (strip_ * across_);
    const unsigned height = first < down_ ? min(strip_, down_ - first) : strip_;
    i = int((first + within % height) * Cut::cluster + rank_) * BM;
    j = int(within / height) * Cut::BN;
  }
  unsigned down_, across_, strip_, at_, step_, rank_;
};

/// The pieces of C that a warpgroup updates, one after another.
template <class Cut>
struct Pieces {
  Tiles<Cut> tile;
  int group, number = 0;
  Ring slot = {};

  __device__ Pieces(const Arguments& p, int group)
      : tile(p, Cut::turns ? group : 0, Cut::turns ? 2 : 1), group(group) {}
  __device__ int i() const { return tile.i + 64 * (Cut::turns ? number % 2 : group); }
  __device__ int j() const { return tile.j + number / Cut::halves * 32; }
  __device__ bool done() const { return tile.done(); }
  __device__ void advance() {
    slot.advance(Cut::slots);
    if (++number == Cut::pieces) number = 0, tile.advance();
  }
};

/// Where element (i, j) of a box of C is, in bytes: the swizzle exchanges the 16-byte quarters of a column by the bits of j.
__device__ inline int in_box(int i, int j) { return 128 * j + (i / 4 ^ j % 8) * 16 + i % 4 * 4; }

/// One thread: the operands of each tile, BK at a time.
template <class Cut>
__device__ void feed_operands(const Arguments& p, Shared<Cut>& s) {
  const std::uint64_t policy = evict_last();
  Ring stage;
  for (Tiles<Cut> tile(p, 0, 1); !tile.done(); tile.advance())
    for (int l = 0; l < p.steps; ++l, stage.advance(Cut::stages)) {
      const auto full = shared_address(&s.full[stage.at]);
      wait(shared_address(&s.empty[stage.at]), stage.lap ^ 1);
      arrive_expecting(full, Cut::blocks * block_bytes);
      for (int b = 0; b < Cut::blocks; ++b) {
        const bool of_a = b < BM / 64, k_major = of_a ? Cut::a_k_major : Cut::b_k_major;
        const int x = of_a ? tile.i + 64 * b : tile.j + 64 * b - BM, k = l * BK;
        const int row = k_major ? k : x, col = k_major ? x : k;
        const auto to = shared_address(s.operands[stage.at][b]);
        if (of_a || Cut::cluster == 1)
          load_box(to, of_a ? p.A : p.B, row, col, full, policy);
        else if (b % Cut::cluster == int(cluster_rank()))  // a share, for all blocks
          load_box(to, p.B, row, col, full, policy, (1 << Cut::cluster) - 1);
      }
    }
}

/// A warp that moves pieces of C between memory and slots. Where the copy engine can, one lane tells it to; it stores whole
/// multiples of 16 bytes, so that a bottom edge may be not for it.
template <class Cut>
struct Mover {
  const Arguments& p;
  Shared<Cut>& s;
  int group, lane;
  std::uint64_t policy;

  __device__ bool in_boxes(const Pieces<Cut>& piece) const {
    return p.c_boxes && (p.c.rows() % 4 == 0 || piece.i() + 64 <= p.c.rows());
  }
  __device__ auto& slot_of(const Pieces<Cut>& piece) const { return s.pieces[group][piece.slot.at]; }

  /// f(element of C, its place in the slot) for those of this lane.
  template <class F>
  __device__ void for_each(const Pieces<Cut>& piece, F f) const {
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
  __device__ void bring(const Pieces<Cut>& piece) const {
    const auto here = shared_address(&s.c_here[group][piece.slot.at]);
    if (p.beta != 0 && !in_boxes(piece)) {
      for_each(piece, [](const float* c, char* slot) { load_element(shared_address(slot), c); });
      arrive_when_loaded(here);
    } else if (p.beta != 0 && lane == 0) {
      arrive_expecting(here, 2 * box_bytes);
      for (int b = 0; b < 2; ++b)
        load_box(shared_address(slot_of(piece)[b]), p.C, piece.i() + 32 * b, piece.j(), here, policy);
    } else {
      arrive(here);
    }
  }
  __device__ void take(const Pieces<Cut>& piece) const {
    if (!in_boxes(piece)) {
      for_each(piece, [](float* c, const char* slot) { *c = *reinterpret_cast<const float*>(slot); });
      fence_async();
    } else if (lane == 0) {
      for (int b = 0; b < 2; ++b)
        store_box(p.C, piece.i() + 32 * b, piece.j(), shared_address(slot_of(piece)[b]), policy);
    }
    stores_issued();
  }
};

/// One warp for each warpgroup: brings pieces of C as long as there are free slots, and takes them away updated.
template <class Cut>
__device__ void move_c(const Arguments& p, Shared<Cut>& s, int group) {
  const Mover<Cut> mover{p, s, group, int(threadIdx.x % 32), evict_first()};
  Pieces<Cut> in(p, group), out = in;
  for (int x = 0; x < Cut::slots && !in.done(); ++x, in.advance()) mover.bring(in);
  for (bool first = true; !out.done(); out.advance(), first = false) {
    wait(shared_address(&s.c_ready[group][out.slot.at]), out.slot.lap);
    mover.take(out);
    if (first || in.done()) continue;
    wait_stores_read<1>();  // the slot before this one is free
    __syncwarp();
    mover.bring(in);
    in.advance();
  }
  wait_stores();
}

/// sums ← A·B, or sums += A·B where `add`, over one stage. Blocks that are K-major have 64 along k in a row of 128 bytes, others 64
/// along m or n. Where operands are split, 64 along k are 32 of hi and 32 of lo.
template <class Cut>
__device__ void multiply_stage(float (&sums)[Cut::BN / 2], const char* A, const char* B, bool add) {
  constexpr int along_k[] = {16 * 128 >> 4, 32 >> 4};  // from one 16 of k to the next, as a descriptor counts
  const auto a = operand_descriptor(shared_address(A), 1024, block_bytes);
  const auto b = operand_descriptor(shared_address(B), 1024, block_bytes);
  const auto step = [&](int of_a, int of_b, bool add) {
    multiply<typename Cut::Half, Cut::a_k_major, Cut::b_k_major>(sums, a + of_a * along_k[Cut::a_k_major],
                                                                 b + of_b * along_k[Cut::b_k_major], add);
  };
  if constexpr (Cut::split) {
    step(2, 0, add), step(3, 1, true);   // lo · hi
    step(0, 2, true), step(1, 3, true);  // hi · lo
    step(0, 0, true), step(1, 1, true);  // hi · hi
  } else {
    step(0, 0, add), step(1, 1, true), step(2, 2, true), step(3, 3, true);
  }
}

/// A warpgroup: the products of its part of each tile, then the update of C.
template <class Cut>
struct Consumer {
  const Arguments& p;
  Shared<Cut>& s;
  int group;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  Ring stage = {};

  using Sums = float[Cut::halves][Cut::BN / 2];

  __device__ void release(int stage) const {
    const auto empty = shared_address(&s.empty[stage]);
    if constexpr (Cut::cluster > 1) {
      if (lane < Cut::cluster) arrive_having_read(empty, lane);
    } else {
      if (lane == 0) arrive(empty);
    }
  }
  /// sums ← the product over stages from … to − 1 of the tile.
  __device__ void multiply_stages(int from, int to, Sums& sums) {
    int before = 0;
    for (int l = from; l < to; ++l) {
      wait(shared_address(&s.full[stage.at]), stage.lap);
      if (Cut::turns && l + 1 == to && lane == 0) arrive(shared_address(&s.turn[1 - group]));
      wgmma_begin();
#pragma unroll
      for (int half = 0; half < Cut::halves; ++half)
        multiply_stage<Cut>(sums[half], s.operands[stage.at][Cut::turns ? half : group], s.operands[stage.at][BM / 64],
                            l > from);
      wgmma_issued();
      wait_wgmma<1>();
      if (l > from) release(before);
      before = stage.at;
      stage.advance(Cut::stages);
    }
    wait_wgmma<0>();
    release(before);
  }
  /// The tensor cores cut off what a sum has no room for, so that errors would grow with k: four stages are summed by them,
  /// and the rest with rounding.
  __device__ void multiply_split(Sums& sums) {
    for (float& sum : sums[0]) sum = 0;
    for (int l = 0; l < p.steps; l += 4) {
      Sums part;
      multiply_stages(l, min(l + 4, p.steps), part);
#pragma unroll
      for (int x = 0; x < Cut::BN / 2; ++x) sums[0][x] += part[0][x];
    }
  }
  /// C ← α·product + β·C for a piece, in its slot. roots: of the thread's 2 rows and 8 columns.
  __device__ void update(const Pieces<Cut>& piece, const float* sums, const float (&row_roots)[2],
                         const float (&col_roots)[8]) const {
    char* box = s.pieces[group][piece.slot.at][warp / 2];
#pragma unroll
    for (int x = 0; x < 16; ++x) {
      float& c = *reinterpret_cast<float*>(
          box + in_box(warp % 2 * 16 + lane / 4 + x / 2 % 2 * 8, x / 4 * 8 + lane % 4 * 2 + x % 2));
      float ab = sums[x];
      if constexpr (Cut::split) {
        const float root = row_roots[x / 2 % 2] * col_roots[x / 4 * 2 + x % 2];
        ab = ab * root * root;  // in two steps: where the result is in range, so is what is between
      }
      c = p.beta == 0 ? p.alpha * ab : p.alpha * ab + p.beta * c;
    }
  }
  __device__ void run() {
    unsigned turn = group ^ 1;
    if (Cut::turns && group == 1) stage.advance(Cut::stages, p.steps);
    for (Pieces<Cut> piece(p, group); !piece.done(); turn ^= 1) {
      if (Cut::turns)
        wait(shared_address(&s.turn[group]), turn);  // or a barrier could be two phases ahead of its waiter
      Sums sums;
      float row_roots[2] = {}, col_roots[8] = {};
      if constexpr (Cut::split) {
        multiply_split(sums);
        for (int h = 0; h < 2; ++h) row_roots[h] = p.row_roots[piece.i() + 16 * warp + lane / 4 + 8 * h];
      } else {
        multiply_stages(0, p.steps, sums);
      }
      if (Cut::turns) stage.advance(Cut::stages, p.steps);
#pragma unroll
      for (int number = 0; number < Cut::pieces; ++number, piece.advance()) {
        if constexpr (Cut::split)
          for (int x = 0; x < 8; ++x) col_roots[x] = p.col_roots[piece.j() + x / 2 * 8 + lane % 4 * 2 + x % 2];
        wait(shared_address(&s.c_here[group][piece.slot.at]), piece.slot.lap);
        update(piece, sums[number % Cut::halves] + number / Cut::halves * 16, row_roots, col_roots);
        fence_async();
        __syncwarp();
        if (lane == 0) arrive(shared_address(&s.c_ready[group][piece.slot.at]));
      }
    }
  }
};

template <class Cut>
__device__ void init_barriers(Shared<Cut>& s) {
  const auto init = [](auto& barriers, unsigned arrivals) {
    for (auto& barrier : barriers) barrier_init(shared_address(&barrier), arrivals);
  };
  init(s.full, 1);
  init(s.empty, (Cut::turns ? 4 : 8) * Cut::cluster);  // warps that have multiplied
  init(s.turn, 4);
  for (int group = 0; group < consumers; ++group) init(s.c_here[group], 32), init(s.c_ready[group], 4);
  barrier_init_done();
}

#endif  // LASOLVE_HOPPER

template <class Cut>
__global__ void __launch_bounds__((1 + consumers) * warpgroup, 1) tensor_kernel(const __grid_constant__ Arguments p) {
#ifdef LASOLVE_HOPPER
  extern __shared__ __align__(1024) char memory[];
  auto& s = *reinterpret_cast<Shared<Cut>*>(memory);
  if (threadIdx.x == 0) init_barriers(s);
  if constexpr (Cut::cluster > 1)
    cluster_sync();
  else
    __syncthreads();

  const int group = int(threadIdx.x / warpgroup) - 1, warp = threadIdx.x / 32;
  if (group < 0) {
    give_registers<56>();
    if (threadIdx.x == 0) feed_operands<Cut>(p, s);
    if (warp == 1 || warp == 2) move_c<Cut>(p, s, warp - 1);
    __syncwarp();
  } else {
    take_registers<224>();
    Consumer<Cut>{p, s, group}.run();
  }
  if constexpr (Cut::cluster > 1) cluster_sync();  // no block leaves while another reaches into it
#endif
}

template <class Cut>
void launch_tensor(Queue<Cuda>& q, const Arguments& p) {
  const std::int64_t tiles = ceil_div(p.c.rows(), BM * Cut::cluster) * ceil_div(p.c.cols(), Cut::BN);
  CUDA_CHECK(
      cudaFuncSetAttribute(tensor_kernel<Cut>, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(Shared<Cut>))));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {unsigned(Cut::cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(std::min<std::int64_t>(q.multiprocessors() / Cut::cluster, tiles) * Cut::cluster));
  config.blockDim = dim3((1 + consumers) * warpgroup);
  config.dynamicSmemBytes = sizeof(Shared<Cut>);
  config.stream = q.stream();
  config.attrs = &cluster;
  config.numAttrs = Cut::cluster > 1 ? 1 : 0;
  CUDA_CHECK(cudaLaunchKernelEx(&config, tensor_kernel<Cut>, p));
}

}  // namespace lasolve::sm90
