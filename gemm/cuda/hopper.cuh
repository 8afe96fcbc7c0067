// What Hopper's kernels stand on, a thin layer over PTX: barriers that count bytes (mbarrier), copies by the tensor memory
// accelerator (TMA), and the products of a warpgroup (wgmma).
// Source   NVIDIA, PTX ISA: mbarrier, cp.async.bulk, wgmma
#pragma once

#include <cuda.h>

#include <cstdint>

#include "core/cuda/check.hpp"

// Only a pass for compute capability 9.0 with its own instructions (sm_90a) can assemble these; a kernel's body stands
// under this condition, and its launcher asks is_hopper().
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LASOLVE_HOPPER 1
#endif

namespace lasolve {

/// Whether a device runs code for sm_90a.
inline bool is_hopper(int device) {
  int major = 0, minor = 0;
  CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
  CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device));
  return major == 9 && minor == 0;
}

/// For TMA: a column-major rows × cols matrix in boxes of box_rows × box_cols, whose columns in shared memory are the 128
/// bytes that the swizzle permutes. Needs data and ld·size to be multiples of 16 bytes. Outside of the matrix a load gives
/// zeros and a store does nothing, but in whole 16 bytes: where rows·size is not a multiple of 16 either, a store also writes
/// what is behind the end of a column.
inline CUtensorMap tensor_map(CUtensorMapDataType type, std::size_t size, const void* data, std::int64_t rows,
                              std::int64_t cols, std::int64_t ld, unsigned box_rows, unsigned box_cols) {
  static const auto encode = [] {
    void* entry = nullptr;  // asked for at run time, so that nothing links with the driver
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  CUtensorMap map{};
  const cuuint64_t extent[2] = {cuuint64_t(rows), cuuint64_t(cols)}, stride[1] = {cuuint64_t(ld) * size};
  const cuuint32_t box[2] = {box_rows, box_cols}, step[2] = {1, 1};
  if (encode == nullptr ||
      encode(&map, type, 2, const_cast<void*>(data), extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    throw MachineError("CUDA: the driver did not describe a matrix for TMA");
  return map;
}

#ifdef LASOLVE_HOPPER

__device__ inline std::uint32_t shared_address(const void* p) { return std::uint32_t(__cvta_generic_to_shared(p)); }

// Barriers in shared memory, at 8-byte addresses. A phase ends when `count` arrivals and all announced bytes have come.
__device__ inline void barrier_init(std::uint32_t barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
/// After the inits, before a cluster's or a block's barrier that lets others use them.
__device__ inline void barrier_init_done() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
/// At the same barrier of block `rank` of the cluster.
__device__ inline void arrive_at(std::uint32_t barrier, unsigned rank) {
  asm volatile(
      "{\n.reg .b32 remote;\nmapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
__device__ inline void arrive_expecting(std::uint32_t barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
/// Until the phase of this parity has ended; of a fresh barrier, the phase before the first, of parity 1, has.
__device__ inline void wait(std::uint32_t barrier, unsigned parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "again%=;\n}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

/// Whether it has, without waiting.
__device__ inline bool has_ended(std::uint32_t barrier, unsigned parity) {
  unsigned ended;
  asm volatile(
      "{\n.reg .pred ended;\nmbarrier.test_wait.parity.shared::cta.b64 ended, [%1], %2;\nselp.u32 %0, 1, 0, ended;\n}"
      : "=r"(ended)
      : "r"(barrier), "r"(parity)
      : "memory");
  return ended;
}

// Copies. What ordinary stores wrote to shared memory needs fence_async() by the writers before TMA or wgmma reads it.
__device__ inline void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// For data that is used once: it leaves the L2 cache first.
__device__ inline std::uint64_t evict_first() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// For data that is used again: it leaves the L2 cache last.
__device__ inline std::uint64_t evict_last() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
__device__ inline void load_box(std::uint32_t to, const CUtensorMap& map, int row, int col, std::uint32_t barrier,
                                std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, "
      "%3}], "
      "[%4], %5;" ::"r"(to),
      "l"(&map), "r"(row), "r"(col), "r"(barrier), "l"(policy)
      : "memory");
}
/// To the same place in all blocks of the cluster that `mask` names, and counted at each one's barrier.
__device__ inline void load_box(std::uint32_t to, const CUtensorMap& map, int row, int col, std::uint32_t barrier,
                                std::uint64_t policy, std::uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(to),
      "l"(&map), "r"(row), "r"(col), "r"(barrier), "h"(mask), "l"(policy)
      : "memory");
}
__device__ inline void store_box(const CUtensorMap& map, int row, int col, std::uint32_t from, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%0, {%1, %2}], [%3], %4;" ::"l"(&map),
      "r"(row), "r"(col), "r"(from), "l"(policy)
      : "memory");
}
/// Brings a box to the L2 cache only.
__device__ inline void prefetch_box(const CUtensorMap& map, int row, int col) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1, %2}];" ::"l"(&map), "r"(row), "r"(col) : "memory");
}
/// A multiple of 16 bytes that are contiguous on both sides.
__device__ inline void load_bytes(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier,
                                  std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory");
}
__device__ inline void load_bytes(std::uint32_t to, const void* from, unsigned bytes, std::uint32_t barrier,
                                  std::uint64_t policy, std::uint16_t mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1], "
      "%2, [%3], %4, %5;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier), "h"(mask), "l"(policy)
      : "memory");
}
/// A thread's own copies of 4 bytes of any alignment, and their arrival at a barrier that counts this thread once.
__device__ inline void load_element(std::uint32_t to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void load_16_bytes(std::uint32_t to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ inline void arrive_when_loaded(std::uint32_t barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void stores_issued() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until at most `pending` groups of stores have not yet read their shared memory.
template <int pending>
__device__ void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
/// Until the stores are done.
__device__ inline void wait_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }

// Clusters, and kernels that start before the one in front of them in the stream has ended.
__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// The kernel behind this one may start: it waits for the memory of this one by await_previous_kernel().
__device__ inline void let_next_kernel_start() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
__device__ inline void await_previous_kernel() { asm volatile("griddepcontrol.wait;" ::: "memory"); }

// Products. Registers of the accumulator must not be touched between wgmma_begin() and the wait_wgmma that ends it.
__device__ inline void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_issued() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ void wait_wgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
/// An operand in shared memory whose rows are 128 or 64 bytes, swizzled by TMA's pattern of as many bytes, eight rows every
/// `stride` bytes. `leading` matters only for operands that are not K-major.
__device__ inline std::uint64_t operand_descriptor(std::uint32_t address, unsigned row_bytes, unsigned stride,
                                                   unsigned leading = 16) {
  const std::uint64_t swizzle = row_bytes == 128 ? 1 : 2;
  return std::uint64_t((address & 0x3FFFF) >> 4) | std::uint64_t(leading >> 4) << 16 |
         std::uint64_t(stride >> 4) << 32 | swizzle << 62;
}
template <int registers>
__device__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

#endif  // LASOLVE_HOPPER

}  // namespace lasolve

// The first registers of an accumulator, as text in an instruction and as its operands.
#define LASOLVE_REGISTERS_64                                                         \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"             \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31" \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LASOLVE_REGISTERS_96                                                         \
  LASOLVE_REGISTERS_64                                                               \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LASOLVE_REGISTERS_128                                                                    \
  LASOLVE_REGISTERS_96                                                                           \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LASOLVE_OPERANDS_8(d, i)                                                                          \
  "+f"((d)[i]), "+f"((d)[i + 1]), "+f"((d)[i + 2]), "+f"((d)[i + 3]), "+f"((d)[i + 4]), "+f"((d)[i + 5]), \
      "+f"((d)[i + 6]), "+f"((d)[i + 7])
#define LASOLVE_OPERANDS_32(d, i) \
  LASOLVE_OPERANDS_8(d, i), LASOLVE_OPERANDS_8(d, i + 8), LASOLVE_OPERANDS_8(d, i + 16), LASOLVE_OPERANDS_8(d, i + 24)
#define LASOLVE_OPERANDS_64(d) LASOLVE_OPERANDS_32(d, 0), LASOLVE_OPERANDS_32(d, 32)
#define LASOLVE_OPERANDS_96(d) LASOLVE_OPERANDS_64(d), LASOLVE_OPERANDS_32(d, 64)
#define LASOLVE_OPERANDS_128(d) LASOLVE_OPERANDS_96(d), LASOLVE_OPERANDS_32(d, 96)
