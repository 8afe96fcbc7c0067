// What a kernel for compute capability 9.0a is made of: barriers in shared memory, boxes that the copy engine brings and takes
// (TMA), and products of a warpgroup (wgmma). Thin names for PTX instructions. Only code for sm_90a can hold them: a
// kernel's body stands under __CUDA_ARCH_FEAT_SM90_ALL.
// Source   NVIDIA, PTX ISA: mbarrier, cp.async.bulk, wgmma
#pragma once

#include <cuda.h>

#include "core/cuda/check.hpp"
#include "lasolve/precision.hpp"

namespace lasolve::sm90 {

__device__ inline unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

/// A barrier in shared memory. A phase ends when all arrivals and all expected bytes are there; phases alternate in parity.
struct Barrier {
  std::uint64_t state;

  __device__ void init(unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)), "r"(arrivals) : "memory");
  }
  __device__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Arrives at the same barrier of a block of the cluster.
  __device__ void arrive_at(unsigned block) {
    asm volatile(
        "{ .reg .b32 there;\n"
        "  mapa.shared::cluster.u32 there, %0, %1;\n"
        "  mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(shared_address(this)),
        "r"(block)
        : "memory");
  }
  __device__ void arrive_and_expect(unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(this)), "r"(bytes)
                 : "memory");
  }
  /// When all that this thread has given to copy_async is there.
  __device__ void arrive_after_copies() {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(this)) : "memory");
  }
  /// Until the phase of this parity has ended.
  __device__ void wait(unsigned parity) {
    unsigned ended = 0;
    while (!ended) {
      asm volatile(
          "{ .reg .pred ended;\n"
          "  mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, ended; }"
          : "=r"(ended)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
    }
  }
};

/// A place in a ring of `length` buffers, each with barriers whose phases are counted by laps.
struct Ring {
  unsigned at = 0, lap = 0;
  __device__ void advance(unsigned length) {
    if (++at == length) at = 0, lap ^= 1;
  }
  __device__ void advance(unsigned length, unsigned places) {
    at += places;
    lap ^= at / length & 1;
    at %= length;
  }
};

/// Brings the box of a tensor at (i, j), i the contiguous index, to shared memory; what is outside of the tensor is 0.
__device__ inline void load_box(void* to, const CUtensorMap& from, int i, int j, Barrier& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(&arrived))
      : "memory");
}
/// The same to each block of the cluster whose bit is set, at the same address, and to its barrier there.
__device__ inline void load_box(void* to, const CUtensorMap& from, int i, int j, Barrier& arrived,
                                unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, "
      "{%2, %3}], "
      "[%4], %5;" ::"r"(shared_address(to)),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(&arrived)), "h"(blocks)
      : "memory");
}
/// Takes a box from shared memory to the tensor; what is outside of the tensor is dropped, but for the rest of 16 bytes of
/// which a part is inside. Then commit_stores().
__device__ inline void store_box(const CUtensorMap& to, int i, int j, const void* from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(i),
               "r"(j), "r"(shared_address(from))
               : "memory");
}
/// Brings one float.
__device__ inline void copy_async(void* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(to)), "l"(from) : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until the shared memory of all but the last `pending` commits of this thread has been read.
template <int pending>
__device__ void stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
__device__ inline void stores_are_done() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// What this thread wrote to shared memory becomes visible to the copy engine.
__device__ inline void fence_for_copy_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ inline void fence_barrier_inits() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline unsigned block_in_cluster() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void sync_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// How a warpgroup shares out the registers of a block: all its warps give back, or take.
template <int registers>
__device__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// How wgmma reads a tile in shared memory that consists of blocks of 64 rows of 128 bytes, as load_box brings them with
/// a 128-byte swizzle. K-major: a row is 64 elements of op(X) along k, the blocks go on along m or n. Otherwise a row is
/// 64 elements along m or n, and `block_bytes` apart are those of the next 64.
__device__ inline std::uint64_t descriptor(const void* tile, bool k_major, unsigned block_bytes) {
  const std::uint64_t leading = k_major ? 16 : block_bytes, eight_rows = 1024, swizzle_128 = 1;
  return (shared_address(tile) >> 4 & 0x3fff) | leading >> 4 << 16 | eight_rows >> 4 << 32 | swizzle_128 << 62;
}

__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

#define LASOLVE_SUMS_8(i)                                                                                       \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
      "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define LASOLVE_SUMS_64(i)                                                                                          \
  LASOLVE_SUMS_8(i), LASOLVE_SUMS_8(i + 8), LASOLVE_SUMS_8(i + 16), LASOLVE_SUMS_8(i + 24), LASOLVE_SUMS_8(i + 32), \
      LASOLVE_SUMS_8(i + 40), LASOLVE_SUMS_8(i + 48), LASOLVE_SUMS_8(i + 56)
