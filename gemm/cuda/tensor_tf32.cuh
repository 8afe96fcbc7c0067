// The tf32 part of the rung `tensor`: operands and C in fp32, products in tf32 on the tensor cores of Hopper.
// Idea     wgmma takes tf32 only K-major from shared memory, and does not round but cuts off the last 13 bits. So a first
//          kernel packs both operands: rounded to nearest (a unit roundoff of 2⁻¹¹), K-major, padded with zeros, in pieces
//          that are byte for byte what a stage of shared memory holds. It is small next to C when k is, it makes all
//          transposes, leading dimensions and alignments one case, and a piece is one bulk copy. In the second kernel C goes
//          through a ring of slabs in shared memory: one warp fills it while the product runs, another empties it under
//          the next tile. The ring holds a whole tile, so that the update waits for nothing.
// Tiles    BM = 128, BN = 192, BK = 16; a persistent grid. A block has one warpgroup whose warps copy, and two that multiply,
//          64 × 192 of C each in registers; 6 stages of 20 KiB, rings of 6 slabs of 8 KiB. BN = 128 where that leaves fewer
//          multiprocessors idle.
// Traffic  C is read and written once: 8 bytes an element, the floor at small k. A, B: 2·128·192·16 flop per 20 KiB of L2,
//          38 flop/byte. Packing reads and writes A and B once.
// Expect   the traffic of C binds up to k = 256, the tensor cores from 512 on; packing costs 3 % at k = 256, 8 % of a square
//          8192. Measured: so, once the update of C waited for nothing, k = 256 in ms: one warp that brings and takes slabs in
//          turns 0.87, brought by cp.async instead of TMA 0.81, taken by another warp and stages of BK = 16, not 32, 0.75,
//          BN = 192, of which the ring holds all, not 5/8 as of 256, 0.66. Slower: clusters that share B, C brought to L2 a
//          tile ahead, C added to by TMA. Where C cannot be moved 16 bytes at a time, half as fast, still ahead of cuBLAS.
// Source   NVIDIA, PTX ISA and CUTLASS (warp specialization); packing: Goto and van de Geijn, Anatomy of
//          high-performance matrix multiplication (2008)
#pragma once

#include <algorithm>

#include "gemm/cuda/tensor_tf32_pack.cuh"

namespace lasolve::tensor_tf32 {

constexpr int BM = 128;
constexpr int consumers = 2;                    // warpgroups, one below the other in a tile
constexpr int WM = BM / consumers;              // rows of a warpgroup
constexpr int threads = 128 * (1 + consumers);  // warpgroup 0 copies
constexpr int slab_cols = 32, box_rows = 32;
constexpr int slab_bytes = WM / box_rows * box_bytes;  // 8 KiB of C: two boxes, one below the other
constexpr int registers_of_copies = 88, registers_of_products = 208;

/// How the product is cut, and where its shared memory is: stages of operands, a ring of slabs of C a consumer, barriers.
template <int BN_, int stages_, int slabs_>
struct Cut {
  static constexpr int BN = BN_, stages = stages_, slabs = slabs_, tile_slabs = BN / slab_cols;
  static constexpr int A_bytes = BM * row_bytes, B_bytes = BN * row_bytes,
                       stage_bytes = A_bytes + B_bytes;  // of pieces
  static constexpr int ring = stages * stage_bytes;
  static constexpr int full = ring + consumers * slabs * slab_bytes, empty = full + 8 * stages;  // barriers of stages
  static constexpr int free = empty + 8 * stages, arrived = free + 8 * consumers * slabs;        // barriers of slabs
  static constexpr int updated = arrived + 8 * consumers * slabs;
  static constexpr int bytes = updated + 8 * consumers * slabs;
};

/// What the product needs to know: packed operands, C, and which tiles there are.
struct Product {
  const float *A, *B;
  MatrixView<float, Cuda> C;
  float alpha, beta;
  int k_pieces;
  unsigned down, across;    // tiles of C
  std::int64_t boxed_rows;  // of C, which can be moved 16 bytes at a time
};

/// The tiles of a block, one after another. Bands of rows are walked column by column, so that operands stay in L2.
struct Tiles {
  unsigned i, j, index;

  __device__ explicit Tiles(const Product& p) : index(blockIdx.x) { place(p); }
  __device__ bool done(const Product& p) const { return index >= p.down * p.across; }
  __device__ void advance(const Product& p) {
    index += gridDim.x;
    place(p);
  }

 private:
  __device__ void place(const Product& p) {
    constexpr unsigned band = 16;
    const unsigned per_band = band * p.across, first = index / per_band * band, in_band = index % per_band;
    const unsigned height = min(band, max(p.down, first + 1) - first);
    i = first + in_band % height, j = in_band / height;
  }
};

/// The slabs of C of one consumer, (64, 32) each, tile after tile, and their places in its ring.
template <class Cut>
struct Slabs {
  Tiles tile;
  int consumer, number = 0;
  Ring slot = {};

