// The tf32 part of the rung `tensor`: operands and C in fp32, products in tf32 on the tensor cores of Hopper.
// Idea     wgmma takes tf32 only K-major from shared memory, and does not round but cuts off the last 13 bits. So a first
//          kernel packs both operands: rounded to nearest, K-major, padded with zeros, in pieces that are byte for byte what
//          a stage of shared memory holds. It is small next to C when k is, makes all four transposes, leading dimensions
//          and alignments one case, and the product needs one bulk copy a piece. C goes through a ring of slabs in shared
//          memory that TMA fills ahead of the end of the product and empties behind it, under the next tile.
// Tiles    BM = 128, BN = 256, BK = 32. A persistent grid; a block has one warpgroup whose warps copy, and two that
//          multiply, 64 × 256 of C each in registers.
// Traffic  C is read and written once: 8 bytes an element, the floor at small k. A, B: 2·128·256·32 flop per 48 KiB of L2,
//          43 flop/byte; a cluster of two blocks shares B: 64.
// Expect   the traffic of C binds up to k = 256, the tensor cores from 512 on; packing costs 3 % at k = 256.
// Source   NVIDIA, PTX ISA and CUTLASS (warp specialization); packing: Goto and van de Geijn, Anatomy of
//          high-performance matrix multiplication (2008)
#pragma once

#include <algorithm>

#include "gemm/cuda/hopper.cuh"
#include "gemm/cuda/tile.cuh"

namespace lasolve::tf32 {

constexpr int BM = 128, BN = 256, BK = 32;
constexpr int consumers = 2;                      // warpgroups, one below the other in a tile
constexpr int WM = BM / consumers;                // rows of a warpgroup
constexpr int threads = 128 * (1 + consumers);    // warpgroup 0 copies
constexpr int piece = 128 * BK;                   // floats: 128 rows of an operand, 32 deep
constexpr int piece_bytes = piece * 4;            // 16 KiB
constexpr int stage_bytes = (BM + BN) * BK * 4;   // 48 KiB: a piece of A, two of B
constexpr int box_rows = 32;                      // of C, in a swizzled box

/// How the kernel is cut, and where its shared memory is: stages of operands, a ring of slabs of C a consumer, barriers.
template <int stages_, int slabs_, int cols_>
struct Cut {
  static constexpr int stages = stages_, slabs = slabs_, cols = cols_;  // a slab: (64, cols)
  static constexpr int tile_slabs = BN / cols, box_bytes = box_rows * cols * 4, slab_bytes = 2 * box_bytes;
  static constexpr int ring = stages * stage_bytes;
  static constexpr int full = ring + consumers * slabs * slab_bytes, empty = full + 8 * stages;  // barriers of stages
  static constexpr int arrived = empty + 8 * stages;               // of slabs: C is there
  static constexpr int updated = arrived + 8 * consumers * slabs;  // of slabs: the new C is there
  static constexpr int bytes = updated + 8 * consumers * slabs;
};

/// What the product needs to know: packed operands, C, and which tiles there are.
struct Product {
  const float *A, *B;
  MatrixView<float, Cuda> C;
  float alpha, beta;
  int k_pieces;
  unsigned down, across;    // tiles of C
  unsigned band;            // of `down` that are walked together, column by column, so that operands stay in L2
  std::int64_t boxed_rows;  // TMA can move what is above
  int mode;
  bool add;
};

/// The tiles of a block, one after another.
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
    const unsigned per_band = p.band * p.across, first = index / per_band * p.band, in_band = index % per_band;
    const unsigned height = min(p.band, max(p.down, first + 1) - first);
    i = first + in_band % height, j = in_band / height;
  }
};

/// Packs rows of X (rows × k), 128 × 32 a block of threads.
__device__ inline void pack(Operand<float, Cuda> X, std::int64_t row0, std::int64_t l0, float* to,
                            float (&turned)[BK][129]) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const bool rows_contiguous = X.op() == Op::none;
  float x[16];
  if (rows_contiguous) {
#pragma unroll
    for (int t = 0; t < 16; ++t) {
      const int r = lane + t % 4 * 32, l = warp * 4 + t / 4;
      x[t] = row0 + r < X.rows() && l0 + l < X.cols() ? element(X, row0 + r, l0 + l) : 0.f;
    }
#pragma unroll
    for (int t = 0; t < 16; ++t) turned[warp * 4 + t / 4][lane + t % 4 * 32] = x[t];
    __syncthreads();
#pragma unroll
    for (int t = 0; t < 16; ++t) x[t] = turned[lane][warp + t * 8];
  } else {
#pragma unroll
    for (int t = 0; t < 16; ++t) {
      const int r = warp + t * 8;
      x[t] = row0 + r < X.rows() && l0 + lane < X.cols() ? element(X, row0 + r, l0 + lane) : 0.f;
    }
  }
