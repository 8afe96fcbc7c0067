// Products of 16-bit operands on Hopper's tensor cores: C ← α·op(A)·op(B) + β·C, C in fp32.
// Idea     A persistent block owns tiles of C in turns. One warp feeds a ring of operand tiles through the copy engine (TMA), two
//          warpgroups multiply them out of shared memory (wgmma), and two more warps bring the tile of C while the
//          product runs and take it away while the next one runs: at small k the traffic of C rules, and it never stops.
// Tiles    BM = 128, BN = 256 or 128, BK = 64; each warpgroup owns 64 × BN. A ring of 48 or 32 KiB stages; C passes in pieces of
//          64 × 32 through a ring of 8 KiB slots a warpgroup.
// Traffic  2·128·256·64 flop per 48 KiB = 85 flop/byte before L2; C is read and written once.
// Expect   k ≤ 512: bound by C, 8 bytes an element at nine tenths of the rate of a copy. Large k: as cuBLAS, bound by power.
// Source   NVIDIA, CUTLASS: warp-specialized persistent kernels; P. Shankhdhar, "Outperforming cuBLAS on H100"
#pragma once

#include "core/cuda/elementwise.cuh"
#include "core/cuda/launch.cuh"
#include "gemm/cuda/hopper.cuh"
#include "gemm/cuda/pack.cuh"
#include "lasolve/gemm.hpp"

namespace lasolve::hopper {

constexpr int BM = 128, block_bytes = 64 * 128, box_bytes = 32 * 128;
constexpr int warpgroup = 128, consumers = 2;

/// turns: warpgroups have tiles in turns, so that one multiplies while the other updates C. wide: each has half of each tile, which
/// is larger, and two blocks share what they read of B. split: as wide, not as large, for operands in two parts.
enum class Way { turns, wide, split, wide1, split2 };

/// How a kernel is cut, all of it known when it is compiled.
template <Format format_, bool a_k_major_, bool b_k_major_, Way way>
struct CutAs {
  static constexpr Format format = format_;
  static constexpr bool a_k_major = a_k_major_, b_k_major = b_k_major_;
  static constexpr bool turns = way == Way::turns, split = way == Way::split || way == Way::split2, is_wide = way == Way::wide || way == Way::wide1;
  static constexpr int BN = is_wide ? 256 : 128, BK = 128 / (format == Format::tf32 ? 4 : 2);
  static constexpr int stages = turns ? 5 : is_wide ? 3 : 4, slots = turns ? 4 : is_wide ? 5 : 6;
  static constexpr int cluster = way == Way::wide || way == Way::split2 ? 2 : 1;       ///< blocks, with tiles below one another
  static constexpr int blocks = (BM + BN) / 64;    ///< of 64 × 128 bytes of operands, in a stage
  static constexpr int halves = turns ? 2 : 1;     ///< of a tile, that a warpgroup has
  static constexpr int pieces = halves * BN / 32;  ///< of C, each 64 × 32, that a warpgroup has of a tile
};

struct Arguments {
  CUtensorMap A, B, C;
  MatrixView<float, Cuda> c;
  bool c_boxes;    ///< the copy engine can reach C
  int steps;       ///< of BK
  unsigned strip;  ///< tile rows in a strip
  float alpha, beta;
  const float *row_roots, *col_roots;  ///< of split operands: element (i, j) is still to be multiplied by the squares
};

template <class Cut>
struct Shared {
  char operands[Cut::stages][Cut::blocks][block_bytes];  // A: 2 blocks, then B
  char pieces[consumers][Cut::slots][2][box_bytes];         // C: 2 boxes of (32 columns, 32 rows)
  Barrier full[Cut::stages], empty[Cut::stages];
  Barrier turn[consumers];  // the other warpgroup has all operands of its tile
  Barrier c_here[consumers][Cut::slots], c_ready[consumers][Cut::slots];
};

/// The tiles of this block, one after another: down a strip of a few tile rows, then along it, so that those that run
/// together share operands in L2.
template <class Cut>
struct Tiles {
  int i, j;  ///< of the first element

