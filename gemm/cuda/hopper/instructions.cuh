// What a kernel for Hopper is made of, beside barriers: boxes that the copy engine (TMA) brings and takes, and products
// of a warpgroup (wgmma). Thin names for PTX instructions. What is in shared memory is named by its address there.
// Source   NVIDIA, PTX ISA: cp.async.bulk, wgmma
#pragma once

#include <cuda.h>

#include "core/cuda/check.hpp"
#include "core/cuda/shared_memory.cuh"
#include "core/device_properties.hpp"
#include "lasolve/precision.hpp"

// Only a pass for compute capability 9.0 with its own instructions (sm_90a) can assemble these: a kernel's body stands under
// this condition, and its launcher asks require_hopper().
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define LASOLVE_HOPPER 1
#endif

namespace lasolve::hopper {

/// Why these kernels cannot run on a device; empty: they can.
inline std::string why_not(int device) {
  const DeviceProperties& has = device_properties(device);
  if (has.runs_code_for_90a) return "";
  return has.capability == 90
             ? "its kernels need 90a in LASOLVE_CUDA_ARCHITECTURES, for device " + std::to_string(device)
             : "its kernels are for compute capability 9.0 (Hopper), which this device does not have";
}

/// Throws MachineError where they cannot.
inline void require_hopper(int device) {
  if (const std::string why = why_not(device); !why.empty())
    throw MachineError("CUDA: this backend cannot run: " + why);
}

// Matrices in global memory, as the copy engine sees them.

/// What it can reach: the address and the bytes of ld are multiples of 16, and those of ld have 40 bits.
template <class T>
__host__ __device__ bool reachable(const T* data, std::int64_t ld) {
  const std::int64_t most = std::int64_t(1) << 40;
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && ld * std::int64_t(sizeof(T)) % 16 == 0 &&
         ld < most / std::int64_t(sizeof(T));
}

template <class T>
constexpr auto map_type = std::is_same_v<T, fp16>    ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                          : std::is_same_v<T, bf16>  ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                          : std::is_same_v<T, float> ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32
                                                     : CU_TENSOR_MAP_DATA_TYPE_FLOAT64;

/// A matrix of fp16, bf16, float or double, rows × cols, column-major and reachable, in boxes of box_rows × box_cols.
/// Columns of a box are the 128 bytes in shared memory that the swizzle permutes. `fetch`: what L2 reads from memory at
/// once. Loads of `type` TFLOAT32 round floats to tf32, to nearest, ties to even; NaN and infinities stay.
template <class T>
CUtensorMap tensor_map(const T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld, unsigned box_rows,
                       unsigned box_cols, CUtensorMapL2promotion fetch, CUtensorMapDataType type = map_type<T>) {
  static const auto encode = [] {
    void* entry = nullptr;  // asked for at run time, so that nothing links with the driver
    cudaDriverEntryPointQueryResult found{};
    CUDA_CHECK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
    if (found != cudaDriverEntryPointSuccess) throw MachineError("CUDA: the driver does not know tensor maps");
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  CUtensorMap map{};
  const cuuint64_t extent[] = {cuuint64_t(rows), cuuint64_t(cols)}, stride[] = {cuuint64_t(ld) * sizeof(T)};
  const cuuint32_t box[] = {box_rows, box_cols}, step[] = {1, 1};
  const CUresult result =
      encode(&map, type, 2, const_cast<T*>(data), extent, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, fetch, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) throw MachineError("CUDA: a tensor map was refused (" + std::to_string(result) + ")");
  return map;
}

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

// Copies.

/// Data leaves the L2 cache last, because it is used again.
__device__ inline std::uint64_t evict_last() {
  std::uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}
/// Brings the box of a matrix at (i, j), i the contiguous index, to shared memory; what is outside of the matrix is 0.
__device__ inline void load_box(unsigned to, const CUtensorMap& from, int i, int j, Barrier& arrived) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(&arrived))
      : "memory");
}
__device__ inline void load_box(unsigned to, const CUtensorMap& from, int i, int j, Barrier& arrived,
                                std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(&arrived)), "l"(policy)
      : "memory");
}
/// The same to each block of the cluster whose bit is set, at the same address, and to its barrier there.
__device__ inline void load_box(unsigned to, const CUtensorMap& from, int i, int j, Barrier& arrived,
                                std::uint64_t policy, unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;" ::"r"(to),
      "l"(&from), "r"(i), "r"(j), "r"(shared_address(&arrived)), "h"(blocks), "l"(policy)
      : "memory");
}
/// Takes a box from shared memory to the matrix. What is outside of the matrix is dropped, but for the rest of 16 bytes
/// of which a part is inside. Then commit_stores().
__device__ inline void store_box(const CUtensorMap& to, int i, int j, unsigned from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&to), "r"(i),
               "r"(j), "r"(from)
               : "memory");
}
/// Brings what is contiguous on both sides, a multiple of 16 bytes.
__device__ inline void load_bytes(unsigned to, const void* from, unsigned bytes, Barrier& arrived,
                                  std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(shared_address(&arrived)), "l"(policy)
      : "memory");
}
/// The same to each block of the cluster whose bit is set, at the same address, and to its barrier there.
__device__ inline void load_bytes(unsigned to, const void* from, unsigned bytes, Barrier& arrived, std::uint64_t policy,
                                  unsigned short blocks) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
      "[%0], [%1], %2, [%3], %4, %5;" ::"r"(to),
      "l"(from), "r"(bytes), "r"(shared_address(&arrived)), "h"(blocks), "l"(policy)
      : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// Until the shared memory of all but the last `pending` commits of this thread has been read.
