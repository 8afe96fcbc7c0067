#include "solvers/devices/cpu/levels/extra.hpp"

namespace lasolve::LASOLVE_LEVEL {

namespace {

/// hi + lo ← hi + lo − a (x + tail).
inline void subtract_one(double a, double x, double tail, double& hi, double& lo) {
  const double product = -a * x, rest_of_product = __builtin_fma(-a, x, -product);
  const double sum = hi + product, part = sum - hi, rest_of_sum = (hi - (sum - part)) + (product - part);
  hi = sum;
  lo += rest_of_sum + __builtin_fma(-a, tail, rest_of_product);
}
inline void subtract_one(float a, float x, float tail, double& hi, double&) {
  hi -= double(a) * x;
  hi -= double(a) * tail;
}

template <class T>
void subtract_product(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, const T* tail,
                      double* hi, double* lo) {
  for (std::int64_t j = 0; j < n; ++j, A += ld) {
    const T xj = x[j], tj = tail[j];
#pragma GCC ivdep
    for (std::int64_t i = 0; i < m; ++i) subtract_one(A[i], xj, tj, hi[i], lo[i]);
  }
}

template <class T>
void subtract_transposed(std::int64_t m, std::int64_t n, const T* A, std::int64_t ld, const T* x, const T* tail,
                         double* hi, double* lo) {
  constexpr int lanes = 32;  // sums of every 32nd product, so that these are computed side by side
  for (std::int64_t j = 0; j < n; ++j, A += ld) {
    double sums[lanes] = {}, rests[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= m; i += lanes)
#pragma GCC ivdep
      for (int l = 0; l < lanes; ++l) subtract_one(A[i + l], x[i + l], tail[i + l], sums[l], rests[l]);
    for (; i < m; ++i) subtract_one(A[i], x[i], tail[i], hi[j], lo[j]);
    for (int l = 0; l < lanes; ++l) {
      subtract_one(-1.0, sums[l], 0.0, hi[j], lo[j]);
      lo[j] += rests[l];
    }
  }
}

}  // namespace

extern const ExtraProductsOfEach extra_products;
#define LASOLVE_TABLE(T) {subtract_product<T>, subtract_transposed<T>},
const ExtraProductsOfEach extra_products{LASOLVE_ELEMENTS(LASOLVE_TABLE)};
#undef LASOLVE_TABLE

}  // namespace lasolve::LASOLVE_LEVEL