  /// Each `every`-th, from `first` on.
  __device__ Tiles(const Arguments& p, int first, int every)
      : down_(unsigned((p.c.rows() + Cut::cluster * BM - 1) / (Cut::cluster * BM))),
        across_(unsigned((p.c.cols() + Cut::BN - 1) / Cut::BN)),
        strip_(p.strip),
        at_((blockIdx.x + first * gridDim.x) / Cut::cluster),
        step_(every * gridDim.x / Cut::cluster) {
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
    j = int(within / height * Cut::BN);
  }
  unsigned down_, across_, strip_, at_, step_, rank_ = Cut::cluster > 1 ? block_in_cluster() : 0;
};

/// The pieces of C that a warpgroup updates, in turns.
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

/// Where element (i, j) of a box of C is, in bytes: the 16-byte quarters of a column are exchanged by the bits of j % 8.
__device__ inline int in_box(int i, int j) { return 128 * j + (i / 4 ^ j % 8) * 16 + i % 4 * 4; }

/// One thread: the operands of each tile, BK at a time.
template <class Cut>
__device__ void feed_operands(const Arguments& p, Shared<Cut>& s) {
  Ring stage;
  for (Tiles<Cut> tile(p, 0, 1); !tile.done(); tile.advance())
    for (int l = 0; l < p.steps; ++l, stage.advance(Cut::stages)) {
      Barrier& full = s.full[stage.at];
      s.empty[stage.at].wait(stage.lap ^ 1);
      full.arrive_and_expect(Cut::blocks * block_bytes);
      for (int b = 0; b < Cut::blocks; ++b) {
        const bool of_a = b < BM / 64, k_major = of_a ? Cut::a_k_major : Cut::b_k_major;
        const int x = of_a ? tile.i + 64 * b : tile.j + 64 * b - BM, k = l * Cut::BK;
        if (Cut::cluster == 1 || of_a)
          load_box(s.operands[stage.at][b], of_a ? p.A : p.B, k_major ? k : x, k_major ? x : k, full);
        else if (b % Cut::cluster == block_in_cluster())  // a share, for all blocks
          load_box(s.operands[stage.at][b], p.B, k_major ? k : x, k_major ? x : k, full, (1 << Cut::cluster) - 1);
      }
    }
}

/// A warp moves pieces of C between memory and slots. Where the copy engine can, one lane tells it to. It writes whole multiples of
/// 16 bytes, so that a bottom edge may be not for it.
template <class Cut>
struct Mover {
  const Arguments& p;
  Shared<Cut>& s;
  int group, lane;

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
    Barrier& here = s.c_here[group][piece.slot.at];
    if (p.beta != 0 && !in_boxes(piece)) {
      for_each(piece, [](const float* c, char* slot) { copy_async(slot, c); });
      here.arrive_after_copies();
    } else if (p.beta != 0 && lane == 0) {
      here.arrive_and_expect(2 * box_bytes);
      for (int b = 0; b < 2; ++b) load_box(slot_of(piece)[b], p.C, piece.i() + 32 * b, piece.j(), here);
    } else {
      here.arrive();
    }
  }
  __device__ void take(const Pieces<Cut>& piece) const {
    if (!in_boxes(piece)) {
      for_each(piece, [](float* c, const char* slot) { *c = *reinterpret_cast<const float*>(slot); });
      fence_for_copy_engine();
    } else if (lane == 0) {
      for (int b = 0; b < 2; ++b) store_box(p.C, piece.i() + 32 * b, piece.j(), slot_of(piece)[b]);
    }
    commit_stores();
  }
};

/// One warp for each warpgroup: brings the pieces of C as long as there are free slots, and takes them away updated.
template <class Cut>
__device__ void move_c(const Arguments& p, Shared<Cut>& s, int group) {
  const Mover<Cut> mover{p, s, group, int(threadIdx.x % 32)};
  Pieces<Cut> in(p, group), out = in;
  for (int x = 0; x < Cut::slots && !in.done(); ++x, in.advance()) mover.bring(in);
  for (bool first = true; !out.done(); out.advance(), first = false) {
    s.c_ready[group][out.slot.at].wait(out.slot.lap);
    mover.take(out);
    if (first || in.done()) continue;
    stores_have_read<1>();  // the slot before this one is free
    __syncwarp();
    mover.bring(in);
    in.advance();
  }
  stores_are_done();
}