#pragma unroll
  for (int t = 0; t < 16; ++t) {
    const int r = warp + t * 8;
    std::uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(x[t]));
    to[r * BK + ((lane / 4 ^ r % 8) * 4 + lane % 4)] = __uint_as_float(rounded);  // as TMA's 128-byte swizzle
  }
}

/// A: rows of A in pieces of 128 × 32, then those of B, which is given as its transpose; k varies fastest.
__global__ void __launch_bounds__(256) pack_kernel(Operand<float, Cuda> A, Operand<float, Cuda> B, std::int64_t A_pieces,
                                                   std::int64_t k_pieces, float* packed) {
  __shared__ float turned[BK][129];
#ifdef LASOLVE_HOPPER
  let_next_kernel_start();
#endif
  const std::int64_t row = blockIdx.x / k_pieces, l = blockIdx.x % k_pieces;
  float* to = packed + std::int64_t(blockIdx.x) * piece;
  if (row < A_pieces)
    pack(A, row * 128, l * BK, to, turned);
  else
    pack(B, (row - A_pieces) * 128, l * BK, to, turned);
}

#ifdef CLOCKS
__device__ long long clocks[132][2][4];
#endif
#ifdef LASOLVE_HOPPER

/// D ← A·B + (add ? D : 0), 64 × 256 × 8.
__device__ inline void multiply(float (&D)[128], std::uint64_t A, std::uint64_t B, int add) {
  asm volatile(
      "{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32 {" LASOLVE_REGISTERS_128 "}, %128, %129, add, 1, 1;\n}"
      : LASOLVE_OPERANDS_128(D)
      : "l"(A), "l"(B), "r"(add));
}

__device__ inline std::uint64_t policy_of(int x) {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return x == 0 ? policy : x == 1 ? evict_first() : evict_last();
}

/// A thread: operands, from packed pieces to the ring of stages.
template <class Cut>
__device__ void load_operands(const Product& p, std::uint32_t shared) {
  const std::uint64_t keep = policy_of(p.mode & 3);
  const std::int64_t row_floats = std::int64_t(p.k_pieces) * piece;
  int stage = 0, phase = 0;
  await_previous_kernel();
  for (Tiles tile(p); !tile.done(p); tile.advance(p)) {
    const float *A = p.A + tile.i * row_floats, *B = p.B + tile.j * 2 * row_floats;
    for (int l = 0; l < p.k_pieces; ++l, A += piece, B += piece) {
      const std::uint32_t to = shared + stage * stage_bytes, full = shared + Cut::full + 8 * stage;
      wait(shared + Cut::empty + 8 * stage, phase ^ 1);
      arrive_expecting(full, stage_bytes);
      load_bytes(to, A, piece_bytes, full, keep);
      load_bytes(to + piece_bytes, B, piece_bytes, full, keep);
      load_bytes(to + 2 * piece_bytes, B + row_floats, piece_bytes, full, keep);
      if (++stage == Cut::stages) stage = 0, phase ^= 1;
    }
  }
}

/// The slabs of C of one consumer, tile after tile.
template <class Cut>
struct Slabs {
  Tiles tile;
  int consumer, number = 0, slot = 0, phase = 0;

  __device__ Slabs(const Product& p, int consumer) : tile(p), consumer(consumer) {}
  __device__ void advance(const Product& p) {
    if (++slot == Cut::slabs) slot = 0, phase ^= 1;
    if (++number == Cut::tile_slabs) number = 0, tile.advance(p);
  }
  __device__ int row() const { return int(tile.i * BM + consumer * WM); }
  __device__ int col() const { return int(tile.j * BN + number * Cut::cols); }
  __device__ bool boxed(const Product& p) const { return row() + WM <= p.boxed_rows; }
  __device__ int place() const { return consumer * Cut::slabs + slot; }
};

