// Products of a warpgroup with operands of 16 bits in shared memory.
// Source   NVIDIA, PTX ISA: wgmma.mma_async
#pragma once

#include "gemm/cuda/hopper.cuh"
#include "lasolve/precision.hpp"

#ifdef LASOLVE_HOPPER

namespace lasolve::sm90 {

#define LASOLVE_64_BY_128(type)                                                                                  \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32." type \
               "." type " {" LASOLVE_REGISTERS_64 "}, %64, %65, add, 1, 1, %67, %68;\n}"                         \
               : LASOLVE_OPERANDS_64(sums)                                                                       \
               : "l"(A), "l"(B), "r"(int(add)), "n"(!a_k_major), "n"(!b_k_major))
#define LASOLVE_64_BY_256(type)                                                                                   \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32." type \
               "." type " {" LASOLVE_REGISTERS_128 "}, %128, %129, add, 1, 1, %131, %132;\n}"                     \
               : LASOLVE_OPERANDS_128(sums)                                                                       \
               : "l"(A), "l"(B), "r"(int(add)), "n"(!a_k_major), "n"(!b_k_major))

/// sums ← A·B, or sums += A·B where `add`, of a warpgroup. A: (64, 16), B: (16, N), sums: (64, N), of which a thread holds
/// element (16·warp + lane/4 + 8·h, 8·i + 2·(lane%4) + e) in sums[4·i + 2·h + e].
template <class Half, bool a_k_major, bool b_k_major>
__device__ void multiply(float (&sums)[64], std::uint64_t A, std::uint64_t B, bool add) {
  if constexpr (std::is_same_v<Half, fp16>)
    LASOLVE_64_BY_128("f16");
  else
    LASOLVE_64_BY_128("bf16");
}
template <class Half, bool a_k_major, bool b_k_major>
__device__ void multiply(float (&sums)[128], std::uint64_t A, std::uint64_t B, bool add) {
  if constexpr (std::is_same_v<Half, fp16>)
    LASOLVE_64_BY_256("f16");
  else
    LASOLVE_64_BY_256("bf16");
}

#undef LASOLVE_64_BY_128
#undef LASOLVE_64_BY_256

}  // namespace lasolve::sm90

#endif  // LASOLVE_HOPPER