#define LASOLVE_0_TO_63                                                                                                \
  "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30," \
  "%31,"                                                                                                               \
  "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%"  \
  "60,"                                                                                                                \
  "%61,%62,%63"
#define LASOLVE_64_TO_127                                                                                              \
  "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%"  \
  "92,"                                                                                                                \
  "%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%" \
  "117,"                                                                                                               \
  "%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define LASOLVE_64_BY_128(k_and_types, transposes, ...)                                                             \
  asm volatile(                                                                                                     \
      "{ .reg .pred add;\n  setp.ne.b32 add, %66, 0;\n"                                                             \
      "  wgmma.mma_async.sync.aligned.m64n128" k_and_types " {" LASOLVE_0_TO_63 "}, %64, %65, add, 1, 1" transposes \
      "; }"                                                                                                         \
      : LASOLVE_SUMS_64(0)                                                                                          \
      : "l"(A), "l"(B), "r"(int(add))__VA_OPT__(, ) __VA_ARGS__)
#define LASOLVE_64_BY_256(k_and_types, transposes, ...)                                               \
  asm volatile(                                                                                       \
      "{ .reg .pred add;\n  setp.ne.b32 add, %130, 0;\n"                                              \
      "  wgmma.mma_async.sync.aligned.m64n256" k_and_types " {" LASOLVE_0_TO_63 "," LASOLVE_64_TO_127 \
      "}, %128, %129, add, 1, 1" transposes "; }"                                                     \
      : LASOLVE_SUMS_64(0), LASOLVE_SUMS_64(64)                                                       \
      : "l"(A), "l"(B), "r"(int(add))__VA_OPT__(, ) __VA_ARGS__)

/// sums ← A·B, or sums += A·B where `add`, of a warpgroup. A: (64, 16), B: (16, N), sums: (64, N), of which a thread holds element (16·warp + lane/4 + 8·h, 8·i + 2·(lane%4) + e) in sums[4·i + 2·h + e].
template <class Half, bool a_k_major, bool b_k_major>
__device__ void multiply(float (&sums)[64], std::uint64_t A, std::uint64_t B, bool add) {
  if constexpr (std::is_same_v<Half, fp16>)
    LASOLVE_64_BY_128("k16.f32.f16.f16", ", %67, %68", "n"(!a_k_major), "n"(!b_k_major));
  else
    LASOLVE_64_BY_128("k16.f32.bf16.bf16", ", %67, %68", "n"(!a_k_major), "n"(!b_k_major));
}
template <class Half, bool a_k_major, bool b_k_major>
__device__ void multiply(float (&sums)[128], std::uint64_t A, std::uint64_t B, bool add) {
  if constexpr (std::is_same_v<Half, fp16>)
    LASOLVE_64_BY_256("k16.f32.f16.f16", ", %131, %132", "n"(!a_k_major), "n"(!b_k_major));
  else
    LASOLVE_64_BY_256("k16.f32.bf16.bf16", ", %131, %132", "n"(!a_k_major), "n"(!b_k_major));
}
#undef LASOLVE_SUMS_8
#undef LASOLVE_SUMS_64
#undef LASOLVE_0_TO_63
#undef LASOLVE_64_TO_127
#undef LASOLVE_64_BY_128
#undef LASOLVE_64_BY_256

/// A matrix in global memory as the copy engine sees it: `rows` contiguous, boxes of box_rows × box_cols with a 128-byte
/// swizzle. The address and the bytes of ld are multiples of 16.
inline CUtensorMap tensor_map(CUtensorMapDataType type, std::size_t element_bytes, const void* data, std::int64_t rows,
                              std::int64_t cols, std::int64_t ld, unsigned box_rows, unsigned box_cols) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  static const Encode encode = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault, &result));
    if (result != cudaDriverEntryPointSuccess) throw MachineError("CUDA: the driver does not know tensor maps");
    return reinterpret_cast<Encode>(found);
  }();
  CUtensorMap map{};
  const cuuint64_t sizes[] = {cuuint64_t(rows), cuuint64_t(cols)}, strides[] = {cuuint64_t(ld) * element_bytes};
  const cuuint32_t box[] = {box_rows, box_cols}, steps[] = {1, 1};
  const CUresult result =
      encode(&map, type, 2, const_cast<void*>(data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw MachineError("CUDA: a tensor map was refused (" + std::to_string(result) + ")");
  return map;
}

}  // namespace lasolve::sm90
