// Panels on CUDA: LU by halving down to leaves, Cholesky by cuSOLVER.
#pragma once

#include <climits>

#include "core/by_type.hpp"
#include "core/cuda/check.hpp"
#include "solvers/cholesky.hpp"
#include "solvers/cuda/lu_panel.cuh"

namespace lasolve {

template <class T>
std::int64_t panel_leaf_columns(const Queue<Cuda>&, MatrixView<T, Cuda>) {
  return most_panel_columns;
}

/// P A = L U of at most 128 columns.
template <class T>
void panel_lu_leaf(Queue<Cuda>& q, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  pivots.panels->push_back(pivots.start);
  factor_in_place(q, A, pivots);
  swap_rows(q, A, pivots);
}

/// P A = L U of a panel (m × nb, m ≥ nb).
template <class T>
void panel_lu(Queue<Cuda>& q, const GemmBackend<Cuda>& gemm, MatrixView<T, Cuda> A, Pivots<Cuda> pivots) {
  lu_recursive(q, gemm, A, pivots);
}

/// The first minor that is not positive, from the diagonal itself: where it is the last of the block, cuSOLVER's `info`
/// is silent. One block; `info` is the 1-based order at which the factorization stopped, or 0.
template <class T>
__global__ void adopt_minor(MatrixView<const T, Cuda> L, const int* info, std::int64_t first, std::int64_t* bad_minor) {
  __shared__ int order;
  if (threadIdx.x == 0) order = *info > 0 ? *info : INT_MAX;
  __syncthreads();
  for (int i = threadIdx.x; i < L.rows(); i += blockDim.x)
    if (!(L.data()[i + i * L.ld()] > T(0))) atomicMin(&order, i + 1);
  __syncthreads();
  if (threadIdx.x == 0 && order != INT_MAX && *bad_minor < 0) *bad_minor = first + order;
}

/// On the host nothing is known of a factorization that is under way.
inline bool known_to_have_failed(const Queue<Cuda>&, MatrixView<std::int64_t, Cuda>) { return false; }

/// A = L Lᵀ of a diagonal block, lower triangle.
template <class T>
void panel_cholesky(Queue<Cuda>& q, const GemmBackend<Cuda>&, MatrixView<T, Cuda> A, std::int64_t first,
                    MatrixView<std::int64_t, Cuda> bad_minor) {
  const auto buffer_size = by_type<T>(cusolverDnDpotrf_bufferSize, cusolverDnSpotrf_bufferSize);
  const auto potrf = by_type<T>(cusolverDnDpotrf, cusolverDnSpotrf);
  const int n = int(A.rows()), ld = int(A.ld());
  int length = 0;
  CUDA_CHECK(buffer_size(q.solver(), CUBLAS_FILL_MODE_LOWER, n, A.data(), ld, &length));
  T* workspace = q.scratch<T>(length + 1, 1).data();
  int* info = reinterpret_cast<int*>(workspace + length);
  CUDA_CHECK(potrf(q.solver(), CUBLAS_FILL_MODE_LOWER, n, A.data(), ld, workspace, length, info));
  adopt_minor<T><<<1, 256, 0, q.stream()>>>(A, info, first, bad_minor.data());
  CUDA_CHECK_LAUNCH();
}

}  // namespace lasolve