  __device__ Slabs(const Product& p, int consumer) : tile(p), consumer(consumer) {}
  __device__ void next_slot() { slot.advance(Cut::slabs); }
  __device__ void advance(const Product& p) {
    next_slot();
    if (++number == Cut::tile_slabs) number = 0, tile.advance(p);
  }
  __device__ int row() const { return int(tile.i * BM + consumer * WM); }
  __device__ int col() const { return int(tile.j * Cut::BN + number * slab_cols); }
  __device__ bool boxed(const Product& p) const { return row() + WM <= p.boxed_rows; }
  __device__ int bytes() const { return Cut::ring + (consumer * Cut::slabs + slot.at) * slab_bytes; }
  __device__ int free() const { return Cut::free + 8 * (consumer * Cut::slabs + slot.at); }
  __device__ int arrived() const { return Cut::arrived + 8 * (consumer * Cut::slabs + slot.at); }
  __device__ int updated() const { return Cut::updated + 8 * (consumer * Cut::slabs + slot.at); }
};

/// A thread: operands, from packed pieces to the ring of stages.
template <class Cut>
__device__ void load_operands(const Product& p, unsigned shared) {
  const std::uint64_t keep = evict_last();
  Ring stage;
  await_previous_kernel();
  for (Tiles tile(p); !tile.done(p); tile.advance(p)) {
    const float* A = p.A + std::int64_t(tile.i) * p.k_pieces * (Cut::A_bytes / 4);
    const float* B = p.B + std::int64_t(tile.j) * p.k_pieces * (Cut::B_bytes / 4);
    for (int l = 0; l < p.k_pieces; ++l, A += Cut::A_bytes / 4, B += Cut::B_bytes / 4) {
      const unsigned to = shared + stage.at * Cut::stage_bytes;
      Barrier& full = Barrier::at(shared + Cut::full + 8 * stage.at);
      Barrier::at(shared + Cut::empty + 8 * stage.at).wait_inline(stage.lap ^ 1);
      full.arrive_and_expect(Cut::stage_bytes);
      load_bytes(to, A, Cut::A_bytes, full, keep);
      load_bytes(to + Cut::A_bytes, B, Cut::B_bytes, full, keep);
      stage.advance(Cut::stages);
    }
  }
}

/// A warp: the slabs of a consumer, from C to its ring. Not by TMA, which is to have the operands there in time.
template <class Cut>
__device__ void bring_slabs(const Product& p, unsigned shared, int consumer) {
  const int lane = threadIdx.x % 32;
  const int chunk = lane % 16, second = lane / 16;  // of 4 rows; of two columns
  for (Slabs<Cut> slab(p, consumer); !slab.tile.done(p); slab.advance(p)) {
    const unsigned to = shared + slab.bytes();
    Barrier& arrived = Barrier::at(shared + slab.arrived());
    const std::int64_t ld = p.C.ld(), rows = p.C.rows() - slab.row(), cols = p.C.cols() - slab.col();
    const float* C = p.C.data() + slab.row() + slab.col() * ld;
    Barrier::at(shared + slab.free()).wait_inline(slab.slot.lap ^ 1);
    if (p.beta == 0) {
      arrived.arrive();
      continue;
    }
    if (slab.boxed(p)) {
      const float* from = C + chunk * 4 + second * ld;
      const unsigned at = to + chunk / 8 * box_bytes + second * 128;
      const unsigned x = (chunk % 8 ^ second) * 16;
#pragma unroll
      for (int c = 0; c < slab_cols; c += 2, from += 2 * ld)
        if (chunk * 4 < rows && c + second < cols) copy_4_async(at + c * 128 + (x ^ c % 8 * 16), from);
    } else {
#pragma unroll 4
      for (int c = 0; c < slab_cols; ++c, C += ld) {
        if (c < cols && lane < rows) copy_async(to + in_box(lane, c), C + lane);
        if (c < cols && lane + 32 < rows) copy_async(to + box_bytes + in_box(lane, c), C + lane + 32);
      }
    }
    arrived.arrive_after_copies();
  }
}

/// A thread: updated slabs, from both rings to C.
template <class Cut>
__device__ void take_slabs(const Product& p, const CUtensorMap& map, unsigned shared) {
  const std::uint64_t once = evict_first();
  unsigned held = 0;  // says that a slab is free, when its store has read it
  const auto take = [&](Slabs<Cut>& slab) {
    if (slab.tile.done(p) || !Barrier::at(shared + slab.updated()).has_ended(slab.slot.lap)) return false;
    if (slab.boxed(p)) {
      store_box(map, slab.row(), slab.col(), shared + slab.bytes(), once);
      store_box(map, slab.row() + box_rows, slab.col(), shared + slab.bytes() + box_bytes, once);
    }
    commit_stores();
    if (held != 0) {
      wait_until_stores_read<1>();
      Barrier::at(held).arrive();
    }
    held = shared + slab.free();
    slab.advance(p);
    return true;
  };
  Slabs<Cut> upper(p, 0), lower(p, 1);
  while (!upper.tile.done(p) || !lower.tile.done(p)) {
    const bool took_upper = take(upper), took_lower = take(lower);
    if (!took_upper && !took_lower && held != 0) {
      wait_until_stores_read<0>();
      Barrier::at(held).arrive();
      held = 0;
    }
  }
  wait_for_stores();
}

/// C ← α·D + β·C for a consumer's part of a tile: in its ring, or where C cannot be moved 16 bytes at a time, from there.
template <class Cut>
__device__ void update(const Product& p, const float (&D)[Cut::BN / 2], char* memory, unsigned shared,
                       Slabs<Cut>& slab) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  int at[4];  // rows r and r + 8, columns c and c + 1 of eight
#pragma unroll
  for (int x = 0; x < 4; ++x)
    at[x] = warp / 2 * box_bytes + in_box(warp % 2 * 16 + x / 2 * 8 + lane / 4, lane % 4 * 2 + x % 2);
  const bool boxed = slab.boxed(p);
#pragma unroll
  for (int s = 0; s < Cut::tile_slabs; ++s, slab.next_slot()) {
    char* Cs = memory + slab.bytes();
    Barrier::at(shared + slab.arrived()).wait_inline(slab.slot.lap);
    float c[16];
#pragma unroll
    for (int x = 0; x < 16; ++x) c[x] = p.beta == 0 ? 0.f : *reinterpret_cast<float*>(Cs + at[x % 4] + x / 4 * 1024);
#pragma unroll
    for (int x = 0; x < 16; ++x) c[x] = p.beta == 0 ? p.alpha * D[s * 16 + x] : p.alpha * D[s * 16 + x] + p.beta * c[x];
    if (boxed) {
#pragma unroll
      for (int x = 0; x < 16; ++x) *reinterpret_cast<float*>(Cs + at[x % 4] + x / 4 * 1024) = c[x];
      fence_for_copy_engine();
    } else {
      const std::int64_t row = slab.row() + warp * 16 + lane / 4,
                         col = slab.tile.j * Cut::BN + s * slab_cols + lane % 4 * 2;
      float* C = p.C.data() + row + col * p.C.ld();
#pragma unroll
      for (int x = 0; x < 16; ++x) {
        const int r = x / 2 % 2 * 8, l = x / 4 * 8 + x % 2;
        if (row + r < p.C.rows() && col + l < p.C.cols()) C[r + l * p.C.ld()] = c[x];
      }
    }
    __syncwarp();
    if (lane == 0) Barrier::at(shared + slab.updated()).arrive();
  }
}

