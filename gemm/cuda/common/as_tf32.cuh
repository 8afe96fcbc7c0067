// Rounding to tf32, which the tensor cores do not do: they cut off the last 13 bits.
#pragma once

namespace lasolve {

/// x in the upper 19 bits, to nearest; ties to even where there is an instruction for it. The upper bits of a NaN may be those
/// of an infinity.
__device__ inline float as_tf32(float x) {
  unsigned bits;
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#else
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
  return __uint_as_float(isnan(x) ? 0x7fc00000 : bits);
}

}  // namespace lasolve
