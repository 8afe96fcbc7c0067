// cuBLAS's products, in our terms.
#pragma once

#include <algorithm>

#include "core/by_type.hpp"
#include "core/cuda/check.hpp"
#include "core/symmetric.hpp"
#include "core/tuning.hpp"

namespace lasolve {

inline cublasOperation_t cublas_op(Op op) { return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

/// C ← α·A·B + β·C. For an odd number of rows in fp64 cuBLAS takes a slower kernel, 40 TFLOP/s instead
/// of 55 (m = n = 16384, k = 1024): so the last row of a large product is one of its own.
template <class T>
void cublas_gemm(Queue<Cuda>& q, T alpha, Operand<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  const std::int64_t m = C.rows(), n = C.cols(), k = A.cols(), even = m - m % 2;
  if (std::is_same_v<T, double> && cuts_off_last_row(q.tuning(), m, n, k)) {
    cublas_gemm(q, alpha, A.block(0, 0, even, k), B, beta, C.block(0, 0, even, n));
    return cublas_gemm(q, alpha, A.block(even, 0, 1, k), B, beta, C.block(even, 0, 1, n));
  }
  const auto gemm = by_type<T>(cublasDgemm_64, cublasSgemm_64);
  const auto ld = [](const auto& x) { return std::max<std::int64_t>(x.ld(), 1); };
  CUDA_CHECK(gemm(q.blas(), cublas_op(A.op()), cublas_op(B.op()), m, n, k, &alpha, A.data(), ld(A), B.data(), ld(B),
                  &beta, C.data(), ld(C)));
}

/// C ← α·A·B + β·C with a symmetric A.
template <class T>
void cublas_gemm(Queue<Cuda>& q, T alpha, Symmetric<T, Cuda> A, Operand<T, Cuda> B, T beta, MatrixView<T, Cuda> C) {
  const auto symm = by_type<T>(cublasDsymm_64, cublasSsymm_64);
  const auto triangle = A.half.op() == Op::none ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
  CUDA_CHECK(symm(q.blas(), CUBLAS_SIDE_LEFT, triangle, C.rows(), C.cols(), &alpha, A.half.data(), A.half.ld(),
                  B.data(), B.ld(), &beta, C.data(), C.ld()));
}

}  // namespace lasolve