/// A warpgroup: 64 × BN of each tile.
template <class Cut>
__device__ void consume(const Product& p, char* memory, unsigned shared, int consumer) {
  float D[Cut::BN / 2];  // (64, BN) in the order of wgmma
  Ring stage;
  const auto release_before = [&](unsigned stage) {
    if (threadIdx.x % 128 == 0)
      Barrier::at(shared + Cut::empty + 8 * (stage == 0 ? Cut::stages - 1 : stage - 1)).arrive();
  };
  Slabs<Cut> slab(p, consumer);
  for (; !slab.tile.done(p); slab.tile.advance(p)) {
    for (int l = 0; l < p.k_pieces; ++l) {
      Barrier::at(shared + Cut::full + 8 * stage.at).wait_inline(stage.lap);
      const unsigned from = shared + stage.at * Cut::stage_bytes;
      const std::uint64_t A = operand_descriptor(from + consumer * WM * row_bytes, row_bytes);
      const std::uint64_t B = operand_descriptor(from + Cut::A_bytes, row_bytes);
      begin_products();
#pragma unroll
      for (int s = 0; s < BK / 8; ++s) multiply<float>(D, A + s * 2, B + s * 2, l + s);  // 32 bytes on
      commit_products();
      if (l > 0) {
        wait_for_products<1>();
        release_before(stage.at);
      }
      stage.advance(Cut::stages);
    }
    wait_for_products<0>();
    release_before(stage.at);
    update(p, D, memory, shared, slab);
  }
}

