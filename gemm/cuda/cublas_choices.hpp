// cublas: which products in fp32, beside work that is waited for sooner, are not as cuBLAS chooses. No CUDA is needed to read it.
#pragma once

#include "core/tuning.hpp"

namespace lasolve {

LASOLVE_THRESHOLD(cublas_narrow_least, 256, "elements",
                  "the least rows, columns and k of a narrow product whose kernel is chosen by hand");
LASOLVE_THRESHOLD(cublas_narrow_most, 512, "columns", "the most of one");
LASOLVE_THRESHOLD(cublas_narrow_work, 200'000'000, "multiplications", "the least of one", 0);
LASOLVE_THRESHOLD(cublas_split_k_work, 1'200'000'000, "multiplications", "the least where cublas splits k, not we", 0);
LASOLVE_THRESHOLD(cublas_split_k_rows, 1024, "rows", "the least where it does");
LASOLVE_THRESHOLD(cublas_split_k_depth, 512, "k", "the least where it does");

/// How C ← α·A·Bᵀ + β·C with few columns is computed.
enum class NarrowProduct { as_it_chooses, in_parts, with_split_k };
inline NarrowProduct narrow_product_for(const Tuning& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  const double work = double(m) * double(n) * double(k);
  const std::int64_t least = t[cublas_narrow_least];
  const bool narrow = n % 128 == 0 && n >= least && n <= t[cublas_narrow_most] && m >= least && k >= least;
  if (!narrow || work < double(t[cublas_narrow_work])) return NarrowProduct::as_it_chooses;
  if (work < double(t[cublas_split_k_work])) return NarrowProduct::in_parts;
  return m >= t[cublas_split_k_rows] && k >= t[cublas_split_k_depth] ? NarrowProduct::with_split_k
                                                                     : NarrowProduct::as_it_chooses;
}

LASOLVE_THRESHOLD(cublas_transpose_rows, 4096, "rows", "the least of a product in fp32 whose B is transposed first");
LASOLVE_THRESHOLD(cublas_transpose_columns, 1024, "columns", "the least of one");
LASOLVE_THRESHOLD(cublas_transpose_depth, 512, "k", "the least of one");
LASOLVE_THRESHOLD(cublas_transpose_depth_most, 8192, "k", "the most of one");

/// Whether C ← α·A·B + β·C is worth a transposed copy of B.
inline bool turns_B(const Tuning& t, std::int64_t m, std::int64_t n, std::int64_t k) {
  return m >= t[cublas_transpose_rows] && n >= t[cublas_transpose_columns] && k >= t[cublas_transpose_depth] &&
         k <= t[cublas_transpose_depth_most];
}

inline constexpr const Threshold* cublas_thresholds[] = {
    &cublas_narrow_least,    &cublas_narrow_most,         &cublas_narrow_work,    &cublas_split_k_work,
    &cublas_split_k_rows,    &cublas_split_k_depth,       &cublas_transpose_rows, &cublas_transpose_columns,
    &cublas_transpose_depth, &cublas_transpose_depth_most};

}  // namespace lasolve
