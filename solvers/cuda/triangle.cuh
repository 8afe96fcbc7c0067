// Leaves of the triangular solves on CUDA: cuBLAS's trsm.
#pragma once

#include <limits>

#include "core/by_type.hpp"
#include "core/cuda/check.hpp"
#include "solvers/trsm.hpp"

namespace lasolve {

/// With few right-hand sides the triangle is read once from memory, whatever its order: halving would gain nothing.
inline std::int64_t leaf_order(const Queue<Cuda>&, std::int64_t nrhs) {
  return nrhs < 32 ? std::numeric_limits<std::int64_t>::max() : 128;
}

template <class T>
void cublas_trsm(Queue<Cuda>& q, cublasSideMode_t side, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  if (B.empty()) return;
  const auto trsm = by_type<T>(cublasDtrsm_64, cublasStrsm_64);
  const bool as_stored = tri.values.op() == Op::none;
  const T one = 1;
  CUDA_CHECK(trsm(q.blas(), side, tri.lower == as_stored ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER,
                  as_stored ? CUBLAS_OP_N : CUBLAS_OP_T, tri.unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT, B.rows(),
                  B.cols(), &one, tri.values.data(), tri.values.ld(), B.data(), B.ld()));
}

/// B ← inv(T) B. T: n × n, B: n × nrhs.
template <class T>
void solve_leaf(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  cublas_trsm(q, CUBLAS_SIDE_LEFT, tri, B);
}

/// B ← B inv(T). T: n × n, B: m × n.
template <class T>
void solve_leaf_right(Queue<Cuda>& q, Triangle<T, Cuda> tri, MatrixView<T, Cuda> B) {
  cublas_trsm(q, CUBLAS_SIDE_RIGHT, tri, B);
}

}  // namespace lasolve