template <class Cut>
__global__ void __launch_bounds__(threads, 1)
    product_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ Product p) {
#ifdef LASOLVE_HOPPER
  extern __shared__ __align__(1024) char memory[];
  const unsigned shared = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < Cut::stages; ++s) {
      Barrier::at(shared + Cut::full + 8 * s).init(1);
      Barrier::at(shared + Cut::empty + 8 * s).init(consumers);
    }
    for (int s = 0; s < consumers * Cut::slabs; ++s) {
      Barrier::at(shared + Cut::free + 8 * s).init(1);
      Barrier::at(shared + Cut::arrived + 8 * s).init(32);
      Barrier::at(shared + Cut::updated + 8 * s).init(4);
    }
    fence_barrier_inits();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp < 4) {
    keep_registers<registers_of_copies>();
    if (threadIdx.x == 0) load_operands<Cut>(p, shared);
    if (warp == 1 || warp == 2) bring_slabs<Cut>(p, shared, warp - 1);
    if (threadIdx.x == 96) take_slabs<Cut>(p, map, shared);
  } else {
    take_registers<registers_of_products>();
    consume<Cut>(p, memory, shared, warp / 4 - 1);
  }
#endif
}

template <class Cut>
void enqueue_product(Queue<Cuda>& q, const Product& p, const CUtensorMap& map) {
  cudaLaunchAttribute early{};  // it may start under the packing, whose end it awaits
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  const unsigned blocks = std::min(p.down * p.across, unsigned(q.multiprocessors()));
  launch(product_kernel<Cut>, blocks, threads, Cut::bytes, q.stream(), early, map, p);
}

/// C ← α·A·B + β·C, in tiles of 128 × BN, and where k is large in parts, so that packed operands stay below 1 GiB.
template <class Cut>
void gemm_by(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
             MatrixView<float, Cuda> C) {
  Product p{};
  p.C = C, p.alpha = alpha, p.beta = beta;
  p.down = unsigned(ceil_div(C.rows(), BM)), p.across = unsigned(ceil_div(C.cols(), Cut::BN));
  CUtensorMap map{};
  if (reachable(C.data(), C.ld())) {
    map = tensor_map(C.data(), C.rows(), C.cols(), C.ld(), box_rows, slab_cols, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    p.boxed_rows = C.rows() % 4 == 0 ? std::int64_t(p.down) * BM : C.rows();
  }
  const std::int64_t A_rows = std::int64_t(p.down) * BM, B_rows = std::int64_t(p.across) * Cut::BN, k = A.cols();
  const std::int64_t depth = std::max<std::int64_t>((1 << 28) / (A_rows + B_rows) / pack_depth * pack_depth, 512);
  for (std::int64_t l = 0; l == 0 || l < k; l += depth, p.beta = 1) {
    const std::int64_t part = std::min(depth, k - l);
    const std::int64_t k_parts = std::max<std::int64_t>(ceil_div(part, pack_depth), 1);  // of zeros when k = 0
    float* packed = q.scratch<float>(k_parts * pack_depth, A_rows + B_rows).data();
    float* packed_B = packed + k_parts * pack_depth * A_rows;
    p.A = packed, p.B = packed_B, p.k_pieces = int(k_parts * (pack_depth / BK));
    pack_kernel<BM, Cut::BN><<<unsigned((A_rows + B_rows) / pack_rows * k_parts), 256, 0, q.stream()>>>(
        A.block(0, l, C.rows(), part), transposed(B.block(l, 0, part, C.cols())), unsigned(A_rows / pack_rows),
        int(k_parts), packed, packed_B);
    CUDA_CHECK_LAUNCH();
    enqueue_product<Cut>(q, p, map);
  }
}

inline void gemm(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
                 MatrixView<float, Cuda> C) {
  require_hopper(q.device());
  constexpr std::int64_t most = std::int64_t(1) << 30;  // coordinates of TMA have 32 bits
  if (C.rows() > most || C.cols() > most) {
    for (std::int64_t j = 0; j < C.cols(); j += most)
      for (std::int64_t i = 0; i < C.rows(); i += most) {
        const std::int64_t m = std::min(most, C.rows() - i), n = std::min(most, C.cols() - j);
        gemm(q, alpha, A.block(i, 0, m, A.cols()), B.block(0, j, B.rows(), n), beta, C.block(i, j, m, n));
      }
    return;
  }
  // How long it takes in tiles of BN columns. The narrower ones need more of their operands for each flop.
  const auto time = [&](std::int64_t BN) {
    return ceil_div(ceil_div(C.rows(), BM) * ceil_div(C.cols(), BN), q.multiprocessors()) * BN;
  };
  if (10 * time(192) <= 11 * time(128))
    gemm_by<Cut<192, 6, 6>>(q, alpha, A, B, beta, C);
  else
    gemm_by<Cut<128, 9, 4>>(q, alpha, A, B, beta, C);
}

}  // namespace lasolve::tensor_tf32