/// Element (r, c) of a box in shared memory, in bytes, as TMA's 128-byte swizzle has it.
__device__ constexpr int in_box(int r, int c) { return c * 128 + ((r / 4 ^ c % 8) * 16 + r % 4 * 4); }

/// A warp: the slabs of C of one consumer, in and out of its ring; where TMA cannot move them, element by element.
template <class Cut>
struct Mover {
  const Product& p;
  const CUtensorMap& map;
  std::uint32_t shared;
  int lane;

  __device__ void bring(const Slabs<Cut>& slab) {
    const std::uint32_t arrived = shared + Cut::arrived + 8 * slab.place();
    const std::uint32_t to = shared + Cut::ring + slab.place() * Cut::slab_bytes;
    if (p.beta == 0 || p.add) {
      arrive(arrived);
    } else if (!slab.boxed(p)) {
      each(slab, [&](int at, float* c) { load_element(to + at, c); });
      arrive_when_loaded(arrived);
    } else if (lane == 0) {
      const std::uint64_t once = policy_of(p.mode >> 2 & 3);
      arrive_expecting(arrived, Cut::slab_bytes);
      load_box(to, map, slab.row(), slab.col(), arrived, once);
      load_box(to + Cut::box_bytes, map, slab.row() + box_rows, slab.col(), arrived, once);
    } else {
      arrive(arrived);
    }
  }

  __device__ void take(const Slabs<Cut>& slab, char* memory) {
    const int from = Cut::ring + slab.place() * Cut::slab_bytes;
    wait(shared + Cut::updated + 8 * slab.place(), slab.phase);
    if (!slab.boxed(p)) {
      each(slab, [&](int at, float* c) {
        const float x = *reinterpret_cast<float*>(memory + from + at);
        if (p.add)
          atomicAdd(c, x);
        else
          *c = x;
      });
      fence_async();
      __syncwarp();
    } else if (lane == 0) {
      const std::uint64_t once = policy_of(p.mode >> 4 & 3);
      if (p.add) {
        add_box(map, slab.row(), slab.col(), shared + from, once);
        add_box(map, slab.row() + box_rows, slab.col(), shared + from + Cut::box_bytes, once);
      } else {
        store_box(map, slab.row(), slab.col(), shared + from, once);
        store_box(map, slab.row() + box_rows, slab.col(), shared + from + Cut::box_bytes, once);
      }
    }
    stores_issued();
  }

  /// Brings a tile to L2.
  __device__ void announce(const Slabs<Cut>& slab) {
    if (p.beta == 0 || slab.tile.done(p)) return;
    if (slab.boxed(p)) {
      for (int x = lane; x < 2 * Cut::tile_slabs; x += 32)
        prefetch_box(map, slab.row() + x % 2 * box_rows, slab.col() + x / 2 * Cut::cols);
    } else {
      for (int x = lane; x < 3 * BN; x += 32) {
        const std::int64_t row = slab.row() + x % 3 * 31, col = slab.col() + x / 3;
        if (row < p.C.rows() && col < p.C.cols())
          asm volatile("prefetch.global.L2 [%0];" ::"l"(p.C.data() + row + col * p.C.ld()));
      }
    }
  }

  __device__ void run(int consumer, char* memory) {
    Slabs<Cut> in(p, consumer), out = in;
    const int distance = p.mode >> 6 & 3;  // 0: none
    int room = Cut::slabs, held = 0;       // slabs to fill; slabs that may not have been read yet
    if (distance) announce(in);
    while (!out.tile.done(p)) {
      for (; room > 0 && !in.tile.done(p); --room, in.advance(p)) {
        if (in.number == 0 && distance > 1) {
          Slabs<Cut> next = in;
          next.tile.advance(p);
          announce(next);
        }
        if (in.number == 0 && distance == 1 && in.tile.index != blockIdx.x) announce(in);
        bring(in);
      }
      take(out, memory);
      const bool last = out.number == Cut::tile_slabs - 1;  // a product comes before the next
      out.advance(p);
      if (last) {
        wait_stores_read<0>();
        room += held + 1, held = 0;
      } else {
        wait_stores_read<1>();
        room += held, held = 1;
      }
      __syncwarp();
    }
    wait_stores();
  }

