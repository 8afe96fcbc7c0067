// Products of small fp64 tiles in the registers of a warp.
#pragma once

namespace lasolve {

/// D = A B + C, in tensor cores where there are any. A: 16 × 8, B: 8 × 8, C and D: 16 × 8. With g = lane / 4 and
/// t = lane % 4, a lane has A(g, t), A(g + 8, t), A(g, t + 4), A(g + 8, t + 4); B(t, g), B(t + 4, g);
/// and C(g, 2t), C(g, 2t + 1), C(g + 8, 2t), C(g + 8, 2t + 1). D may be C. What is written first is computed first.
__device__ inline void multiply_tile(double (&d)[4], const double (&a)[4], const double (&b)[2], const double (&c)[4]) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
      : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]), "d"(c[0]), "d"(c[1]), "d"(c[2]), "d"(c[3]));
#elif __CUDA_ARCH__ >= 800
  const auto quarter = [](double& d0, double& d1, double a, double b, double c0, double c1) {
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=d"(d0), "=d"(d1)
                 : "d"(a), "d"(b), "d"(c0), "d"(c1));
  };
  quarter(d[0], d[1], a[0], b[0], c[0], c[1]);
  quarter(d[2], d[3], a[1], b[0], c[2], c[3]);
  quarter(d[0], d[1], a[2], b[1], d[0], d[1]);
  quarter(d[2], d[3], a[3], b[1], d[2], d[3]);
#else
  const int lane = threadIdx.x % 32, row = lane / 4 * 4, column = lane % 4 * 8;
  double sum[4] = {c[0], c[1], c[2], c[3]};
  for (int half = 0; half < 2; ++half)
    for (int k = 0; k < 4; ++k) {
      const double left = __shfl_sync(~0u, a[2 * half], row + k), right = __shfl_sync(~0u, b[half], column + k);
      const double low = __shfl_sync(~0u, a[2 * half + 1], row + k);
      const double next = __shfl_sync(~0u, b[half], column + 4 + k);
      sum[0] += left * right, sum[1] += left * next, sum[2] += low * right, sum[3] += low * next;
    }
  for (int i = 0; i < 4; ++i) d[i] = sum[i];
#endif
}

}  // namespace lasolve