template <int pending>
__device__ void wait_until_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
__device__ inline void wait_for_stores() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
/// What this thread wrote to shared memory becomes visible to the copy engine.
__device__ inline void fence_for_copy_engine() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/// Where element (i, j) of a box of 32 × 32 floats is, in bytes: the 16-byte pieces of a column are exchanged by the bits of
/// j % 8.
constexpr int box_bytes = 32 * 32 * 4;
__device__ constexpr int in_box(int i, int j) { return 128 * j + (i / 4 ^ j % 8) * 16 + i % 4 * 4; }

/// Two neighbours in shared memory.
__device__ inline void load_pair(float& a, float& b, unsigned from) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "r"(from) : "memory");
}

__device__ inline void store_pair(unsigned to, float a, float b) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(a), "f"(b) : "memory");
}

/// How many registers a thread has from here on, where warpgroups share out those of a block: all warps of one keep so few,
/// or take so many.
template <int registers>
__device__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// Products.

/// An operand in shared memory whose rows are 128 bytes, swizzled by TMA's pattern of as many; 8 rows follow one another without
/// a gap. K-major: a row goes along k. Otherwise it goes along m or n, and `leading` bytes apart are those
/// of what follows along m or n.
__device__ inline std::uint64_t operand_descriptor(unsigned address, unsigned leading = 16) {
  constexpr std::uint64_t eight_rows = 8 * 128, swizzle_128 = 1;
  return (address >> 4 & 0x3fff) | std::uint64_t(leading) >> 4 << 16 | eight_rows >> 4 << 32 | swizzle_128 << 62;
}

/// Around products: what they add to must not be touched before they are waited for.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit_products() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// Until all but the last `pending` commits are done.
template <int pending>
__device__ void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// The first registers of a thread's sums: as text in the instruction, and as its operands.
#define LASOLVE_TEXT_64                                                              \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"             \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31" \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define LASOLVE_TEXT_96                                                              \
  LASOLVE_TEXT_64                                                                    \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define LASOLVE_TEXT_128                                                                         \
  LASOLVE_TEXT_96                                                                                \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define LASOLVE_SUMS_8(i)                                                                                       \
  "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3]), "+f"(sums[i + 4]), "+f"(sums[i + 5]), \
      "+f"(sums[i + 6]), "+f"(sums[i + 7])
#define LASOLVE_SUMS_32(i) LASOLVE_SUMS_8(i), LASOLVE_SUMS_8(i + 8), LASOLVE_SUMS_8(i + 16), LASOLVE_SUMS_8(i + 24)
#define LASOLVE_SUMS_64 LASOLVE_SUMS_32(0), LASOLVE_SUMS_32(32)
#define LASOLVE_SUMS_96 LASOLVE_SUMS_64, LASOLVE_SUMS_32(64)
#define LASOLVE_SUMS_128 LASOLVE_SUMS_96, LASOLVE_SUMS_32(96)
// a, b, c: the numbers of the operands A, B and add, behind `registers` sums.
#define LASOLVE_PRODUCT(shape_and_types, registers, a, b, c, transposes, ...)                                       \
  asm volatile("{ .reg .pred add;\n  setp.ne.b32 add, %" #c ", 0;\n  wgmma.mma_async.sync.aligned." shape_and_types \
               " {" LASOLVE_TEXT_##registers "}, %" #a ", %" #b ", add, 1, 1" transposes "; }"                      \
               : LASOLVE_SUMS_##registers                                                                           \
               : "l"(A), "l"(B), "r"(add)__VA_OPT__(, ) __VA_ARGS__)