 private:
  /// f(place in the slab, element of C): consecutive rows to the lanes.
  template <class F>
  __device__ void each(const Slabs<Cut>& slab, F f) {
    const std::int64_t rows = p.C.rows() - slab.row(), cols = p.C.cols() - slab.col();
    float* C = p.C.data() + slab.row() + lane + slab.col() * p.C.ld();
#pragma unroll 2
    for (int c = 0; c < Cut::cols; ++c, C += p.C.ld()) {
      if (c < cols && lane < rows) f(in_box(lane, c), C);
      if (c < cols && lane + box_rows < rows) f(Cut::box_bytes + in_box(lane, c), C + box_rows);
    }
  }
};

/// C ← α·D + β·C for a consumer's part of a tile, in its ring.
template <class Cut>
__device__ void update(const Product& p, const float (&D)[128], char* memory, std::uint32_t shared, Slabs<Cut>& slab) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  int offset[4];  // rows r and r + 8, columns c and c + 1 of eight
#pragma unroll
  for (int x = 0; x < 4; ++x)
    offset[x] = warp / 2 * Cut::box_bytes + in_box(warp % 2 * 16 + x / 2 * 8 + lane / 4, lane % 4 * 2 + x % 2);
  constexpr int own = Cut::cols / 2;  // a thread's elements of a slab
#pragma unroll
  for (int s = 0; s < Cut::tile_slabs; ++s) {
    char* Cs = memory + Cut::ring + slab.place() * Cut::slab_bytes;
    wait(shared + Cut::arrived + 8 * slab.place(), slab.phase);
    float c[own];
    if (p.beta != 0 && !p.add) {
#pragma unroll
      for (int x = 0; x < own; ++x) c[x] = *reinterpret_cast<float*>(Cs + offset[x % 4] + x / 4 * 1024);
#pragma unroll
      for (int x = 0; x < own; ++x) c[x] = p.alpha * D[s * own + x] + p.beta * c[x];
    } else {
#pragma unroll
      for (int x = 0; x < own; ++x) c[x] = p.alpha * D[s * own + x];
    }
#pragma unroll
    for (int x = 0; x < own; ++x) *reinterpret_cast<float*>(Cs + offset[x % 4] + x / 4 * 1024) = c[x];
    fence_async();
    arrive(shared + Cut::updated + 8 * slab.place());
    if (++slab.slot == Cut::slabs) slab.slot = 0, slab.phase ^= 1;
  }
}

#ifdef CLOCKS
#define TICK(x) const long long x = clock64()
#define TOCK(n, from) (spent[n] += clock64() - (from))
#else
#define TICK(x)
#define TOCK(n, from)
#endif

/// A warpgroup: 64 × 256 of each tile.
template <class Cut>
__device__ void consume(const Product& p, char* memory, std::uint32_t shared, int consumer) {
  float D[128];  // (64, 256) in the order of wgmma
  int stage = 0, phase = 0;
  [[maybe_unused]] long long spent[4]{};
  TICK(start);
  const auto release = [&](int s) {
    if (threadIdx.x % 128 == 0) arrive(shared + Cut::empty + 8 * s);
  };
  Slabs<Cut> slab(p, consumer);
  for (; !slab.tile.done(p); slab.tile.advance(p)) {
    for (int l = 0; l < p.k_pieces; ++l) {
      TICK(a);
      wait(shared + Cut::full + 8 * stage, phase);
      TOCK(0, a);
      const std::uint32_t from = shared + stage * stage_bytes;
      const std::uint64_t A = operand_descriptor(from + consumer * WM * 128, 1024);  // A: (64, 32), 128 bytes a row
      const std::uint64_t B = operand_descriptor(from + piece_bytes, 1024);          // B: (256, 32)
      wgmma_begin();
#pragma unroll
      for (int s = 0; s < BK / 8; ++s) multiply(D, A + s * 2, B + s * 2, l + s);
      wgmma_issued();
      if (l > 0) {
        wait_wgmma<1>();
        release(stage == 0 ? Cut::stages - 1 : stage - 1);
      }
      if (++stage == Cut::stages) stage = 0, phase ^= 1;
    }
    wait_wgmma<0>();
    release(stage == 0 ? Cut::stages - 1 : stage - 1);
    TICK(b);
    update(p, D, memory, shared, slab);
    TOCK(1, b);
  }
  TOCK(2, start);
#ifdef CLOCKS
  if (threadIdx.x % 128 == 0)
    for (int x = 0; x < 4; ++x) clocks[blockIdx.x][consumer][x] = spent[x];
#endif
}

