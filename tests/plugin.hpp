// Kernels that do a part of the GEMM contract, as their records declare it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "lasolve/kernel.h"

namespace lasolve::test {

/// What is wrong with a call by what the kernel declares; empty: nothing.
inline std::string breach(const lasolve_kernel& k, lasolve_op op_a, lasolve_op op_b, lasolve_int m, lasolve_int n,
                          lasolve_int steps, lasolve_int lda, lasolve_int ldb, lasolve_int ldc) {
  const bool rows = k.limits & LASOLVE_KERNEL_ROW_MAJOR, a = op_a == LASOLVE_TRANSPOSE, b = op_b == LASOLVE_TRANSPOSE;
  const lasolve_int along_a = rows != a ? steps : m, along_b = rows != b ? n : steps, along_c = rows ? n : m;
  if (m < 1 || n < 1 || steps < 1) return "a size is 0";
  if (lda < along_a || ldb < along_b || ldc < along_c) return "a leading dimension is too small";
  if ((k.limits & LASOLVE_KERNEL_NO_TRANSPOSES) && (a || b)) return "an operand is transposed";
  if ((k.limits & LASOLVE_KERNEL_NO_GAPS) && (lda != along_a || ldb != along_b || ldc != along_c)) return "gaps";
  if (k.limits & LASOLVE_KERNEL_INT_INDICES)
    for (const lasolve_int end : {lda * (m + steps - along_a), ldb * (steps + n - along_b), ldc * (m + n - along_c)})
      if (end > 0x7fffffff) return "an index beyond 31 bits";
  if (m % k.m_multiple || n % k.n_multiple || steps % k.k_multiple) return "a size that is no multiple";
  if ((k.limits & LASOLVE_KERNEL_SQUARE) && (m != n || m != steps)) return "matrices that are not square";
  const auto too_large = [](lasolve_int size, lasolve_int largest) { return largest != 0 && size > largest; };
  if (too_large(m, k.m_largest) || too_large(n, k.n_largest) || too_large(steps, k.k_largest))
    return "a size too large";
  return "";
}

/// Of the beginning of each column (row-major: row) of A, B or C.
inline std::string breach_of_alignment(const lasolve_kernel& k, const void* X, lasolve_int ld, std::size_t element) {
  if (k.alignment == 0) return "";
  if (reinterpret_cast<std::uintptr_t>(X) % std::uintptr_t(k.alignment) != 0) return "an operand that is not aligned";
  const bool packed = k.limits & LASOLVE_KERNEL_NO_GAPS;
  return packed || ld * lasolve_int(element) % k.alignment == 0 ? "" : "columns that are not aligned";
}

/// The record of a kernel that declares so much.
inline lasolve_kernel strict_kernel(lasolve_memory memory, lasolve_dgemm f64, lasolve_sgemm f32, unsigned limits,
                                    lasolve_int m, lasolve_int n, lasolve_int k) {
  lasolve_kernel kernel = LASOLVE_KERNEL_INIT;
  kernel.memory = memory;
  kernel.name = "strict", kernel.summary = "";
  kernel.f64 = f64, kernel.f32 = f32;
  kernel.limits = limits;
  kernel.m_multiple = m, kernel.n_multiple = n, kernel.k_multiple = k;
  return kernel;
}

/// What a kernel declares, in which numbers of rows or columns, or steps, are multiples.
struct Restriction {
  unsigned limits;
  bool multiples;
  lasolve_int largest = 0, alignment = 0;
};
inline std::string name_of_restriction(const testing::TestParamInfo<Restriction>& info) {
  const unsigned limits = info.param.limits;
  std::string name = limits & LASOLVE_KERNEL_ASSIGNS ? "assigns" : limits & LASOLVE_KERNEL_ADDS ? "adds" : "scales";
  if (limits & LASOLVE_KERNEL_ROW_MAJOR) name += "_row_major";
  if (limits & LASOLVE_KERNEL_NO_TRANSPOSES) name += "_no_transposes";
  if (limits & LASOLVE_KERNEL_NO_GAPS) name += "_no_gaps";
  if (limits & LASOLVE_KERNEL_INT_INDICES) name += "_int_indices";
  if (limits & LASOLVE_KERNEL_ONE_CALL) name += "_one_call";
  if (limits & LASOLVE_KERNEL_SQUARE) name += "_square";
  if (info.param.largest) name += "_up_to_" + std::to_string(info.param.largest);
  if (info.param.alignment) name += "_aligned_to_" + std::to_string(info.param.alignment);
  return name + (info.param.multiples ? "_multiples" : "");
}

}  // namespace lasolve::test