/// sums (+)= A·B over one stage. Where operands are split, a row of 64 elements along k is 32 of hi and 32 of lo.
template <class Cut>
__device__ void multiply_stage(float (&sums)[Cut::BN / 2], const char* A, const char* B, bool add) {
  constexpr int along_k[] = {16 * 128 >> 4, 32 >> 4};  // bytes / 16 from one 16 of k to the next
  const std::uint64_t a = descriptor(A, Cut::a_k_major, block_bytes), b = descriptor(B, Cut::b_k_major, block_bytes);
  const auto step = [&](int of_a, int of_b, bool add) {
    multiply<Cut::format, Cut::a_k_major, Cut::b_k_major>(sums, a + of_a * along_k[Cut::a_k_major],
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

/// What of the product goes into C(i, j): sum of the thread's element (h, e) of the 8 columns from `col` on.
template <class Cut>
__device__ float product_of(const Arguments& p, float sum, float row_root, float col_root) {
  if constexpr (Cut::split) {
    const float root = row_root * col_root;
    sum = sum * root * root;  // in two steps: where the result is in range, so is what is between
  }
  return p.alpha * sum;
}

/// A warpgroup: the products of its part of each tile, then the update of C.
template <class Cut>
__device__ void consume(const Arguments& p, Shared<Cut>& s, int group) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4, quad = lane % 4;
  const auto release = [&](int stage) {
    if constexpr (Cut::cluster > 1) {
      if (lane < Cut::cluster) s.empty[stage].arrive_at(lane);
    } else {
      if (lane == 0) s.empty[stage].arrive();
    }
  };
  Ring stage;
  float sums[Cut::halves][Cut::BN / 2];
  const auto multiply_stages = [&](int from, int to, float(&into)[Cut::halves][Cut::BN / 2]) {
    int before = 0;
    for (int l = from; l < to; ++l) {
      s.full[stage.at].wait(stage.lap);
      if (Cut::turns && l + 1 == to && lane == 0) s.turn[1 - group].arrive();
      begin_products();
#pragma unroll
      for (int half = 0; half < Cut::halves; ++half)
        multiply_stage<Cut>(into[half], s.operands[stage.at][Cut::turns ? half : group], s.operands[stage.at][BM / 64],
                            l > from);
      commit_products();
      wait_for_products<1>();
      if (l > from) release(before);
      before = stage.at;
      stage.advance(Cut::stages);
    }
    wait_for_products<0>();
    release(before);
  };
  if (Cut::turns && group == 1) stage.advance(Cut::stages, p.steps);
  unsigned turn = group ^ 1;
  for (Pieces<Cut> piece(p, group); !piece.done(); turn ^= 1) {
    if (Cut::turns) s.turn[group].wait(turn);  // a stage may go round no more than once while one waits for it
    float row_roots[2] = {};
    if constexpr (Cut::split) {
      for (float& sum : sums[0]) sum = 0;
      for (int l = 0; l < p.steps; l += 4) {
        float part[1][Cut::BN / 2];
        multiply_stages(l, min(l + 4, p.steps), part);
#pragma unroll
        for (int x = 0; x < Cut::BN / 2; ++x) sums[0][x] += part[0][x];
      }
      for (int h = 0; h < 2; ++h) row_roots[h] = p.row_roots[piece.i() + 16 * warp + lane / 4 + 8 * h];
    } else {
      multiply_stages(0, p.steps, sums);
    }
    if (Cut::turns) stage.advance(Cut::stages, p.steps);
#pragma unroll
    for (int number = 0; number < Cut::pieces; ++number, piece.advance()) {
      float col_roots[8] = {};
      if constexpr (Cut::split)
        for (int x = 0; x < 8; ++x) col_roots[x] = p.col_roots[piece.j() + x / 2 * 8 + 2 * quad + x % 2];
      s.c_here[group][piece.slot.at].wait(piece.slot.lap);
      char* box = s.pieces[group][piece.slot.at][warp / 2];
#pragma unroll
      for (int x = 0; x < 16; ++x) {  // where a thread's sums belong: see multiply
        float& c = *reinterpret_cast<float*>(
            box + in_box(warp % 2 * 16 + lane / 4 + x / 2 % 2 * 8, x / 4 * 8 + 2 * quad + x % 2));
        const float sum = sums[number % Cut::halves][number / Cut::halves * 16 + x];
        const float ab = product_of<Cut>(p, sum, row_roots[x / 2 % 2], col_roots[x / 4 * 2 + x % 2]);
        c = p.beta == 0 ? ab : ab + p.beta * c;
      }
      fence_for_copy_engine();
      __syncwarp();
      if (lane == 0) s.c_ready[group][piece.slot.at].arrive();
    }
  }
}

template <class Cut>
__global__ void __launch_bounds__((1 + consumers) * warpgroup, 1) tensor_kernel(const __grid_constant__ Arguments p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ __align__(1024) char memory[];
  auto& s = *reinterpret_cast<Shared<Cut>*>(memory);
  if (threadIdx.x == 0) {
    for (int x = 0; x < Cut::stages; ++x) s.full[x].init(1), s.empty[x].init((Cut::turns ? 4 : 8) * Cut::cluster);
    for (int g = 0; g < consumers; ++g) s.turn[g].init(4);
    for (int g = 0; g < consumers; ++g)
      for (int x = 0; x < Cut::slots; ++x) s.c_here[g][x].init(32), s.c_ready[g][x].init(4);
    fence_barrier_inits();
  }
  if constexpr (Cut::cluster > 1)
    sync_cluster();
  else
    __syncthreads();

  const int group = int(threadIdx.x / warpgroup) - 1;
  if (group < 0) {
    keep_registers<56>();
    if (threadIdx.x == 0) feed_operands<Cut>(p, s);
    if (threadIdx.x / 32 == 1) move_c<Cut>(p, s, 0);
    if (threadIdx.x / 32 == 2) move_c<Cut>(p, s, 1);
  } else {
    take_registers<224>();
    consume<Cut>(p, s, group);
  }
  __syncwarp();
  if constexpr (Cut::cluster > 1) sync_cluster();  // no block leaves while another reaches into it
#endif
}

template <class Cut>
void launch_tensor(Queue<Cuda>& q, const Arguments& p) {
  const std::int64_t tiles = ceil_div(p.c.rows(), BM * Cut::cluster) * ceil_div(p.c.cols(), Cut::BN);
  const std::int64_t blocks = std::min(q.multiprocessors() / Cut::cluster, int(std::min<std::int64_t>(tiles, 1 << 20))) * Cut::cluster;
  const auto kernel = tensor_kernel<Cut>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, int(sizeof(Shared<Cut>))));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {unsigned(Cut::cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(unsigned(blocks));
  config.blockDim = dim3((1 + consumers) * warpgroup);
  config.dynamicSmemBytes = sizeof(Shared<Cut>);
  config.stream = q.stream();
  config.attrs = &cluster;
  config.numAttrs = 1;
#ifdef PROBE_TIMEOUT
  static bool said = false;
  if (!said && Cut::cluster > 1) {
    int n = 0;
    cudaOccupancyMaxActiveClusters(&n, kernel, &config);
    printf("clusters %d at a time, of %d\n", n, Cut::cluster);
    said = true;
  }
#endif
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, p));
}