/// sums ← A·B, or sums += A·B where `add`, of a warpgroup. A: (64, K), B: (K, N), K in 32 bytes, sums: (64, N), of which a
/// thread holds element (16·warp + lane/4 + 8·h, 8·i + 2·(lane%4) + e) in sums[4·i + 2·h + e]. Floats are multiplied as tf32,
/// which cuts off their last 13 bits, and only K-major.
template <class T, bool a_k_major = true, bool b_k_major = true>
__device__ void multiply(float (&sums)[64], std::uint64_t A, std::uint64_t B, int add) {
  if constexpr (std::is_same_v<T, float>)
    LASOLVE_PRODUCT("m64n128k8.f32.tf32.tf32", 64, 64, 65, 66, "");
  else if constexpr (std::is_same_v<T, fp16>)
    LASOLVE_PRODUCT("m64n128k16.f32.f16.f16", 64, 64, 65, 66, ", %67, %68", "n"(!a_k_major), "n"(!b_k_major));
  else
    LASOLVE_PRODUCT("m64n128k16.f32.bf16.bf16", 64, 64, 65, 66, ", %67, %68", "n"(!a_k_major), "n"(!b_k_major));
}
template <class T, bool a_k_major = true, bool b_k_major = true>
__device__ void multiply(float (&sums)[96], std::uint64_t A, std::uint64_t B, int add) {
  static_assert(std::is_same_v<T, float>);
  LASOLVE_PRODUCT("m64n192k8.f32.tf32.tf32", 96, 96, 97, 98, "");
}
template <class T, bool a_k_major = true, bool b_k_major = true>
__device__ void multiply(float (&sums)[128], std::uint64_t A, std::uint64_t B, int add) {
  if constexpr (std::is_same_v<T, float>)
    LASOLVE_PRODUCT("m64n256k8.f32.tf32.tf32", 128, 128, 129, 130, "");
  else if constexpr (std::is_same_v<T, fp16>)
    LASOLVE_PRODUCT("m64n256k16.f32.f16.f16", 128, 128, 129, 130, ", %131, %132", "n"(!a_k_major), "n"(!b_k_major));
  else
    LASOLVE_PRODUCT("m64n256k16.f32.bf16.bf16", 128, 128, 129, 130, ", %131, %132", "n"(!a_k_major), "n"(!b_k_major));
}
/// The same with A in registers: of (64, 8), a thread holds element (16·warp + lane/4 + 8·h, lane%4 + 4·e) in A[2·e + h], which
/// must not be touched before the product has been waited for, either.
#define LASOLVE_PRODUCT_OF_REGISTERS(shape_and_types, registers, a0, a1, a2, a3, b, c)                              \
  asm volatile("{ .reg .pred add;\n  setp.ne.b32 add, %" #c ", 0;\n  wgmma.mma_async.sync.aligned." shape_and_types \
               " {" LASOLVE_TEXT_##registers "}, {%" #a0 ", %" #a1 ", %" #a2 ", %" #a3 "}, %" #b ", add, 1, 1; }"   \
               : LASOLVE_SUMS_##registers                                                                           \
               : "r"(__float_as_uint(A[0])), "r"(__float_as_uint(A[1])), "r"(__float_as_uint(A[2])),                \
                 "r"(__float_as_uint(A[3])), "l"(B), "r"(add))
__device__ inline void multiply(float (&sums)[64], const float (&A)[4], std::uint64_t B, int add) {
  LASOLVE_PRODUCT_OF_REGISTERS("m64n128k8.f32.tf32.tf32", 64, 64, 65, 66, 67, 68, 69);
}
__device__ inline void multiply(float (&sums)[128], const float (&A)[4], std::uint64_t B, int add) {
  LASOLVE_PRODUCT_OF_REGISTERS("m64n256k8.f32.tf32.tf32", 128, 128, 129, 130, 131, 132, 133);
}
#undef LASOLVE_TEXT_64
#undef LASOLVE_TEXT_96
#undef LASOLVE_TEXT_128
#undef LASOLVE_SUMS_8
#undef LASOLVE_SUMS_32
#undef LASOLVE_SUMS_64
#undef LASOLVE_SUMS_96
#undef LASOLVE_SUMS_128
#undef LASOLVE_PRODUCT
#undef LASOLVE_PRODUCT_OF_REGISTERS

}  // namespace lasolve::hopper