#endif  // LASOLVE_HOPPER

template <class Cut>
__global__ void __launch_bounds__(threads, 1)
    product_kernel(const __grid_constant__ CUtensorMap map, const __grid_constant__ Product p) {
#ifdef LASOLVE_HOPPER
  extern __shared__ __align__(1024) char memory[];
  const std::uint32_t shared = shared_address(memory);
  if (threadIdx.x == 0) {
    for (int s = 0; s < Cut::stages; ++s) {
      barrier_init(shared + Cut::full + 8 * s, 1);
      barrier_init(shared + Cut::empty + 8 * s, consumers);
    }
    for (int s = 0; s < consumers * Cut::slabs; ++s) {
      barrier_init(shared + Cut::arrived + 8 * s, 32);
      barrier_init(shared + Cut::updated + 8 * s, 128);
    }
    barrier_init_done();
  }
  __syncthreads();
  const int warp = threadIdx.x / 32;
  if (warp < 4) {
    give_registers<56>();
    if (threadIdx.x == 0) load_operands<Cut>(p, shared);
    if (warp == 1 || warp == 2) Mover<Cut>{p, map, shared, int(threadIdx.x % 32)}.run(warp - 1, memory);
  } else {
    take_registers<224>();
    consume<Cut>(p, memory, shared, warp / 4 - 1);
  }
#endif
}

/// How the kernel is made; for probes.
struct Shape {
  unsigned band = 8;
  int mode = 0;
  bool early = true;  // may start under the packing
};

template <class Cut>
void enqueue_product(Queue<Cuda>& q, const Product& p, const CUtensorMap& map, bool early) {
  const auto kernel = product_kernel<Cut>;
  CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Cut::bytes));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = early;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(std::min(p.down * p.across, unsigned(q.multiprocessors())));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = Cut::bytes;
  config.stream = q.stream();
  config.attrs = &attribute;
  config.numAttrs = 1;
  CUDA_CHECK(cudaLaunchKernelEx(&config, kernel, map, p));
}

template <class Cut>
void gemm(Queue<Cuda>& q, float alpha, Operand<float, Cuda> A, Operand<float, Cuda> B, float beta,
          MatrixView<float, Cuda> C, Shape shape = {}) {
  if (!is_hopper(q.device()))
    throw MachineError("CUDA: tf32 products of `tensor` need a device of compute capability 9.0 (Hopper)");
  Product p{};
  p.C = C, p.alpha = alpha, p.band = shape.band, p.mode = shape.mode;
  p.down = unsigned(ceil_div(C.rows(), BM)), p.across = unsigned(ceil_div(C.cols(), BN));
  CUtensorMap map{};
  if (reinterpret_cast<std::uintptr_t>(C.data()) % 16 == 0 && C.ld() % 4 == 0) {
    map = tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, C.data(), C.rows(), C.cols(), C.ld(), box_rows, Cut::cols);
    p.boxed_rows = C.rows() % 4 == 0 ? std::int64_t(p.down) * BM : C.rows();
  }
  const std::int64_t A_pieces = p.down, B_pieces = 2 * std::int64_t(p.across);
  const std::int64_t k = A.cols(), budget = (std::int64_t(1) << 28) / ((A_pieces + B_pieces) * 128);
  const std::int64_t depth = std::max<std::int64_t>(budget / BK * BK, 512);
  for (std::int64_t l = 0; l == 0 || l < k; l += depth) {
    const std::int64_t part = std::min(depth, k - l);
    p.k_pieces = int(std::max<std::int64_t>(ceil_div(part, BK), 1));  // of zeros when k = 0
    float* packed = q.scratch<float>(std::int64_t(p.k_pieces) * piece, A_pieces + B_pieces).data();
    p.A = packed, p.B = packed + A_pieces * p.k_pieces * piece;
    p.beta = l == 0 ? beta : 1;
    p.add = p.beta == 1 && (p.mode & 256);
    pack_kernel<<<unsigned((A_pieces + B_pieces) * p.k_pieces), 256, 0, q.stream()>>>(
        A.block(0, l, C.rows(), part), transposed(B.block(l, 0, part, C.cols())), A_pieces, p.k_pieces, packed);
    CUDA_CHECK_LAUNCH();
    if (shape.mode < 0) continue;
    enqueue_product<Cut>(q, p, map, shape.early);
  }
}

}  // namespace lasolve::tf32