/// f(std::true_type()) or f(std::false_type()).
template <class F>
void with_constant(bool value, F f) {
  value ? f(std::true_type()) : f(std::false_type());
}

/// What the copy engine can reach: the address and the bytes of ld are multiples of 16.
template <class T>
bool reachable(const T* data, std::int64_t ld) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld * std::int64_t(sizeof(T)) % 16 == 0 &&
         ld < std::int64_t(1) << 36;
}

/// At small k the traffic of C rules, and memory likes it best down whole columns; else L2 is to hold the operands.
constexpr unsigned strip_for(std::int64_t k) { return k <= 256 ? 128 : 16; }

inline Arguments arguments(float alpha, float beta, MatrixView<float, Cuda> C) {
  Arguments p{};
  p.c = C, p.alpha = alpha, p.beta = beta;
  p.c_boxes = reachable(C.data(), C.ld());
  if (p.c_boxes) p.C = tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, C.data(), C.rows(), C.cols(), C.ld(), 32, 32);
  return p;
}

template <class Half>
constexpr Format format_of = std::is_same_v<Half, fp16> ? Format::fp16 : Format::bf16;

/// An operand as it lies: blocks of 64 of its columns by 128 bytes along them, or the other way.
template <Format format, class Element>
CUtensorMap operand_map(const Element* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
  constexpr CUtensorMapDataType types[] = {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                                           CU_TENSOR_MAP_DATA_TYPE_FLOAT32};
  return tensor_map(types[int(format)], sizeof(Element), data, rows, cols, ld, 128 / sizeof(Element), 64);
}

/// Room in scratch memory for operands packed with `ld` elements a row, and for the roots of their rows.
template <class Element>
struct Packed {
  Element *a, *b;
  float *a_roots, *b_roots;

  Packed(Queue<Cuda>& q, std::int64_t m, std::int64_t n, std::int64_t ld) {
    const std::int64_t m_padded = ceil_div(m, 256) * 256, n_padded = ceil_div(n, 256) * 256;
    a = reinterpret_cast<Element*>(
        q.scratch<char>((m_padded + n_padded) * (ld * std::int64_t(sizeof(Element)) + 4), 1).data());
    b = a + m_padded * ld;
    a_roots = reinterpret_cast<float*>(b + n_padded * ld);
    b_roots = a_roots + m_padded;
  }
};

