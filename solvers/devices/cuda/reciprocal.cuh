// Reciprocals, and those of roots, without a branch: an approximation of the hardware and a step or two of Newton's.
#pragma once

namespace lasolve {

/// 1/x to about 20 bits, or more.
__device__ inline double rough_reciprocal(double x) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  return r;
}
__device__ inline float rough_reciprocal(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

/// 1/x to the last bit or two, for x whose reciprocal is normal.
__device__ inline double fast_reciprocal(double x) {
  const double y = rough_reciprocal(x), e = fma(-x, y, 1.0);
  return fma(y, fma(e, e, e), y);
}
__device__ inline float fast_reciprocal(float x) { return rough_reciprocal(x); }

/// 1/√x, for x that is zero or a normal number.
__device__ inline double reciprocal_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double error = fma(-x * r, r, 1.0);
  return fma(r * error, fma(0.375, error, 0.5), r);
}
__device__ inline float reciprocal_root(float x) {
  float r;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return fmaf(0.5f * r, fmaf(-x * r, r, 1.0f), r);
}
__device__ inline double smallest_normal(double) { return 0x1p-1022; }
__device__ inline float smallest_normal(float) { return 0x1p-126f; }

/// 1/√x, for subnormal x too.
template <class T>
__device__ T reciprocal_root_of_any(T x) {
  constexpr T lift = sizeof(T) == 8 ? 0x1p100 : 0x1p30;
  const bool small = x < smallest_normal(x);
  return reciprocal_root(small ? x * lift * lift : x) * (small ? lift : T(1));
}

}  // namespace lasolve