/// Why these kernels cannot run on a device; empty: they can.
inline std::string why_not(int device) {
#ifdef LASOLVE_HAS_SM90A
  int major = 0, minor = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  if (major == 9 && minor == 0) return "";
  return "its kernels are for compute capability 9.0, and this device has " + std::to_string(major) + "." +
         std::to_string(minor);
#else
  return "its kernels need a build for 90a (LASOLVE_CUDA_ARCHITECTURES), device " + std::to_string(device) + " or not";
#endif
}

/// k = 0: C ← β·C.
inline void scale(Queue<Cuda>& q, float beta, MatrixView<float, Cuda> C) {
  for_each_element(q, C, [beta] __device__(float& c, std::int64_t, std::int64_t) { c = beta == 0 ? 0 : beta * c; });
}

/// The product of packed operands, `ld` elements a row of which `k` count.
template <Format format, Way way, class Element>
void multiply_packed(Queue<Cuda>& q, Arguments p, const Packed<Element>& from, std::int64_t k, std::int64_t ld) {
  using Cut = CutAs<format, true, true, way>;
  p.steps = int(ceil_div(k, Cut::BK));
  p.strip = strip_for(k);
  p.A = operand_map<format>(from.a, k, p.c.rows(), ld), p.B = operand_map<format>(from.b, k, p.c.cols(), ld);
  p.row_roots = from.a_roots, p.col_roots = from.b_roots;
  launch_tensor<Cut>(q, p);
}

/// C ← α·A·B + β·C with operands of fp16 or bf16.
template <class Half>
void tensor_half(Queue<Cuda>& q, float alpha, Operand<Half, Cuda> A, Operand<Half, Cuda> B, float beta,
                 MatrixView<float, Cuda> C) {
  constexpr Format format = format_of<Half>;
  const std::int64_t k = A.cols();
  if (k == 0) return scale(q, beta, C);
  Arguments p = arguments(alpha, beta, C);
  if (!reachable(A.data(), A.ld()) || !reachable(B.data(), B.ld())) {
    const std::int64_t ld = ceil_div(k, 8) * 8;
    const Packed<Half> to(q, C.rows(), C.cols(), ld);
    pack<false, Half>(q, {A, to.a, ld}, {transposed(B), to.b, ld});
    return multiply_packed<format, Way::turns>(q, p, to, k, ld);
  }
  const auto map = [](Operand<Half, Cuda> X) {
    return operand_map<format>(X.data(), X.stored().rows(), X.stored().cols(), X.ld());
  };
  p.A = map(A), p.B = map(B);
  p.steps = int(ceil_div(k, 64));
  p.strip = strip_for(k);
  with_constant(A.op() == Op::transpose, [&](auto a_k_major) {
    with_constant(B.op() == Op::none,
                  [&](auto b_k_major) { launch_tensor<CutAs<format, a_k_major, b_k_major, Way::turns>>(q, p); });
  });
}

/// C ← α·A·B + β·C with operands of fp32 rounded to tf32.
inline void tensor_tf32(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                        MatrixView<float, Cuda> C) {
  const std::int64_t k = A.cols(), ld = ceil_div(k, 4) * 4;
  if (k == 0) return scale(q, beta, C);
  const Packed<float> to(q, C.rows(), C.cols(), ld);
  pack<false, float>(q, {A, to.a, ld}, {transposed(B), to.b, ld});
  multiply_packed<Format::tf32, Way::turns>(q, arguments(alpha, beta, C), to, k, ld);
}

/// C ← α·A·B + β·C with operands of fp32 in two parts of fp16: hi·hi + hi·lo + lo·hi.
inline void tensor_split(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                         MatrixView<float, Cuda> C) {
  constexpr std::int64_t depth = 8192;  // bounds the scratch memory
  if (A.cols() == 0) return scale(q, beta, C);
  for (std::int64_t l = 0; l < A.cols(); l += depth) {
    const std::int64_t k = std::min(depth, A.cols() - l), ld = 2 * ceil_div(k, 32) * 32;
    const Packed<fp16> to(q, C.rows(), C.cols(), ld);
    pack<true, float>(q, {A.block(0, l, C.rows(), k), to.a, ld, to.a_roots},
                      {transposed(B.block(l, 0, k, C.cols())), to.b, ld, to.b_roots});
    multiply_packed<Format::fp16, Way::split>(q, arguments(alpha, l == 0 ? beta : 1, C), to, ld, ld);
  }
}

}  // namespace lasolve::hopper
